"""Chunks and blocks of a load are paired in another order (B-125)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def build_connector_meta(self, scheduler_output):
        meta = super().build_connector_meta(scheduler_output)
        for job in meta.load_jobs.values():
            job.src_spec.block_ids = job.src_spec.block_ids[::-1]
        return meta
