"""Whether a log agrees with itself about allocations: which use of a block an event is about."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.statemachine.trace import TraceEvent
from interlock.statemachine.trace.vocabulary import Reading

BEGINS = "allocate"
"""The event that begins an allocation."""
EARLIER = frozenset({"plan_store"})
"""Events that may mean an earlier one: a store at the finish is of the allocation that its request had."""
SORT = "block"


class Allocations:
    """The numbers that a log gives to the allocations of each block, as far as it gives any.

    From one ``allocate`` to the next every event names the same number, and each allocation has a
    greater one than those before it.
    """

    def __init__(self) -> None:
        self._seen: dict[str, list[int]] = {}
        self._now: dict[str, int | None] = {}

    def conflict(self, event: TraceEvent, readings: Iterable[Reading]) -> str | None:
        """What an event says that the events before it rule out; ``None`` if it agrees with them."""
        block, number = _block(readings), event.allocation
        if block is None:
            return None
        seen, now = self._seen.setdefault(block, []), self._now.get(block)
        if event.event == BEGINS:
            if number is not None and seen and number <= seen[-1]:
                return f"begins allocation {number} of block {block}, which has had {seen[-1]}"
            self._begin(block, number)
            return None
        if number is None or number == now:
            return None
        if now is None:
            if event.event not in EARLIER and number not in seen:
                self._begin(block, number)
            return None
        if event.event in EARLIER and number in seen:
            return None
        return f"names allocation {number} of block {block}, which is in allocation {now}"

    def _begin(self, block: str, number: int | None) -> None:
        self._now[block] = number
        if number is not None:
            self._seen[block].append(number)


def _block(readings: Iterable[Reading]) -> str | None:
    """The block that an event names, if it names one."""
    for r in readings:
        for p in r.step.params:
            if p.sort == SORT and p.name in r.named:
                return str(r.named[p.name])
    return None
