"""A reset says that it has, and the tier goes on serving what it has (B-042)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.connector_scheduler.manager.reset_cache = lambda: None
