"""A key whose store is open is stored once more (B-046)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        manager = self.connector_scheduler.manager
        prepare, policy = manager.prepare_store, manager._policy

        def prepare_store(keys, context):
            for key in keys:
                if (chunk := policy.get(key)) is not None and not chunk.is_ready:
                    policy.remove(key)
            return prepare(keys, context)

        manager.prepare_store = prepare_store
