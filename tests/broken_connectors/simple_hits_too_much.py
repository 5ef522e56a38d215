"""A hit is one block longer than what is there (B-057)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def get_num_new_matched_tokens(self, request, num_computed_tokens):
        found, later = super().get_num_new_matched_tokens(request, num_computed_tokens)
        return (found + 16 if found else found), later
