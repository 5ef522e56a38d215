"""Adaptive replacement (Megiddo and Modha, FAST 2003): chunks used once apart from those used again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from interlock.statemachine.pool.rings import Rings
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
        self._rings = Rings(size, 2)
        self._once_end, self._again_end = size, size + 1
        self._num_once = self._num_again = 0
        self._is_again = bytearray(size)
        self._once_evicted: OrderedDict[Hash, None] = OrderedDict()
        self._again_evicted: OrderedDict[Hash, None] = OrderedDict()
        self._hash: dict[int, Hash] = {}
        self.earlier, self.later = self._rings.earlier, self._rings.later

    def ready(self, chunk: int, hash_: Hash) -> None:
        """See :class:`EvictionPolicy`."""
        once_evicted, again_evicted = self._once_evicted, self._again_evicted
        if hash_ in once_evicted:
            self.target = min(self.size, self.target + max(1, len(again_evicted) // len(once_evicted)))
            del once_evicted[hash_]
            self._joins_again(chunk, self._again_end)
        elif hash_ in again_evicted:
            self.target = max(0, self.target - max(1, len(once_evicted) // len(again_evicted)))
            del again_evicted[hash_]
            self._joins_again(chunk, self._again_end)
        else:
            self._rings.put(chunk, self._once_end)
            self._num_once += 1
            self._is_again[chunk] = False
        self._hash[chunk] = hash_
        self._forget_the_oldest()

    def touched(self, chunk: int) -> None:
        """See :class:`EvictionPolicy`."""
        self._used_again(chunk, self._again_end)

    def touched_before(self, chunk: int, later: int) -> None:
        """See :class:`EvictionPolicy`: just before ``later``, if that has been used again as well."""
        self._used_again(chunk, later if self._is_again[later] else self._again_end)

    def run_touched(self, first: int, last: int) -> None:
        """See :class:`MovesRuns`: all have been used again before."""
        self._rings.move_run(first, last, self._again_end)

    def gone(self, chunk: int, *, evicted: bool) -> None:
        """See :class:`EvictionPolicy`."""
        self._rings.take(chunk)
        again = self._is_again[chunk]
        self._num_again -= again
        self._num_once -= not again
        hash_ = self._hash.pop(chunk)
        if evicted:
            # Several chunks may be of one prefix; what was last said of it counts.
            self._once_evicted.pop(hash_, None)
            self._again_evicted.pop(hash_, None)
            remembered = self._again_evicted if again else self._once_evicted
            remembered[hash_] = None  # one more, and one chunk less: there are not too many for that

    def order(self) -> Iterator[int]:
        """See :class:`EvictionPolicy`."""
        first, second = self._once_end, self._again_end
        if self._again_first():
            first, second = second, first
        yield from self._rings.walk(first)
        yield from self._rings.walk(second)

    def victims(self) -> Iterator[int]:
        """See :class:`GoesOn`: which queue is too long may be another with each that goes."""
        once, again = self._rings.walk(self._once_end), self._rings.walk(self._again_end)
        while True:
            first, second = (again, once) if self._again_first() else (once, again)
            chunk = next(first, None)
            if chunk is None and (chunk := next(second, None)) is None:
                return
            yield chunk

    def _again_first(self) -> bool:
        return self._num_once <= self.target and self._num_again > 0

    def _used_again(self, chunk: int, later: int) -> None:
        if self._is_again[chunk]:
            self._rings.move(chunk, later)
        else:
            self._rings.take(chunk)
            self._num_once -= 1
            self._joins_again(chunk, later)

    def _joins_again(self, chunk: int, later: int) -> None:
        self._rings.put(chunk, later)
        self._num_again += 1
        self._is_again[chunk] = True

    def _forget_the_oldest(self) -> None:
        """At most ``size`` prefixes in ``once`` and its memory, and twice that in all."""
        while self._once_evicted and self._num_once + len(self._once_evicted) > self.size:
            self._once_evicted.popitem(last=False)
        while self._again_evicted and self._remembered() > 2 * self.size:
            self._again_evicted.popitem(last=False)

    def _remembered(self) -> int:
        return self._num_once + self._num_again + len(self._once_evicted) + len(self._again_evicted)
