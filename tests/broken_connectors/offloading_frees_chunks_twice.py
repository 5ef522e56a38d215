"""A chunk that is evicted is given back twice (B-117, B-153)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        manager = self.connector_scheduler.manager
        manager._free_chunk = lambda chunk: manager._free_list.extend([chunk.chunk_id] * 2)
