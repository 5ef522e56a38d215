"""A connector that has the first tokens of every prompt, whose loads fail as the gate wants; it stores nothing.

Its worker's half is played. Imports vLLM, so it is loaded by vLLM's factory only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorBase_V1, KVConnectorMetadata


@dataclass
class Nothing(KVConnectorMetadata):
    """The harness knows what is loaded."""


class ProbeConnector(KVConnectorBase_V1):
    """Offers what it has, synchronously or not.

    Attributes:
        has: how many tokens of any request it has, from the first.
        waits: whether a load goes on while its request waits, or goes with the step that needs it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.has = 0
        self.waits = False

    def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> tuple[int | None, bool]:
        """See the base class. A load that goes with a step leaves a token to compute (rule R-05)."""
        end = min(self.has, request.num_tokens if self.waits else request.num_tokens - 1)
        more = max(0, end - num_computed_tokens)
        return more, more > 0 and self.waits

    def update_state_after_alloc(self, request: Any, blocks: Any, num_external_tokens: int) -> None:
        """Nothing: the harness sees it."""

    def build_connector_meta(self, scheduler_output: Any) -> Nothing:
        """See the base class."""
        return Nothing()

    # -- the worker's half: there is none here -------------------------------------------------------

    def start_load_kv(self, forward_context: Any, **kwargs: Any) -> None:
        """Nothing: whoever plays the worker knows the loads."""

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Nothing."""

    def save_kv_layer(self, layer_name: str, kv_layer: Any, attn_metadata: Any, **kwargs: Any) -> None:
        """Nothing."""

    def wait_for_save(self) -> None:
        """Nothing."""
