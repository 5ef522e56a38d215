"""A store of which a block is given away is not flushed (B-092; seeds 003)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def build_connector_meta(self, scheduler_output):
        statuses, orders = self.scheduler._req_status, set(self.scheduler._current_batch_jobs_to_flush)
        for request in scheduler_output.preempted_req_ids or ():
            orders |= statuses[request].transfer_jobs if request in statuses else set()
        meta = super().build_connector_meta(scheduler_output)
        meta.jobs_to_flush &= orders
        return meta
