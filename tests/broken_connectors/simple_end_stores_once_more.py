"""The end of a request stores what is being stored (B-046 at the finish)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def request_finished_all_groups(self, request, block_ids):
        manager = self.scheduler_manager
        if (state := manager._reqs_to_store.get(request.request_id)) is not None:
            state.num_stored_blocks = [0 for _ in state.num_stored_blocks]
        manager._in_flight_store_gpu_blocks.clear()
        return super().request_finished_all_groups(request, block_ids)
