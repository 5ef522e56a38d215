"""The reference of a store is given back twice (B-117)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def update_connector_output(self, connector_output):
        manager, told = self.scheduler_manager, connector_output.kv_connector_worker_meta
        done = [manager._store_event_to_blocks.get(e) for e in (told.completed_store_events if told else ())]
        super().update_connector_output(connector_output)
        for blocks in (manager._gpu_block_pool.blocks[b] for store in done if store for b in store.gpu_block_ids):
            if blocks.ref_cnt:
                manager._gpu_block_pool.free_blocks([blocks])
