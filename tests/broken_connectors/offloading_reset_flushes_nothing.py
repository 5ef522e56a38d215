"""A reset orders no flush of the copies under way, and their chunks are used again (B-043)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def reset_cache(self):
        done = super().reset_cache()
        self.connector_scheduler._current_batch_jobs_to_flush.clear()
        return done
