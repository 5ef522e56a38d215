"""Least recently used first."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.statemachine.port import Hash


class LeastRecentlyUsed:
    """One queue: what has just become ready or been of use goes last.

    A ring of chunks, linked both ways, in two lists with the chunks as places: 16 bytes a chunk, where an ordered
    dictionary takes 90. The place behind the last chunk is the ring's end.
    """

    def __init__(self, size: int) -> None:
        self._end = size
        self._before = [size] * (size + 1)
        self._after = [size] * (size + 1)

    def ready(self, chunk: int, hash_: Hash) -> None:
        """See :class:`EvictionPolicy`."""
        del hash_
        before, end = self._before, self._end
        last = before[end]
        self._after[last] = before[end] = chunk
        before[chunk], self._after[chunk] = last, end

    def touched(self, chunk: int) -> None:
        """See :class:`EvictionPolicy`."""
        before, after, end = self._before, self._after, self._end
        earlier, later = before[chunk], after[chunk]
        after[earlier], before[later] = later, earlier
        last = before[end]
        after[last] = before[end] = chunk
        before[chunk], after[chunk] = last, end

    def touched_before(self, chunk: int, later: int) -> None:
        """See :class:`EvictionPolicy`: just before ``later``."""
        before, after = self._before, self._after
        earlier, next_ = before[chunk], after[chunk]
        after[earlier], before[next_] = next_, earlier
        earlier = before[later]
        after[earlier] = before[later] = chunk
        before[chunk], after[chunk] = earlier, later

    def gone(self, chunk: int, *, evicted: bool) -> None:
        """See :class:`EvictionPolicy`."""
        del evicted
        earlier, later = self._before[chunk], self._after[chunk]
        self._after[earlier], self._before[later] = later, earlier

    def order(self) -> Iterator[int]:
        """See :class:`EvictionPolicy`."""
        chunk = self._after[self._end]
        while chunk != self._end:
            yield chunk
            chunk = self._after[chunk]
