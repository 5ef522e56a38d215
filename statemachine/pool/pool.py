"""The chunk pool: which slot of the CPU tier a store gets. What may be evicted the specification says."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from interlock.statemachine.pool.policy import Chunk, EvictionPolicy
from interlock.statemachine.port import Hash


class ChunkPool:
    """Absent chunks, first in first out, and ready ones in the order of a policy.

    Args:
        policy: which ready chunk goes first.
        hash_of: the prefix that a ready chunk holds.
        may_evict: whether a ready chunk may go now (no load reads it).
        evict: makes a chunk absent; the pool hears of it through :meth:`moved`.

    Pending chunks are with neither, so nothing can take them.
    """

    def __init__(
        self,
        size: int,
        policy: EvictionPolicy,
        *,
        hash_of: Callable[[Chunk], Hash],
        may_evict: Callable[[Chunk], bool],
        evict: Callable[[Chunk], None],
    ) -> None:
        self.size = size
        self.policy = policy
        self._hash_of, self._may_evict, self._evict = hash_of, may_evict, evict
        self._absent: deque[Chunk] = deque(range(size))
        self._is_ready = bytearray(size)
        self._evicting: Chunk | None = None
        self.ran_out = False
        """Whether chunks were supplied to the last one that could be."""
        self.moves = 0
        """How often a chunk has moved: what was found in the pool holds while this is the same."""

    def take(self, ahead: int = 0) -> Chunk | None:
        """An absent chunk, after an eviction if there is none; ``None`` where all are pending or pinned.

        Args:
            ahead: how many were taken whose move to pending the pool has not heard of yet.
        """
        absent = self._absent
        if len(absent) <= ahead:
            victim = next((c for c in self.policy.order() if self._may_evict(c)), None)
            if victim is None:
                return None
            self._evicting = victim
            try:
                self._evict(victim)
            finally:
                self._evicting = None
        return absent[ahead]

    def supply(self, wanted: int) -> Iterator[Chunk]:
        """Up to so many chunks as :meth:`take` gives them, none twice; of those that were given :meth:`fills` is told.

        Meanwhile nothing else moves. :attr:`ran_out` says whether there were fewer.
        """
        self.ran_out = False
        return islice(self._absent, wanted) if wanted <= len(self._absent) else self._scraped_together(wanted)

    def _scraped_together(self, wanted: int) -> Iterator[Chunk]:
        for ahead in range(wanted):
            chunk = self._absent[ahead] if ahead < len(self._absent) else self.take(ahead)
            if chunk is None:
                self.ran_out = True
                return
            yield chunk

    def fills(self, number: int) -> list[Chunk]:
        """So many of those that :meth:`supply` gave first are pending now; which they are."""
        self.moves += number
        popleft = self._absent.popleft
        return [popleft() for _ in range(number)]

    def touch(self, chunk: Chunk) -> None:
        """A ready chunk has been of use."""
        if self._is_ready[chunk]:
            self.policy.touched(chunk)

    def moved(self, chunk: Chunk, state: str) -> None:
        """The lifecycle of a chunk has gone to a state."""
        self.moves += 1
        if state == "pending":
            if self._absent[0] == chunk:
                self._absent.popleft()
            else:
                self._absent.remove(chunk)
        elif state == "ready":
            if self._is_ready[chunk]:  # a load is to read it
                self.policy.touched(chunk)
            else:
                self._is_ready[chunk] = True
                self.policy.ready(chunk, self._hash_of(chunk))
        else:
            if self._is_ready[chunk]:
                self._leaves(chunk)
            self._absent.append(chunk)

    def _leaves(self, chunk: Chunk) -> None:
        self._is_ready[chunk] = False
        self.policy.gone(chunk, evicted=chunk == self._evicting)

    @property
    def ready(self) -> tuple[Chunk, ...]:
        """Ready chunks, the next to be evicted first."""
        return tuple(self.policy.order())

    @property
    def absent(self) -> tuple[Chunk, ...]:
        """Absent chunks, the next to be taken first."""
        return tuple(self._absent)
