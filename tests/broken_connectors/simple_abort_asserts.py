"""An abort asserts what only a worker has (B-119)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector
from vllm.v1.request import RequestStatus


class Connector(SimpleCPUOffloadConnector):
    def request_finished_all_groups(self, request, block_ids):
        assert request.status != RequestStatus.FINISHED_ABORTED or self.worker_handler is not None
        return super().request_finished_all_groups(request, block_ids)
