"""How long a request is put off for an item: counted from the first no, whatever transfers come and go (R-66).

Each item has its own time: what is asked for later, or has left the pool and comes again, puts the request off anew.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

Clock = Callable[[], float]
"""Seconds, or schedules, or whatever a deadline is counted in; never goes back."""

Held = tuple[str, str]
"""A request and an item that it is put off for."""


class Deadlines:
    """When the patience of each request with each item ends.

    Args:
        limit: from the first no to the end, in units of the clock.

    Raises:
        ValueError: the limit is no number, or below 0; or the clock cannot be asked.
    """

    def __init__(self, limit: float, clock: Clock) -> None:
        if not isinstance(limit, int | float) or isinstance(limit, bool) or not limit >= 0:
            raise ValueError(f"deadline is {limit!r}; give units of the clock, at least 0")
        if not callable(clock):
            raise ValueError(f"clock is {clock!r}; give what says the time when it is called, as time.monotonic")
        self._limit, self._clock = limit, clock
        self._ends: dict[str, dict[str, float]] = {}

    def put_off(self, request: str, item: str) -> float:
        """The answer was no, for want of this item; the first such answer counts. When the patience ends."""
        return self._ends.setdefault(request, {}).setdefault(item, self._clock() + self._limit)

    def spent(self, request: str, item: str) -> bool:
        """Whether the request has waited for the item as long as it may."""
        end = self._ends.get(request, {}).get(item)
        return end is not None and self._clock() >= end

    def answered(self, request: str) -> None:
        """The answer was yes: the next no is a first one again, but what is spent stays spent."""
        if request in self._ends:
            now = self._clock()
            self._ends[request] = {item: end for item, end in self._ends[request].items() if end <= now}

    def forget(self, request: str) -> None:
        """The request has ended."""
        self._ends.pop(request, None)


class QueuedDeadlines(Deadlines):
    """Says by itself whose time is up, to whoever asks again and again: until then it keeps what was forgotten."""

    def __init__(self, limit: float, clock: Clock) -> None:
        super().__init__(limit, clock)
        self._queue: list[tuple[float, Held]] = []
        self._queued: set[Held] = set()

    def put_off(self, request: str, item: str) -> float:
        """See the base class."""
        end, held = super().put_off(request, item), (request, item)
        if held not in self._queued:
            self._queued.add(held)
            heapq.heappush(self._queue, (end, held))
        return end

    def due(self) -> Iterator[Held]:
        """Those whose time is up and that were not forgotten, each once until it is put off again."""
        now = self._clock() if self._queue else 0.0
        while self._queue and self._queue[0][0] <= now:
            _, held = heapq.heappop(self._queue)
            end = self._ends.get(held[0], {}).get(held[1])
            if end is not None and end > now:  # it was answered, and put off anew
                heapq.heappush(self._queue, (end, held))
                continue
            self._queued.discard(held)
            if end is not None:
                yield held
