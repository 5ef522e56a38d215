"""What the end of a request leaves to be stored is not held until the metadata stores it (B-151)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def request_finished_all_groups(self, request, block_ids):
        manager, pool = self.scheduler_manager, self.scheduler_manager._gpu_block_pool
        before = len(manager._pending_finished_stores)
        answer = super().request_finished_all_groups(request, block_ids)
        for store in manager._pending_finished_stores[before:]:
            pool.free_blocks(pool.blocks[b] for b in store.gpu_block_ids)
        return answer

    def build_connector_meta(self, scheduler_output):
        for store in self.scheduler_manager._pending_finished_stores:
            pool = self.scheduler_manager._gpu_block_pool
            pool.touch([pool.blocks[b] for b in store.gpu_block_ids])
        return super().build_connector_meta(scheduler_output)
