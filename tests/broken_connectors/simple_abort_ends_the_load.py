"""The end of a request releases what its load still reads and writes (B-055)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def request_finished_all_groups(self, request, block_ids):
        if (state := self.scheduler_manager._reqs_to_load.get(request.request_id)) is not None:
            state.load_event = None
        return super().request_finished_all_groups(request, block_ids)
