"""A reset forgets the jobs, and not the ids that each request has of its own (as 0.22.0 to 0.25.1)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def reset_cache(self):
        statuses = self.connector_scheduler._req_status
        had = {request: set(status.transfer_jobs) for request, status in statuses.items()}
        done = super().reset_cache()
        for request, status in statuses.items():
            status.transfer_jobs |= had[request]
        return done
