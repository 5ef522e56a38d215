"""Blocks and chunks of a store are paired in another order than they are found by (B-147)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def build_connector_meta(self, scheduler_output):
        meta = super().build_connector_meta(scheduler_output)
        for job in meta.store_jobs.values():
            job.dst_spec.block_ids = job.dst_spec.block_ids[::-1]
        return meta
