"""Least recently used first."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.statemachine.pool.rings import Rings
from interlock.statemachine.port import Hash


class LeastRecentlyUsed:
    """One queue: what has just become ready or been of use goes last."""

    def __init__(self, size: int) -> None:
        self._end = size
        self._ring = Rings(size)
        self.earlier = self._ring.earlier
        self.later = self._ring.later

    def ready(self, chunk: int, hash_: Hash) -> None:
        """See :class:`EvictionPolicy`."""
        del hash_
        self._ring.put(chunk, self._end)

    def touched(self, chunk: int) -> None:
        """See :class:`EvictionPolicy`."""
        self._ring.move(chunk, self._end)

    def touched_before(self, chunk: int, later: int) -> None:
        """See :class:`EvictionPolicy`: just before ``later``."""
        self._ring.move(chunk, later)

    def run_touched(self, first: int, last: int) -> None:
        """See :class:`MovesRuns`."""
        self._ring.move_run(first, last, self._end)

    def gone(self, chunk: int, *, evicted: bool) -> None:
        """See :class:`EvictionPolicy`."""
        del evicted
        self._ring.take(chunk)

    def order(self) -> Iterator[int]:
        """See :class:`EvictionPolicy`."""
        return self._ring.walk(self._end)

    def victims(self) -> Iterator[int]:
        """See :class:`GoesOn`."""
        return self.order()
