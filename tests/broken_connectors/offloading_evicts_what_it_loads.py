"""A load does not pin the chunks that it reads (B-030, B-045)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        manager = self.connector_scheduler.manager
        prepare, complete = manager.prepare_load, manager.complete_load

        def prepare_load(keys, context):
            source = prepare(keys, context)
            complete(keys, context)
            return source

        manager.prepare_load, manager.complete_load = prepare_load, lambda keys, context: None
