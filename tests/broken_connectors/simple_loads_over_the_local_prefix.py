"""What is loaded goes to where the request's table begins, whatever it has found on the GPU (B-102)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def update_state_after_alloc(self, request, blocks, num_external_tokens):
        hits = self.scheduler_manager._pending_cpu_hits
        if (hit := hits.get(request.request_id)) is not None:
            hits[request.request_id] = (*hit[:2], 0)
        super().update_state_after_alloc(request, blocks, num_external_tokens)
