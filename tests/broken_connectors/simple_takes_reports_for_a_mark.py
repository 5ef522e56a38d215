"""The report on a store ends all stores before it as well (B-019)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def update_connector_output(self, connector_output):
        told, stores = connector_output.kv_connector_worker_meta, self.scheduler_manager._store_event_to_blocks
        if told and told.completed_store_events:
            told.completed_store_events = {e: 1 for e in stores if e <= max(told.completed_store_events)}
        super().update_connector_output(connector_output)
