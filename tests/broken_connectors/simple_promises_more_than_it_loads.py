"""A hit is one block longer than what is then loaded (B-029)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def get_num_new_matched_tokens(self, request, num_computed_tokens):
        found, later = super().get_num_new_matched_tokens(request, num_computed_tokens)
        longer = found + self.scheduler_manager.block_size
        return (longer if found and num_computed_tokens + longer < request.num_tokens else found), later
