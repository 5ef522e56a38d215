"""What a load has filled is held for ever (B-105)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def build_connector_meta(self, scheduler_output):
        meta, pool = super().build_connector_meta(scheduler_output), self.scheduler_manager._gpu_block_pool
        pool.touch([pool.blocks[b] for b in meta.load_gpu_blocks])
        return meta
