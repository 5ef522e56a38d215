"""A reset says that it has, and the tier goes on serving what it has (B-042)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def reset_cache(self):
        return True
