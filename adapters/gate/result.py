"""What the gate says: findings, what was judged, and what never came into play."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Side = Literal["connector", "scheduler", "gate"]
GateVerdict = Literal["clean", "findings", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One property that was broken, in the shortest scenario that was found.

    Args:
        id: stable over seeds and releases: the property and the event at which it broke.
        rule: the property's source in the contract.
        side: whose fault it is; ``gate``: the model or the harness does not fit what was seen.
        steps: ``schedule()`` calls of the scenario.
        scenario: the operations, as ``--format json`` shows them, one per line of a report.
        told: the observed events in words, one per line.
        repro: the command that shows it again.
    """

    id: str
    property: str
    rule: str | None
    side: Side
    summary: str
    steps: int
    file: str | None
    line: int | None
    trace: str | None
    repro: str
    scenario: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


@dataclass(slots=True)
class GateResult:
    """The verdict over all scenarios of a run."""

    verdict: GateVerdict
    reason: str
    connector: str
    vllm: str | None
    seed: int
    profile: str
    scenarios: int = 0
    steps: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    never_exercised: list[str] = field(default_factory=list)
    not_expressible: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is; ``finished`` is a finding that has just been shrunk."""

    description: str
    completed: int | None = None
    total: int | None = None
    finished: Finding | None = None
