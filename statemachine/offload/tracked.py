"""A request as the machine knows it."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.statemachine.port import RequestLike


@dataclass(slots=True)
class Tracked:
    """A request as the machine knows it.

    Args:
        table: its blocks, in the order of its tokens.
        local_blocks: leading blocks that were found in the GPU's prefix cache.
        matched: ready chunks that continue them, as last looked up.
        looked_up: what that look-up was for, and the pool's moves then: it holds while nothing has moved.
        published, scanned: blocks before these places need no more looking at.
        next_full: with how many tokens it fills the next block that is to be published.
    """

    request: RequestLike
    table: list[int] = field(default_factory=list)
    local_blocks: int = 0
    matched: list[int] = field(default_factory=list)
    looked_up: tuple[int, int, int] | None = None
    published: int = 0
    scanned: int = 0
    next_full: int = 0


@dataclass(frozen=True, slots=True)
class Visit:
    """A waiting request that got blocks in the schedule being made."""

    tracked: Tracked
    block_ids: tuple[int, ...]
    external_blocks: int
