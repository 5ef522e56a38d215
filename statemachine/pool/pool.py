"""The chunk pool: which slot of the CPU tier a store gets. What may be evicted the specification says."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from interlock.statemachine.pool.policy import Chunk, EvictionPolicy, GoesOn
from interlock.statemachine.pool.watches import Watches
from interlock.statemachine.port import Hash


class ChunkPool:
    """Absent chunks, first in first out, and ready ones in the order of a policy.

    Args:
        policy: which ready chunk goes first.
        hash_of: the prefix that a ready chunk holds.
        may_evict: whether a ready chunk may go now (no load reads it).
        evict: makes a chunk absent; the pool hears of it through :meth:`moved`.
        ranks_pending: whether the policy has a chunk from the plan of its store on, and not only when it is ready.

    Pending chunks cannot be taken. Unless they are ranked, the policy does not know them.

    Attributes:
        came: told of each chunk that the policy has from now on, and which prefix it holds or is to hold.
        left: told of each chunk that leaves the policy, which prefix it was to hold, and whether it makes room.
        watches: told of each prefix of which a chunk has become ready, or absent; or pending, if those are ranked.
    """

    def __init__(
        self,
        size: int,
        policy: EvictionPolicy,
        *,
        hash_of: Callable[[Chunk], Hash],
        may_evict: Callable[[Chunk], bool],
        evict: Callable[[Chunk], None],
        ranks_pending: bool = False,
    ) -> None:
        self.came: Callable[[Chunk, Hash], object] | None = None
        self.left: Callable[[Chunk, Hash, bool], object] | None = None
        self._ranks_pending = ranks_pending
        self.size = size
        self.policy = policy
        self._hash_of, self._may_evict, self._evict = hash_of, may_evict, evict
        self._absent: deque[Chunk] = deque(range(size))
        self._is_ready = bytearray(size)
        self._is_ranked = bytearray(size) if ranks_pending else self._is_ready
        self._victims = policy.victims if isinstance(policy, GoesOn) else None
        self._evicting: Chunk | None = None
        self.ran_out = False
        """Whether chunks were supplied to the last one that could be."""
        self.moves = 0
        """How often a chunk has moved: what was found in the pool holds while this is the same."""
        self.watches = Watches()

    def take(self, ahead: int = 0) -> Chunk | None:
        """An absent chunk, after an eviction if there is none; ``None`` where all are pending or pinned.

        Args:
            ahead: how many were taken whose move to pending the pool has not heard of yet.
        """
        there_is = len(self._absent) > ahead or self._made_room(self.policy.order())
        return self._absent[ahead] if there_is else None

    def _made_room(self, candidates: Iterator[Chunk]) -> bool:
        """Evicts the first that may go; whether there is one."""
        victim = next((c for c in candidates if self._is_ready[c] and self._may_evict(c)), None)
        if victim is None:
            return False
        self._evicting = victim
        try:
            self._evict(victim)
        finally:
            self._evicting = None
        return True

    def supply(self, wanted: int) -> Iterator[Chunk]:
        """Up to so many chunks as :meth:`take` gives them, none twice; of those that were given :meth:`fills` is told.

        Meanwhile nothing else moves. :attr:`ran_out` says whether there were fewer.
        """
        self.ran_out = False
        return islice(self._absent, wanted) if wanted <= len(self._absent) else self._scraped_together(wanted)

    def _scraped_together(self, wanted: int) -> Iterator[Chunk]:
        # What may not go now may not for the next one either, so that is passed once, if the policy can go on.
        victims = self._victims and self._victims()
        for ahead in range(wanted):
            if ahead >= len(self._absent) and not self._made_room(victims or self.policy.order()):
                self.ran_out = True
                return
            yield self._absent[ahead]

    def fills(self, number: int) -> list[Chunk]:
        """So many of those that :meth:`supply` gave first are pending now; which they are."""
        self.moves += number
        popleft = self._absent.popleft
        chunks = [popleft() for _ in range(number)]
        for chunk in chunks if self._ranks_pending else ():
            self._rank(chunk)
        return chunks

    def touch(self, chunk: Chunk) -> None:
        """A chunk that the policy has, has been of use."""
        if self._is_ranked[chunk]:
            self.policy.touched(chunk)

    def is_ranked(self, chunk: Chunk) -> bool:
        """Whether the policy has the chunk."""
        return bool(self._is_ranked[chunk])

    @property
    def num_absent(self) -> int:
        """How many chunks can be taken without an eviction."""
        return len(self._absent)

    def moved(self, chunk: Chunk, state: str) -> None:
        """The lifecycle of a chunk has gone to a state."""
        self.moves += 1
        if state == "pending":
            if self._absent[0] == chunk:
                self._absent.popleft()
            else:
                self._absent.remove(chunk)
            if self._ranks_pending:
                self._rank(chunk)
        elif state == "ready":
            if self._is_ready[chunk]:  # a load is to read it
                assert not self._ranks_pending, "who has pending chunks ranked touches what is of use itself"
                self.policy.touched(chunk)
                return
            self._is_ready[chunk] = True
            if not self._ranks_pending:
                self.policy.ready(chunk, self._hash_of(chunk))
            if self.watches:
                self.watches.moved(self._hash_of(chunk))
        else:
            if self._is_ranked[chunk]:
                self._leaves(chunk)
            self._absent.append(chunk)
            if self.watches:
                self.watches.moved(self._hash_of(chunk))

    def _rank(self, chunk: Chunk) -> None:
        self._is_ranked[chunk] = True
        hash_ = self._hash_of(chunk)
        self.policy.ready(chunk, hash_)
        if self.came is not None:
            self.came(chunk, hash_)
        if self.watches:
            self.watches.moved(hash_)

    def _leaves(self, chunk: Chunk) -> None:
        self._is_ready[chunk] = self._is_ranked[chunk] = False
        evicted = chunk == self._evicting
        if self.left is not None:
            self.left(chunk, self._hash_of(chunk), evicted)
        self.policy.gone(chunk, evicted=evicted)

    @property
    def ready(self) -> tuple[Chunk, ...]:
        """Ready chunks, the next to be evicted first."""
        return tuple(c for c in self.policy.order() if self._is_ready[c])

    @property
    def absent(self) -> tuple[Chunk, ...]:
        """Absent chunks, the next to be taken first."""
        return tuple(self._absent)
