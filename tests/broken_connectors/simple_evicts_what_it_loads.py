"""A load holds no reference on the chunks that it reads (B-030, B-045)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def update_state_after_alloc(self, request, blocks, num_external_tokens):
        super().update_state_after_alloc(request, blocks, num_external_tokens)
        self._chunks(request.request_id, num_external_tokens > 0, lambda pool, chunks: pool.free_blocks(chunks))

    def update_connector_output(self, connector_output):
        for request in connector_output.finished_recving or ():
            self._chunks(request, True, lambda pool, chunks: pool.touch(chunks))
        super().update_connector_output(connector_output)

    def _chunks(self, request, wanted, do):
        manager = self.scheduler_manager
        if (state := manager._reqs_to_load.get(request)) and wanted:
            do(manager.cpu_block_pool, [manager.cpu_block_pool.blocks[c] for c in state.transfer_meta.cpu_block_ids])
