"""Where a full tier refuses a store, the other requests of that step lose their new blocks (B-025)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def build_connector_meta(self, scheduler_output):
        scheduler, refused = self.connector_scheduler, []
        prepare = scheduler.manager.prepare_store
        scheduler.manager.prepare_store = lambda k, c: prepare(k, c) or refused.append(k)
        meta = super().build_connector_meta(scheduler_output)
        scheduler.manager.prepare_store = prepare
        cached = scheduler_output.scheduled_cached_reqs
        for request, new in zip(cached.req_ids, cached.new_block_ids, strict=True):
            group = scheduler._req_status[request].group_states[0]
            if refused and new:
                del group.block_ids[-len(new[0]) or len(group.block_ids) :]
        return meta
