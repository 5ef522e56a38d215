"""A store at the finish, whose block is given away in the same schedule(), is not flushed (seeds 003)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def build_connector_meta(self, scheduler_output):
        meta = super().build_connector_meta(scheduler_output)
        meta.jobs_to_flush -= meta.store_jobs.keys()
        return meta
