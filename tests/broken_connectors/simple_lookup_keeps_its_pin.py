"""What a lookup pins stays pinned where the request ends before it is given blocks (B-181, B-188)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def request_finished_all_groups(self, request, block_ids):
        self.scheduler_manager._pending_cpu_hits.pop(request.request_id, None)
        return super().request_finished_all_groups(request, block_ids)
