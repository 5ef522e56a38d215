"""What the gate says: findings, what was judged, and what never came into play."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from interlock.statemachine.plural import counted

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
class ModuleResult:
    """The verdict over the scenarios of one module of the specification.

    Args:
        tests: what was under test.
        exercised: by kind, in how many scenarios something of it has happened.
    """

    module: str
    tests: str
    verdict: GateVerdict = "clean"
    reason: str = ""
    scenarios: int = 0
    steps: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    exercised: dict[str, int] = field(default_factory=dict)
    never_exercised: list[str] = field(default_factory=list)
    not_expressible: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def found(self) -> list[str]:
        """Ids of the findings."""
        return [f.id for f in self.findings]

    def conclude(
        self, cut_short: str, unobserved: str, promised: Iterable[str] = (), tested: Side = "connector"
    ) -> None:
        """Findings beat inconclusive beats clean; a fault of the scheduler or of ours never makes a connector red.

        Args:
            cut_short: why not all scenarios were played.
            unobserved: why some rules could not be checked.
            promised: kinds of which some scenario has to have exercised something.
            tested: the side whose faults are findings of this run.
        """
        idle = [kind for kind in promised if not self.exercised.get(kind)]
        theirs = [f.id for f in self.findings if f.side == tested]
        if theirs:
            cut = f" ({cut_short})" if cut_short else ""
            self.verdict, self.reason = "findings", ", ".join(theirs) + cut
        elif self.findings:
            f = self.findings[0]
            what = "vLLM's scheduler failed" if f.side == "scheduler" else "the model does not explain what was seen"
            self.verdict, self.reason = "inconclusive", f"{what}: {f.summary}"
        elif cut_short or unobserved:
            self.verdict, self.reason = "inconclusive", cut_short or unobserved
        elif not self.rules:
            self.verdict = "inconclusive"
            self.reason = "no scenario exercised a property that was asked for"
        elif idle:
            self.verdict = "inconclusive"
            self.reason = f"{counted(self.scenarios, 'scenario')}, and none with {', '.join(idle)}"
        else:
            played = counted(self.scenarios, "scenario")
            self.reason = f"{played} broke none of {counted(len(self.rules), 'property', 'properties')}"


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
    modules: list[ModuleResult] = field(default_factory=list)


def summed(result: GateResult, modules: Sequence[ModuleResult]) -> None:
    """Put what came of each module into the result of the run."""
    result.modules = list(modules)
    for m in modules:
        result.scenarios += m.scenarios
        result.steps += m.steps
        result.rules |= m.rules
        result.never_exercised += [n for n in m.never_exercised if n not in result.never_exercised]
        for name, n in m.not_expressible.items():
            result.not_expressible[name] = result.not_expressible.get(name, 0) + n
        result.findings += m.findings


def conclude(modules: Sequence[ModuleResult]) -> tuple[GateVerdict, str]:
    """Findings of one module beat what is inconclusive of another, and that beats clean."""
    order: tuple[GateVerdict, ...] = ("findings", "inconclusive", "clean")
    for verdict in order:
        reasons = [
            m.reason if len(modules) == 1 else f"{m.module}: {m.reason}" for m in modules if m.verdict == verdict
        ]
        if reasons:
            return verdict, "; ".join(reasons)
    raise ValueError("no module was judged")


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is; ``finished`` is a finding that has just been shrunk."""

    description: str
    completed: int | None = None
    total: int | None = None
    finished: Finding | None = None
