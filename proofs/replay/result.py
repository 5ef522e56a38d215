"""What replay says; its fields are those of the command line's document, and a few more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

Verdict = Literal["holds", "violated", "inconclusive"]


@dataclass(frozen=True, slots=True)
class ReplayViolation:
    """A property that is false after an event in every candidate.

    Args:
        event: index of the event in the trace, from 0; step: of the engine, where the trace says it.
        instance: the variables of the property where it is false.
    """

    property: str
    event: int
    step: int | None = None
    instance: tuple[tuple[str, str], ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class FalseConjunct:
    """What stopped the longest prefix: an action that the next event may be, and why it was not possible."""

    action: str
    conjunct: str
    arguments: tuple[str, ...] = ()
    message: str = ""


@dataclass(slots=True)
class ReplayResult:
    """The outcome of a replay.

    Args:
        consumed: events of modelled lifecycles that some behaviour explains; hidden lines and events
            of kinds that are not modelled are passed over.
        stopped: why the rest of the log was not consumed, whatever the verdict; empty if it was.
        hidden_lines: lines of the log that no observer sees, passed over; hidden_steps: taken in between.
        longest_prefix: events, of whatever kind, up to the one that stopped it.
        candidates: states that fit the longest prefix: variables by name, what is not at its default.
        false_conjunct: the one that got furthest; ``false_conjuncts``: all of them.
        violations: properties that are false in every candidate, in the order of events.
        warnings: what a reader should know although it is no verdict (another digest, a property
            that no log can break).
        not_judged: by id, why a property is not judged that is claimed in other slices, or that the trace was
            written for; only the latter makes what would hold inconclusive.
    """

    verdict: Verdict = "holds"
    reason: str = ""
    consumed: int = 0
    events: int = 0
    not_expressible: dict[str, int] = field(default_factory=dict)
    violations: list[ReplayViolation] = field(default_factory=list)
    longest_prefix: int = 0
    candidates: list[dict[str, JsonValue]] = field(default_factory=list)
    false_conjunct: FalseConjunct | None = None
    false_conjuncts: list[FalseConjunct] = field(default_factory=list)
    stopped: str = ""
    hidden_lines: int = 0
    hidden_steps: int = 0
    candidates_max: int = 1
    warnings: list[str] = field(default_factory=list)
    not_judged: dict[str, str] = field(default_factory=dict)
