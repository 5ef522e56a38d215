"""A store is done once one worker more has reported than there are (B-178: a quorum that never completes)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.scheduler_manager._expected_worker_count += 1
