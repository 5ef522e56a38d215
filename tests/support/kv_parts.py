"""What a :class:`KVEngine` is made of: its sizes, its block pool, its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from interlock.adapters.embedded.ghost import Ghost
from interlock.adapters.embedded.pool import BlockPool
from interlock.adapters.embedded.request import Request
from interlock.statemachine.port import ConnectorMetadata, ScheduledRequest, TransferJob

BLOCK_SIZE = 2

Choose = Callable[[int, int], int]
"""``choose(low, high)``, both included; the lowest is the simplest."""


def lowest(low: int, high: int) -> int:
    """Always chooses what is simplest."""
    return low


@dataclass(frozen=True)
class Shape:
    """What an engine has, and what it does at all.

    Args:
        depth: steps that may be scheduled and not yet processed.
        groups: KV cache groups; one as yet.
        bare: the end of a prompt that fills no block has none, so that a request can live in one block; and requests
            end when they are told to.
        hits: whether the GPU's prefix cache is asked.
        contain: whether surplus reports are contained.
    """

    blocks: int = 4
    chunks: int = 3
    workers: int = 1
    depth: int = 1
    groups: int = 1
    policy: str = "lru"
    checking: bool = True
    bare: bool = False
    hits: bool = True
    contain: bool = False


class Pool(BlockPool):
    """Gives away whichever free block is asked for, and can be emptied of what it can find."""

    def put_first(self, place: int) -> None:
        """The free block at a place of the queue is given away next."""
        self._free.move_to_end(list(self._free)[place], last=False)

    @property
    def used(self) -> set[int]:
        """Blocks that have a user."""
        return {b for b, count in enumerate(self._references) if count}

    @property
    def hashes(self) -> dict[int, str]:
        """What can be found."""
        return self._hash

    def reset(self) -> bool:
        """Nothing can be found any more; false, and all stays, if a block has a user."""
        if not self.used:
            for block in list(self._hash):
                self._forget(block)
        return not self.used


class Wanted(NamedTuple):
    """What the next schedule() is to do with a request, if it can, instead of what is chosen.

    Args:
        hits: whether it takes what the prefix cache has; loads: what the machine offers.
        blocks: that it gets; tokens: until which it is computed.
    """

    hits: bool
    blocks: int
    tokens: int
    loads: bool


@dataclass
class OpenJob:
    """A job that is with the workers. Args: due: workers whose report the machine has not heard."""

    job: TransferJob
    is_store: bool
    due: int


@dataclass
class Row:
    """What a step computes of a request, in the table that it had then."""

    request: Request
    table: list[int]
    start: int
    end: int
    samples: bool

    def as_scheduled(self, new: tuple[int, ...] = ()) -> ScheduledRequest:
        """What the machine is told."""
        return ScheduledRequest(self.request.request_id, self.start, self.end - self.start, new)


@dataclass
class Step:
    """A step that is with the workers; implements the ``Forward`` that they run.

    Args:
        waits_for: workers that have not run it.
    """

    number: int
    metadata: ConnectorMetadata
    rows: list[Row]
    bare: bool
    waits_for: set[int] = field(default_factory=set)

    def run(self, ghost: Ghost) -> None:
        """Write what is computed, then read all that it rests on."""
        for row in self.rows:
            contents, table = row.request.contents, row.table
            place = row.start // BLOCK_SIZE
            if row.start % BLOCK_SIZE and not self.bare:
                ghost.read(row.request.request_id, table[place], contents.of(place, row.start))
            for at in range(place, min(-(-row.end // BLOCK_SIZE), len(table))):
                ghost.compute(table[at], contents.of(at, row.end))
        for row in self.rows:
            for at in range(row.end // BLOCK_SIZE):
                ghost.read(row.request.request_id, row.table[at], row.request.contents.of(at, (at + 1) * BLOCK_SIZE))


class Transfers:
    """Jobs until the machine has heard all reports on them; what ``MetadataReader`` opens."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self.open: dict[int, OpenJob] = {}

    def plan(self, job: TransferJob, *, is_store: bool) -> None:
        """A step's metadata has a job."""
        self.open[job.job] = OpenJob(job, is_store, self._workers)
