"""What a pool asks of an eviction policy, and the policies by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, runtime_checkable

from interlock.statemachine.errors import UnknownPolicy
from interlock.statemachine.pool.arc import AdaptiveReplacement
from interlock.statemachine.pool.lru import LeastRecentlyUsed
from interlock.statemachine.port import Hash

Chunk = int


class EvictionPolicy(Protocol):
    """An order among ready chunks, or also those that stores are planned into. What *may* go it never decides."""

    def ready(self, chunk: Chunk, hash_: Hash) -> None:
        """The chunk, which holds or is to hold this prefix, has a place in the order from now on."""

    def touched(self, chunk: Chunk) -> None:
        """A chunk has been of use."""

    def touched_before(self, chunk: Chunk, later: Chunk) -> None:
        """A chunk has been of use, and ``later``, which it is of no use without, more so."""

    def gone(self, chunk: Chunk, *, evicted: bool) -> None:
        """A chunk is absent; ``evicted`` to make room, else by a reset."""

    def order(self) -> Iterator[Chunk]:
        """The chunks, the next to be evicted first."""


@runtime_checkable
class GoesOn(EvictionPolicy, Protocol):
    """A policy of which one walk tells what makes room for several stores.

    One that does not tells its order anew for each.
    """

    def victims(self) -> Iterator[Chunk]:
        """As its order, but what it has given last may have been evicted when it is asked for the next one.

        Then that is the first in the order of now that it has not given yet. Nothing else changes meanwhile.
        """


@runtime_checkable
class MovesRuns(EvictionPolicy, Protocol):
    """A policy that moves chunks which follow on each other in its order at once, however many they are.

    One that does not is told of each of them.
    """

    def run_touched(self, first: Chunk, last: Chunk) -> None:
        """Chunks have been of use, from the first to the last of a run; each has been touched before."""

    def earlier(self, chunk: Chunk) -> Chunk:
        """What comes just before a chunk that others of its run come before."""

    def later(self, chunk: Chunk) -> Chunk:
        """What comes just behind a chunk that others of its run come behind."""


POLICIES: Mapping[str, Callable[[int], EvictionPolicy]] = {
    "lru": LeastRecentlyUsed,
    "arc": AdaptiveReplacement,
}
"""From a name to the policy for a pool of so many chunks; a third one is one entry here."""


def policy_named(name: str, size: int) -> EvictionPolicy:
    """The policy of a name, for a pool of ``size`` chunks.

    Raises:
        UnknownPolicy: there is none of that name.
    """
    if name not in POLICIES:
        raise UnknownPolicy(name, list(POLICIES))
    return POLICIES[name](size)
