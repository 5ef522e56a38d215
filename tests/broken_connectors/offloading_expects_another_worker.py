"""A job is done once one worker more has reported than there are (B-178: a quorum that never completes)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def build_connector_meta(self, scheduler_output):
        meta = super().build_connector_meta(scheduler_output)
        for job in meta.store_jobs:
            self.connector_scheduler._jobs[job].pending_count += 1
        return meta
