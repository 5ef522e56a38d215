"""The chunk pool: which slot of the CPU tier a store gets. What may be evicted the specification says."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable

Chunk = int


class ChunkPool:
    """Absent chunks, first in first out, and ready ones, least recently used first.

    Args:
        may_evict: whether a ready chunk may go now (no load reads it).
        evict: makes a chunk absent; the pool hears of it through :meth:`moved`.

    Pending chunks are in neither list, so nothing can take them.
    """

    def __init__(self, size: int, may_evict: Callable[[Chunk], bool], evict: Callable[[Chunk], None]) -> None:
        self.size = size
        self._absent: deque[Chunk] = deque(range(size))
        self._ready: OrderedDict[Chunk, None] = OrderedDict()
        self._may_evict = may_evict
        self._evict = evict

    def take(self) -> Chunk | None:
        """An absent chunk, after an eviction if there is none; ``None`` where all are pending or pinned.

        The caller makes it pending at once.
        """
        if not self._absent:
            victim = next((c for c in self._ready if self._may_evict(c)), None)
            if victim is None:
                return None
            self._evict(victim)
        return self._absent[0]

    def touch(self, chunk: Chunk) -> None:
        """A ready chunk has been of use."""
        if chunk in self._ready:
            self._ready.move_to_end(chunk)

    def moved(self, chunk: Chunk, state: str) -> None:
        """The lifecycle of a chunk has gone to a state."""
        match state:
            case "pending":
                self._absent.remove(chunk)
            case "ready":
                self._ready[chunk] = None
                self._ready.move_to_end(chunk)
            case "absent":
                self._ready.pop(chunk, None)
                self._absent.append(chunk)

    @property
    def ready(self) -> tuple[Chunk, ...]:
        """Ready chunks, the next to be evicted first."""
        return tuple(self._ready)

    @property
    def absent(self) -> tuple[Chunk, ...]:
        """Absent chunks, the next to be taken first."""
        return tuple(self._absent)
