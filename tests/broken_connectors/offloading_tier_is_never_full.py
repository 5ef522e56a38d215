"""The count of free chunks is more than there are (B-048, B-153)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.connector_scheduler.manager._get_num_free_chunks = lambda: 1000
