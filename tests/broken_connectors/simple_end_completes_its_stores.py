"""The end of a request counts its open stores as done (B-154)."""

from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector


class Connector(SimpleCPUOffloadConnector):
    def request_finished_all_groups(self, request, block_ids):
        answer = super().request_finished_all_groups(request, block_ids)
        if (state := self.scheduler_manager._reqs_to_store.get(request.request_id)) is not None:
            for event in sorted(state.store_events):
                self.scheduler_manager._process_store_event(event)
        return answer
