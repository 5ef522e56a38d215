"""No pending work is reported, so an engine at rest never hears of its last stores (V-06; as 0.19.0 to 0.29.0)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def has_pending_push_work(self):
        return False
