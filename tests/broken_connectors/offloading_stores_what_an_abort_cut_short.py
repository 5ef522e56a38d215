"""What an aborted request has computed is rounded up to all its tokens (B-191)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector
from vllm.v1.request import RequestStatus


class Connector(OffloadingConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        bound = self.connector_scheduler._calc_num_offloadable_tokens
        self.connector_scheduler._calc_num_offloadable_tokens = lambda status, computed: bound(
            status, status.req.num_tokens if status.req.status == RequestStatus.FINISHED_ABORTED else computed
        )
