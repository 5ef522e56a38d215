"""Whether the entities that an event names exist: a sort whose elements are all given has no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.statemachine.trace import TraceError, TraceEvent
from interlock.statemachine.trace.vocabulary import Reading

Elements = Mapping[str, tuple[str, ...]]
"""By sort, the entities that there are; a sort that is not in it has those that events name."""


def within(elements: Elements, readings: list[Reading], event: TraceEvent, place: str) -> list[Reading]:
    """The readings of an event that name nothing beyond the scope.

    Raises:
        TraceError: all of them do.
    """
    fitting = [r for r in readings if next(_beyond(elements, r), None) is None]
    if readings and not fitting:
        sort, name = next(_beyond(elements, readings[0]))
        have = elements[sort]
        own = have[0] if len(have) == 1 else f"{have[0]} to {have[-1]}"
        raise TraceError(
            place,
            f"{event} names {sort} {name!r}, which is beyond the trace's scope, {sort}={len(have)}",
            f"name one of its own ({own}), or give a larger {sort} in the header's scope",
        )
    return fitting


def _beyond(elements: Elements, r: Reading) -> Iterator[tuple[str, str]]:
    for p in r.step.params:
        if p.name in r.named and p.sort in elements and r.named[p.name] not in elements[p.sort]:
            yield p.sort, r.named[p.name]
