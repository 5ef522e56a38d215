"""The table of open stores has the last one only (B-126)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def build_connector_meta(self, scheduler_output):
        meta, stores = super().build_connector_meta(scheduler_output), self.scheduler_manager._store_event_to_blocks
        for event in list(stores)[:-1]:
            del stores[event]
        return meta
