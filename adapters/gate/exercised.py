"""What a scenario has exercised, so that a clean report says what it is clean of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from interlock.adapters.gate.scenario import Operation, sizes_of
from interlock.statemachine.trace import TraceEvent


@dataclass(frozen=True, slots=True)
class Seen:
    """A scenario that was played.

    Args:
        acted: its operations, without those that found nothing to act on.
    """

    pool: str
    acted: Sequence[Operation]
    events: Sequence[TraceEvent]


Kind = Callable[[Seen], bool]
"""Whether something of a kind has happened."""

Kinds = Mapping[str, Kind]


def happened(kinds: Kinds, seen: Seen) -> tuple[str, ...]:
    """The kinds of which a scenario has exercised something."""
    return tuple(name for name, shows in kinds.items() if shows(seen))


def did(operation: str) -> Kind:
    """An operation was done."""
    return lambda seen: any(o["op"] == operation for o in seen.acted)


def saw(*names: str) -> Kind:
    """An event was seen, or an action was recorded, of one of these names."""
    return lambda seen: any(e.event in names or e.action in names for e in seen.events)


def pooled(word: str) -> Kind:
    """It was played in a pool that says so."""
    return lambda seen: word in seen.pool.split(", ")


def several_workers(seen: Seen) -> bool:
    """It was played on several workers."""
    return sizes_of(seen.pool).get("workers", 1) > 1


def failed(plans: str) -> Kind:
    """A job has failed that was planned by this event."""
    return lambda seen: not _jobs(seen, plans).isdisjoint(_jobs(seen, "acknowledge_failure"))


def evicted(seen: Seen) -> bool:
    """A chunk was stored into that had something else ready; that it was evicted for that no event says."""
    ready: set[str] = set()
    writes: dict[str, str] = {}
    for e in seen.events:
        match e.event:
            case "plan_store":
                chunk = _of(e, "chunk", "c")
                if chunk in ready:
                    return True
                writes[_of(e, "job", "j")] = chunk
            case "acknowledge" if (job := _of(e, "job", "j")) in writes:
                ready.add(writes[job])
            case "acknowledge_failure" if (job := _of(e, "job", "j")) in writes:
                ready.discard(writes.pop(job))
            case "reset_cache":
                ready.clear()
                writes.clear()
    return False


def _jobs(seen: Seen, event: str) -> set[str]:
    return {_of(e, "job", "j") for e in seen.events if e.event == event}


def _of(e: TraceEvent, sort: str, parameter: str) -> str:
    return e.args.get(sort) or e.args[parameter]
