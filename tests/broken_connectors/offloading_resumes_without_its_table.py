"""The table of a resumed request has later blocks only (B-166)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def build_connector_meta(self, scheduler_output):
        meta = super().build_connector_meta(scheduler_output)
        for request in scheduler_output.scheduled_cached_reqs.resumed_req_ids:
            for group in self.connector_scheduler._req_status[request].group_states:
                group.block_ids.clear()
        return meta
