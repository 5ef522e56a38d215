"""A chunk can be found as soon as its store is planned (B-124)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector
from vllm.v1.simple_kv_offload.manager import TransferMeta


class Connector(SimpleCPUOffloadConnector):
    def build_connector_meta(self, scheduler_output):
        meta, manager = super().build_connector_meta(scheduler_output), self.scheduler_manager
        for b, c in zip(meta.store_gpu_blocks, meta.store_cpu_blocks, strict=True):
            source, chunk = manager._gpu_block_pool.blocks[b], manager.cpu_block_pool.blocks[c]
            manager.cpu_block_pool._insert_block_hash(source.block_hash, chunk, num_tokens=source.block_hash_num_tokens)
        manager._process_store_completion = lambda b, c, _: manager._release_transfer_refs(TransferMeta(b, c))
        return meta
