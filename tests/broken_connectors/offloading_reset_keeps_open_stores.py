"""A reset drops what is ready, and what is being stored becomes ready after it (B-042 with a store in flight)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def reset_cache(self):
        manager = self.connector_scheduler.manager
        ready, manager._num_evictable_cache_chunks = manager._num_evictable_cache_chunks, 0
        for _, chunk in (manager._policy.evict(ready, set()) or ()) if ready else ():
            manager._free_chunk(chunk)
        return True
