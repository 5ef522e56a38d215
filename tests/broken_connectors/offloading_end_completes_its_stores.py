"""The end of a request counts its open stores as done (B-154)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def request_finished_all_groups(self, request, block_ids):
        status, scheduler = self.scheduler._req_status.get(request.request_id), self.scheduler
        for job in (scheduler._jobs[j] for j in (status.transfer_jobs if status else ())):
            if job.is_store:
                scheduler.manager.complete_store(job.keys, status.req_context)
        return super().request_finished_all_groups(request, block_ids)
