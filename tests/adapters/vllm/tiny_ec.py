"""A small encoder connector for vLLM's scheduler, for tests: a set of items, each there or still in transit.

Imports vLLM, so only vLLM's own factory imports it, in a child. `ec_connector_extra_config`: `future_only` (true) says
whether an answer is about features beyond the computed tokens only, as rule R-65 demands.
"""

from vllm.distributed.ec_transfer.ec_connector.base import ECConnectorBase, ECConnectorMetadata


class TinyEC(ECConnectorBase):
    """Says yes once all items that it is asked about are there; writes down what it is asked and told."""

    def __init__(self, vllm_config, role):
        super().__init__(vllm_config, role)
        self.future_only = vllm_config.ec_transfer_config.ec_connector_extra_config.get("future_only", True)
        self.there = set()
        self.calls, self.asked, self.taken = [], [], []

    def ensure_cache_available(self, request, num_computed_tokens):
        self.calls.append([request.request_id, num_computed_tokens])
        items = {f.identifier for f in request.mm_features if self._counts(f.mm_position, num_computed_tokens)}
        self.asked.append(sorted(items))
        return items <= self.there

    def _counts(self, place, num_computed_tokens):
        return not self.future_only or place.offset + place.length > num_computed_tokens

    def has_cache_item(self, identifier):
        return identifier in self.there

    def update_state_after_alloc(self, request, index):
        self.taken.append([request.request_id, request.mm_features[index].identifier])

    def build_connector_meta(self, scheduler_output):
        return ECConnectorMetadata()

    def start_load_caches(self, encoder_cache, **kwargs):
        raise AssertionError("the worker's half is not here")

    save_caches = start_load_caches


class TinyECUnasked(TinyEC):
    """The same without the optional method: vLLM's default answers."""

    ensure_cache_available = ECConnectorBase.ensure_cache_available
