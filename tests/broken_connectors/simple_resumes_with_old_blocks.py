"""The blocks of a resumed request are appended to those that it had (B-094)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def build_connector_meta(self, scheduler_output):
        states = self.scheduler_manager._reqs_to_store
        had = {r: states[r].block_ids for r in scheduler_output.preempted_req_ids or () if r in states}
        meta = super().build_connector_meta(scheduler_output)
        for request, blocks in had.items():
            states[request].block_ids = blocks
        return meta
