"""A store that was open at a reset becomes ready after it (B-042 with a store in flight)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def reset_cache(self):
        manager = self.scheduler_manager
        super().reset_cache()
        manager._store_event_to_blocks.update(manager._abandoned_store_event_to_blocks)
        manager._abandoned_store_event_to_blocks.clear()
        return True
