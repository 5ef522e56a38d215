"""The end of a request always says that its blocks are kept, and no report ends that (B-121)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def request_finished_all_groups(self, request, block_ids):
        super().request_finished_all_groups(request, block_ids)
        return True, None
