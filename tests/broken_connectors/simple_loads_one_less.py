"""The last block of a load is never copied, and counts as loaded (B-146)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def build_connector_meta(self, scheduler_output):
        meta = super().build_connector_meta(scheduler_output)
        if len(meta.load_gpu_blocks) > 1:
            meta.load_gpu_blocks.pop()
            meta.load_cpu_blocks.pop()
        return meta
