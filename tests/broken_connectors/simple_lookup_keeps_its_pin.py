"""What a lookup pins stays pinned where the request ends before it is given blocks (B-181, B-188)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.scheduler_manager._free_pending_cpu_hit = lambda pending: None
