"""Of a report that has both, the ends of loads are heard and those of stores are lost (B-185)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def update_connector_output(self, connector_output):
        if connector_output.finished_recving:
            connector_output.kv_connector_worker_meta = None
        super().update_connector_output(connector_output)
