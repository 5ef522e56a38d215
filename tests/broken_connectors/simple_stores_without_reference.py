"""A store holds no reference on the blocks that it reads (B-092)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def build_connector_meta(self, scheduler_output):
        meta, pool = super().build_connector_meta(scheduler_output), self.scheduler_manager._gpu_block_pool
        pool.free_blocks(pool.blocks[b] for b in meta.store_gpu_blocks)
        return meta

    def update_connector_output(self, connector_output):
        manager, told = self.scheduler_manager, connector_output.kv_connector_worker_meta
        for event in told.completed_store_events if told else ():
            blocks = manager._store_event_to_blocks[event].gpu_block_ids
            manager._gpu_block_pool.touch([manager._gpu_block_pool.blocks[b] for b in blocks])
        super().update_connector_output(connector_output)
