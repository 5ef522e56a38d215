"""A load counts as done when it begins: the request runs, and others find its blocks (B-137)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def get_num_new_matched_tokens(self, request, num_computed_tokens):
        return super().get_num_new_matched_tokens(request, num_computed_tokens)[0], False
