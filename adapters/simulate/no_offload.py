"""No connector at all: what everything is compared with."""

from __future__ import annotations

from interlock.statemachine.port import (
    BlockIds,
    BlockReferences,
    ConnectorMetadata,
    ConnectorOutput,
    RequestLike,
    ScheduledStep,
)

_NOTHING = ConnectorMetadata()


class NoOffload:
    """A :class:`ConnectorPort` that has nothing and wants nothing."""

    def bind_gpu_block_pool(self, pool: BlockReferences) -> None:
        """See :class:`ConnectorPort`."""

    def on_new_request(self, request: RequestLike) -> None:
        """See :class:`ConnectorPort`."""

    def get_num_new_matched_tokens(self, request: RequestLike, num_computed_tokens: int) -> tuple[int | None, bool]:
        """Never anything."""
        return 0, False

    def update_state_after_alloc(self, request: RequestLike, block_ids: BlockIds, num_external_tokens: int) -> None:
        """See :class:`ConnectorPort`."""

    def build_connector_meta(self, step: ScheduledStep) -> ConnectorMetadata:
        """Never anything."""
        return _NOTHING

    def update_connector_output(self, output: ConnectorOutput) -> None:
        """See :class:`ConnectorPort`."""

    def request_finished(self, request: RequestLike, block_ids: BlockIds) -> bool:
        """Blocks are free at once."""
        return False

    def has_pending_work(self) -> bool:
        """Never."""
        return False
