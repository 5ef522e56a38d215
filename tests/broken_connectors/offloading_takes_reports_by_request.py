"""A report names the request and not its job: it ends the oldest (B-019)."""

from collections import Counter

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def update_connector_output(self, connector_output):
        scheduler, told = self.connector_scheduler, connector_output.kv_connector_worker_meta
        if told is not None:
            ended = Counter(scheduler._jobs[j].req_id for j in told.completed_jobs if j in scheduler._jobs)
            theirs = {r: sorted(scheduler._req_status[r].transfer_jobs) for r in ended}
            told.completed_jobs = {j: 1 for r, count in ended.items() for j in theirs[r][:count]}
        super().update_connector_output(connector_output)
