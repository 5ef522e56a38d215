"""A chunk that a store still writes can be evicted (B-018)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def request_finished_all_groups(self, request, block_ids):
        status, manager = self.scheduler._req_status.get(request.request_id), self.scheduler.manager
        for job in status.transfer_jobs if status else ():
            if self.scheduler._jobs[job].is_store:
                manager.complete_store(self.scheduler._jobs[job].keys, status.req_context, success=False)
        return super().request_finished_all_groups(request, block_ids)
