"""Blocks and chunks of a store are paired in another order than they are found by (B-147)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def build_connector_meta(self, scheduler_output):
        meta = super().build_connector_meta(scheduler_output)
        meta.store_cpu_blocks = meta.store_cpu_blocks[::-1]
        return meta
