"""A job has ended when one worker says so, and later reports count for nothing (contract R-48: with the last)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def update_connector_output(self, connector_output):
        jobs, meta = self.connector_scheduler._jobs, connector_output.kv_connector_worker_meta
        if meta is not None:
            meta.completed_jobs = {job: jobs[job].pending_count for job in meta.completed_jobs if job in jobs}
        super().update_connector_output(connector_output)
