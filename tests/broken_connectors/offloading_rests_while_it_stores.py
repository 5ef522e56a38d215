"""No pending work is reported, so an engine at rest never hears of its last jobs (undoes vLLM PR 42611)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def has_pending_push_work(self):
        return False
