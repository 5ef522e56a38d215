"""A request that has ended has its last sampled token stored, which was never computed (vLLM issue 54193; undoes PR 54288)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        bound = self.connector_scheduler._calc_num_offloadable_tokens
        self.connector_scheduler._calc_num_offloadable_tokens = lambda status, computed: bound(
            status, status.req.num_tokens if status.req.is_finished() else computed
        )
