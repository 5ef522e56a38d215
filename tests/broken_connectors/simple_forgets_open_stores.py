"""What is being stored is remembered for one step (B-046; undoes vLLM PR 41289)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def build_connector_meta(self, scheduler_output):
        meta = super().build_connector_meta(scheduler_output)
        self.scheduler_manager._in_flight_store_gpu_blocks.clear()
        return meta
