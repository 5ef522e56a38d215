"""A request that still has stores under way is given a load as well (undoes the guard of 0.22.0)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def get_num_new_matched_tokens(self, request, num_computed_tokens):
        self.scheduler._req_status[request.request_id].transfer_jobs.clear()
        return super().get_num_new_matched_tokens(request, num_computed_tokens)
