"""The stores of a preempted request are not flushed (B-128, B-192)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def build_connector_meta(self, scheduler_output):
        statuses, theirs = self.scheduler._req_status, set()
        for request in scheduler_output.preempted_req_ids or ():
            theirs |= statuses[request].transfer_jobs if request in statuses else set()
        meta = super().build_connector_meta(scheduler_output)
        meta.jobs_to_flush -= theirs
        return meta
