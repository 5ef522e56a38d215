"""A store has ended when one worker says so (contract R-48: with the report of the last)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def update_connector_output(self, connector_output):
        self.scheduler_manager._expected_worker_count = 1
        super().update_connector_output(connector_output)
