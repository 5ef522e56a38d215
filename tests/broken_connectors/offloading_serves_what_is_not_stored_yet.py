"""A chunk can be found as soon as its store is planned (B-124)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        manager = self.connector_scheduler.manager
        prepare = manager.prepare_store

        def prepare_store(keys, context):
            if (planned := prepare(keys, context)) is not None:
                manager.complete_store(planned.keys_to_store, context)
            return planned

        manager.prepare_store = prepare_store
