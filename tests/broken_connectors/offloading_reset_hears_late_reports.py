"""A reset forgets the jobs that are open, and not that reports on them are still to come (B-073; cf. docs/findings.md)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def reset_cache(self):
        done = super().reset_cache()
        self.connector_scheduler._stale_job_threshold = 0
        return done
