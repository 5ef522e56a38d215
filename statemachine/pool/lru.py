"""Least recently used first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from interlock.statemachine.port import Hash


class LeastRecentlyUsed:
    """One queue: what has just become ready or been of use goes last."""

    def __init__(self, size: int) -> None:
        del size  # the order is the same in a pool of any size
        self._queue: OrderedDict[int, None] = OrderedDict()

    def ready(self, chunk: int, hash_: Hash) -> None:
        """See :class:`EvictionPolicy`."""
        del hash_
        self._queue[chunk] = None

    def touched(self, chunk: int) -> None:
        """See :class:`EvictionPolicy`."""
        self._queue.move_to_end(chunk)

    def gone(self, chunk: int, *, evicted: bool) -> None:
        """See :class:`EvictionPolicy`."""
        del evicted
        del self._queue[chunk]

    def order(self) -> Iterator[int]:
        """See :class:`EvictionPolicy`."""
        return iter(self._queue)
