"""A connector of encoder caches that does nothing wrong: items come to its pool as the gate wants, and are then loaded.

Its worker's half is played. Imports vLLM, so it is loaded by vLLM's factory only. A release calls of it what it knows.
"""

from __future__ import annotations

from typing import Any

from vllm.distributed.ec_transfer.ec_connector.base import ECConnectorBase, ECConnectorMetadata


class ProbeECConnector(ECConnectorBase):
    """Has of the items what has arrived; answers no while one that a request still needs is in transit.

    Attributes:
        in_transit: items that the other side is sending.
        there: items that have arrived.
        keeps: whether it delays the end of requests, until it has said that it is done with them.
        loads: items that the step being built loads.
        kept: requests whose end it delays.
    """

    def __init__(self, vllm_config: Any, role: Any) -> None:
        super().__init__(vllm_config, role)
        self.in_transit: list[str] = []
        self.there: set[str] = set()
        self.keeps = False
        self.loads: list[str] = []
        self.kept: list[str] = []

    def ensure_cache_available(self, request: Any, num_computed_tokens: int) -> bool:
        """See the base class: about what the request has not yet computed (rule R-65)."""
        return not self.awaited(request, num_computed_tokens)

    def awaited(self, request: Any, num_computed_tokens: int) -> list[str]:
        """Items in transit that a request still needs."""
        ahead = [f for f in request.mm_features if f.mm_position.offset + f.mm_position.length > num_computed_tokens]
        return [f.identifier for f in ahead if f.identifier in self.in_transit]

    def has_cache_item(self, identifier: str) -> bool:
        """See the base class."""
        return identifier in self.there

    def update_state_after_alloc(self, request: Any, index: int) -> None:
        """See the base class. What it has is loaded with the step."""
        item = request.mm_features[index].identifier
        if item in self.there:
            self.loads.append(item)

    def build_connector_meta(self, scheduler_output: Any) -> ECConnectorMetadata:
        """See the base class."""
        return ECConnectorMetadata()

    def request_finished(self, request: Any) -> tuple[bool, dict[str, Any] | None]:
        """See the base class."""
        if self.keeps:
            self.kept.append(request.request_id)
        return self.keeps, None

    # -- the worker's half: there is none here -------------------------------------------------------

    def start_load_caches(self, encoder_cache: Any, **kwargs: Any) -> None:
        """Nothing: whoever plays the worker knows the loads."""

    def save_caches(self, encoder_cache: Any, mm_hash: str, **kwargs: Any) -> None:
        """Nothing."""
