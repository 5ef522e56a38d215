"""A request that has ended is forgotten with the first report on a job of it, and the second finds none (B-053)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def update_connector_output(self, connector_output):
        scheduler, told = self.connector_scheduler, connector_output.kv_connector_worker_meta
        theirs = {scheduler._jobs[j].req_id for j in (told.completed_jobs if told else ()) if j in scheduler._jobs}
        super().update_connector_output(connector_output)
        for request in theirs & scheduler._req_status.keys():
            if scheduler._req_status[request].finished_signaled:
                del scheduler._req_status[request]
