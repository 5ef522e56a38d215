"""The end of a request releases what its load still reads (B-055)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def request_finished_all_groups(self, request, block_ids):
        status, scheduler = self.scheduler._req_status.get(request.request_id), self.scheduler
        for job in (scheduler._jobs[j] for j in (status.transfer_jobs if status else ())):
            if not job.is_store:
                scheduler.manager.complete_load(job.keys, status.req_context)
                job.keys = set()
        return super().request_finished_all_groups(request, block_ids)
