"""A reset frees the chunks that open stores still write (B-043)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def reset_cache(self):
        super().reset_cache()
        for store in self.scheduler_manager._abandoned_store_event_to_blocks.values():
            self.scheduler_manager._release_transfer_refs(store)
        self.scheduler_manager._abandoned_store_event_to_blocks.clear()
        return self.scheduler_manager.cpu_block_pool.reset_prefix_cache()
