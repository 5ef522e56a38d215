"""A request as the machine knows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from interlock.statemachine.errors import UnknownRequest
from interlock.statemachine.offload.groups import BlockGroup
from interlock.statemachine.offload.stretches import Stretch
from interlock.statemachine.pool.watches import Watch
from interlock.statemachine.port import RequestLike


@dataclass(slots=True)
class BlockTable:
    """A request's blocks in one KV cache group.

    Args:
        group: which.
        blocks: in the order of its tokens; null blocks where the group needs none.
        published, scanned: blocks before these places need no more looking at.
        slid: blocks before this place have slid out of the group's window.
        observed: blocks before this place have been counted as seen; it stays when the request loses them.
    """

    group: BlockGroup
    blocks: list[int] = field(default_factory=list)
    published: int = 0
    scanned: int = 0
    slid: int = 0
    observed: int = 0

    def clear(self) -> None:
        """The request has lost all of them."""
        self.blocks.clear()
        self.published = self.scanned = self.slid = 0


class Found(NamedTuple):
    """What a look-up found in the tier.

    Args:
        tokens: how long the hit is, from the start of the prompt.
        later: part of it is still to come.
        groups, places, chunks: what is to be loaded of it, in columns: a chunk, to a place of the table of a group.
    """

    tokens: int = 0
    later: bool = False
    groups: Sequence[int] = ()
    places: Sequence[int] = ()
    chunks: Sequence[int] = ()


NOTHING = Found()


@dataclass(slots=True)
class Tracked:
    """A request as the machine knows it.

    Args:
        key: its name in the ledger: its id, if no request with that id has ended since the last metadata.
        tables: one per KV cache group.
        local_tokens: leading tokens that were found in the GPU's prefix cache.
        found: what the tier has beyond them, as last looked up.
        offered: how many of those the engine was told of: none after a failed load, or while it is to ask later.
        looked_up: what that look-up was for (tokens of the GPU, of the prompt at most, how many hashes: others of the
            same number come only with outputs, or a turn of a session, and who has run is looked up anew).
        looked_up_at: the pool's moves then: it holds while nothing has moved,
        watch: or while this does, if there is one.
        let_in_with: tokens that it had in the GPU's cache and was to load when it last got its first blocks.
        first_hit: with how many tokens it first started, from the GPU's cache and the tier; ``None`` before.
        next_look: with how many tokens it fills the next block that is to be published, or is one token past the
            place at which a block slides out.
        prompt_tokens: with how many tokens it arrived.
        leaf: where in the tree of what is recent its prefix ends that was last touched.
        first_job: jobs before this one are of others, also of one that had its id.
        no_room_at: what :meth:`Stores.room_made` was when the store scan found no room for what it has come to;
            ``None``: it has not come to that.
    """

    request: RequestLike
    key: str
    tables: tuple[BlockTable, ...]
    local_tokens: int = 0
    found: Found = NOTHING
    offered: int = 0
    looked_up: tuple[int, int, int] | None = None
    looked_up_at: int = 0
    watch: Watch | None = None
    let_in_with: int = 0
    first_hit: int | None = None
    next_look: int = 0
    prompt_tokens: int = 0
    first_job: int = 0
    leaf: Stretch | None = None
    no_room_at: tuple[int, ...] | None = None

    @property
    def has_blocks(self) -> bool:
        """Whether it has any, as far as is known."""
        return any(table.blocks for table in self.tables)


class Requests(dict[str, Tracked]):
    """All requests that have not ended, by id.

    Raises:
        UnknownRequest: where one is looked up that is not among them; a step names it, unless another call is given.
    """

    def of(self, request: RequestLike, call: str) -> Tracked:
        """The request of which ``call`` speaks."""
        found = self.get(request.request_id)
        if found is None:
            raise UnknownRequest(request.request_id, call)
        return found

    def __missing__(self, request_id: str) -> Tracked:
        raise UnknownRequest(request_id, "build_connector_meta")


@dataclass(frozen=True, slots=True)
class Visit:
    """A waiting request that got blocks in the schedule being made.

    Args:
        block_ids: its whole table, per group.
    """

    tracked: Tracked
    block_ids: tuple[tuple[int, ...], ...]
    external_tokens: int

    @property
    def tokens(self) -> int:
        """How many it starts with, if it has no blocks yet: what the GPU's cache has, and what is to be loaded."""
        return self.tracked.local_tokens + self.external_tokens
