"""A load covers one chunk more than the lookup has checked (B-029)."""

from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector


class Connector(OffloadingConnector):
    def get_num_new_matched_tokens(self, request, num_computed_tokens):
        found, later = super().get_num_new_matched_tokens(request, num_computed_tokens)
        longer = (found or 0) + self.connector_scheduler.config.kv_group_configs[0].tokens_per_chunk
        return (longer if found and num_computed_tokens + longer < request.num_tokens else found), later
