"""What a run of the conformance suite says: edges covered, why the others are not, and what did not conform."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ConformanceVerdict = Literal["holds", "violated", "inconclusive"]
Kind = Literal["forbidden", "refused"]


@dataclass(slots=True)
class Failure:
    """A way in which the implementation and the specification differ, in a shortest trace that was found.

    Args:
        id: the same for all traces that show it: what kind, at which event, against what.
        kind: ``forbidden``, it did what the specification does not allow; ``refused``, it raised where the
            engine may do what it did.
        told: what was observed, up to the event at fault; of a refused one, with the event that was refused.
        traces: how many traces showed it.
    """

    id: str
    kind: Kind
    slice: str
    event: str
    reason: str
    told: list[str]
    trace: str | None = None
    traces: int = 1


@dataclass(frozen=True, slots=True)
class Uncovered:
    """Edges of one event that are not covered for one reason.

    Args:
        why: in words; empty if nothing explains it.
        example: one of the edges, in the specification's names.
    """

    event: str
    why: str
    edges: int
    example: str


@dataclass(slots=True)
class SliceCoverage:
    """One slice on one implementation.

    Args:
        states: of the slice, ghosts left out; views: sets of states that an observer cannot tell apart.
        edges: classes of edges; expressible: those that a boundary's order can tell.
        traces, events: played and seen.
    """

    slice: str
    scope: dict[str, int]
    preset: str
    states: int
    views: int
    edges: int
    expressible: int
    covered: int
    traces: int
    events: int
    uncovered: list[Uncovered]


@dataclass(slots=True)
class ConformanceResult:
    """The verdict over all slices of a run."""

    verdict: ConformanceVerdict
    reason: str
    connector: str
    vllm: str | None
    edges: int = 0
    covered: int = 0
    slices: list[SliceCoverage] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is; ``finished`` is a slice that has just been played."""

    description: str
    completed: int | None = None
    total: int | None = None
    finished: SliceCoverage | None = None
