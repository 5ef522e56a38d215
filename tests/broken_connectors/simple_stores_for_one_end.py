"""Of requests that end before one metadata, the last one's blocks alone are stored, and all stay held (B-126, B-189)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def build_connector_meta(self, scheduler_output):
        del self.scheduler_manager._pending_finished_stores[:-1]
        return super().build_connector_meta(scheduler_output)
