"""Adaptive replacement (Megiddo and Modha, FAST 2003): chunks used once apart from those used again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from interlock.statemachine.port import Hash


class AdaptiveReplacement:
    """Two queues of chunks, and two of prefixes that were evicted from them.

    A long document read once fills ``once`` and leaves ``again`` alone. A prefix that comes back
    after its eviction says which queue was too short, and moves ``target``.

    Args:
        size: chunks of the pool.

    Attributes:
        target: how many chunks of ``once`` to keep, between 0 and ``size``.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.target = 0
        self._once: OrderedDict[int, None] = OrderedDict()
        self._again: OrderedDict[int, None] = OrderedDict()
        self._once_evicted: OrderedDict[Hash, None] = OrderedDict()
        self._again_evicted: OrderedDict[Hash, None] = OrderedDict()
        self._hash: dict[int, Hash] = {}

    def ready(self, chunk: int, hash_: Hash) -> None:
        """See :class:`EvictionPolicy`."""
        once_evicted, again_evicted = self._once_evicted, self._again_evicted
        queue = self._again
        if hash_ in once_evicted:
            self.target = min(self.size, self.target + max(1, len(again_evicted) // len(once_evicted)))
            del once_evicted[hash_]
        elif hash_ in again_evicted:
            self.target = max(0, self.target - max(1, len(once_evicted) // len(again_evicted)))
            del again_evicted[hash_]
        else:
            queue = self._once
        queue[chunk] = None
        self._hash[chunk] = hash_
        self._forget_the_oldest()

    def touched(self, chunk: int) -> None:
        """See :class:`EvictionPolicy`."""
        self._once.pop(chunk, None)
        self._again[chunk] = None
        self._again.move_to_end(chunk)

    def touched_before(self, chunk: int, later: int) -> None:
        """See :class:`EvictionPolicy`: it is used again, like any other."""
        del later
        self.touched(chunk)

    def gone(self, chunk: int, *, evicted: bool) -> None:
        """See :class:`EvictionPolicy`."""
        queue, remembered = (
            (self._once, self._once_evicted) if chunk in self._once else (self._again, self._again_evicted)
        )
        del queue[chunk]
        hash_ = self._hash.pop(chunk)
        if evicted:
            # Several chunks may be of one prefix; what was last said of it counts.
            self._once_evicted.pop(hash_, None)
            self._again_evicted.pop(hash_, None)
            remembered[hash_] = None  # one more, and one chunk less: there are not too many for that

    def order(self) -> Iterator[int]:
        """See :class:`EvictionPolicy`."""
        first, second = self._once, self._again
        if len(self._once) <= self.target and self._again:
            first, second = second, first
        yield from first
        yield from second

    def _forget_the_oldest(self) -> None:
        """At most ``size`` prefixes in ``once`` and its memory, and twice that in all."""
        while self._once_evicted and len(self._once) + len(self._once_evicted) > self.size:
            self._once_evicted.popitem(last=False)
        while self._again_evicted and self._remembered() > 2 * self.size:
            self._again_evicted.popitem(last=False)

    def _remembered(self) -> int:
        return len(self._once) + len(self._again) + len(self._once_evicted) + len(self._again_evicted)
