"""The count of free chunks is more than there are (B-048)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.scheduler_manager.cpu_block_pool.get_num_free_blocks = lambda: 1000
