"""The blocks of a resumed request are appended to those that it had (B-094)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Appended(list):
    def clear(self):
        pass


class Connector(OffloadingConnector):
    def on_new_request(self, request):
        super().on_new_request(request)
        for group in self.connector_scheduler._req_status[request.request_id].group_states:
            group.block_ids = Appended()
