"""Checks slices of the specification by exploration, and says what was checked.

>>> result = run_check(slices=["store"], properties=["computed-and-kept-is-served"])
>>> result.verdict
'holds'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from interlock.proofs.choice import DEVICES, ENGINES, explore_with
from interlock.proofs.explorer.program import Program
from interlock.proofs.explorer.result import Counterexample, Exploration, PropertyVerdict
from interlock.proofs.explorer.search import Limits
from interlock.proofs.explorer.search import Progress as SearchProgress
from interlock.proofs.explorer.size import require_buildable, require_sizes
from interlock.proofs.explorer.trace import write_counterexample
from interlock.proofs.selection import changed, choose, concerned
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Witness
from interlock.spec.language.specification import Specification, UnknownName
from interlock.spec.modules import modules, under
from interlock.statemachine.plural import counted

Verdict = Literal["holds", "violated", "inconclusive"]
LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Progress:
    """What a caller may show: where the check is; ``finished`` is a run that has just ended."""

    description: str
    completed: int | None = None
    total: int | None = None
    finished: Run | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A property that fails: the actions of a counterexample, where its cycle starts, and the trace, if written.

    ``says`` is what the property says, in words; empty for what is checked of every variable and update.
    """

    property: str
    length: int
    trace: str | None
    actions: list[str]
    cycle_from: int | None = None
    says: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One slice at one scope under one assignment of the switches."""

    slice: str
    scope: dict[str, int]
    switches: dict[str, str]
    exhaustive: bool
    states: int
    transitions: int
    depth: int
    seconds: float
    properties: dict[str, PropertyVerdict]
    violations: list[Violation]
    never_enabled: list[str]
    engine: str = "plain"
    module: str = ""
    quiescent: int | None = None
    usual: bool = True
    """Under the values of the first preset."""
    reason: str = ""
    """Why it did not reach every state; empty if it did."""


@dataclass(slots=True)
class CheckResult:
    """The runs, the totals and the verdict over all of them."""

    verdict: Verdict
    reason: str
    runs: list[Run] = field(default_factory=list)

    @property
    def states(self) -> int:
        return sum(r.states for r in self.runs)

    @property
    def transitions(self) -> int:
        return sum(r.transitions for r in self.runs)

    @property
    def states_per_second(self) -> float:
        seconds = sum(r.seconds for r in self.runs)
        return round(self.states / seconds, 1) if seconds else 0.0


def run_check(
    *,
    slices: list[str] | None = None,
    scope: dict[str, int] | None = None,
    preset: str = "interlock",
    sets: dict[str, str] | None = None,
    properties: list[str] | None = None,
    engine: str = "auto",
    device: str = "cpu",
    symmetry: bool = False,
    memory: int | None = None,
    quick: bool = False,
    change: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    trace_dir: Path | None = None,
    spec: Specification | None = None,
    limits: Limits = LIMITS,
) -> CheckResult:
    """Explore slices and judge their properties.

    Args:
        slices: default: the default slices that cover one of ``properties``.
        sets: switch values; without slices or properties, only modules with one of these switches are checked.
        scope: sizes that replace the slices' own.
        engine: ``plain``, ``vectorised``, or ``auto``: whichever suits the size and the device.
        device: ``cpu`` or ``cuda``, which is for the vectorised engine.
        symmetry: visit one state for all that differ in the names of sort elements only (vectorised
            engine); verdicts are the same, counts are of orbits.
        memory: bytes that the vectorised engine's states may take; replaces that of ``limits``.
        quick: the small slices only, a second or two each.
        change: a fault to put into the modules that have its action, as ``KIND:ACTION:NAME`` (see
            :mod:`interlock.proofs.mutation.changes`).
        trace_dir: where to write ``SLICE.PROPERTY.jsonl`` for each violation.
        spec: this module only; default: all.

    Raises:
        UnknownName: a slice, sort, preset, switch, value, property or action that no module has.
        NoDevice: there is no CUDA device.
        ScopeTooLarge: a slice cannot be built at these sizes; nothing was explored.
    """
    for kind, name, known in (("engine", engine, ENGINES), ("device", device, DEVICES)):
        if name not in known:
            raise UnknownName(kind, name, list(known))
    specs = modules() if spec is None else (spec,)
    chosen = choose(
        specs if change is None else changed(concerned(specs, slices, properties), change),
        slices=slices,
        scope=scope,
        preset=preset,
        sets=sets,
        properties=properties,
        quick=quick,
    )
    require_sizes(scope or {})
    systems = [elaborate(c.spec, c.switches, c.slice, c.scope, c.properties) for c in chosen]
    for system in systems if scope else ():
        require_buildable(system)
    limits = limits if memory is None else replace(limits, memory=memory)
    runs: list[Run] = []
    for number, (c, system) in enumerate(zip(chosen, systems, strict=True)):

        def report(p: SearchProgress, number: int = number) -> None:
            if progress is not None:
                off = "" if chosen[number].slice.default else ", off by default"
                text = f"slice {p.slice}{off}: depth {p.depth}, {p.states:,} states, frontier {p.frontier:,}"
                progress(Progress(text, number, len(chosen)))

        # Whoever names properties wants their counterexamples, not the rest of the graph.
        stop_at = [p.id for p in c.properties if not isinstance(p, Witness)] if properties else []
        found = explore_with(engine, device, system, limits=limits, progress=report, stop_at=stop_at, symmetry=symmetry)
        run = _as_run(found, under(c.spec, preset) or preset, trace_dir)
        runs.append(run)
        if progress is not None:
            progress(Progress(f"slice {c.slice.name} done", number + 1, len(chosen), run))
    verdict, reason = _judge(runs, {c.spec.name: len(c.spec.properties) for c in chosen})
    return CheckResult(verdict, reason, runs)


def _as_run(found: Exploration, preset: str, trace_dir: Path | None) -> Run:
    system = found.program.system
    says = {p.id: p.doc for p in system.properties}
    violations: list[Violation] = []
    for c in sorted(found.counterexamples, key=lambda c: c.length):
        trace: Path | None = None
        if trace_dir is not None:
            trace = trace_dir / f"{system.slice.name}.{c.property_id.replace(':', '-')}.jsonl"
            write_counterexample(trace, found.program, c, preset)
        violations.append(
            Violation(
                property=c.property_id,
                length=c.length,
                trace=None if trace is None else str(trace),
                actions=actions(found.program, c),
                cycle_from=c.loop_from,
                says=says.get(c.property_id, ""),
            )
        )
    for property_id, verdict in found.verdicts.items():
        if verdict == "violated" and not any(v.property == property_id for v in violations):
            # A witness that no state satisfies has no counterexample: the whole graph is the evidence.
            violations.append(Violation(property_id, 0, None, [], says=says.get(property_id, "")))
    return Run(
        slice=system.slice.name,
        scope=dict(system.scope),
        switches=dict(system.switches),
        exhaustive=found.exhaustive,
        states=found.states,
        transitions=found.transitions,
        depth=found.depth,
        seconds=round(found.seconds, 3),
        properties=found.verdicts,
        violations=violations,
        never_enabled=found.never_enabled,
        engine=found.engine,
        module=system.spec.name,
        quiescent=found.quiescent,
        usual=system.spec.is_usual(system.switches),
        reason=found.reason,
    )


def actions(program: Program, found: Counterexample) -> list[str]:
    """The steps of a counterexample as text."""
    return [program.instances[s.instance].text(program.system) for s in found.steps]


def _judge(runs: list[Run], declared: dict[str, int]) -> tuple[Verdict, str]:
    """Violated beats inconclusive beats holds; a run without properties, or cut short, is no pass.

    Args:
        declared: by module, how many properties it has.
    """
    violated = [f"{v.property} in {r.slice}" for r in runs for v in r.violations]
    if violated:
        return "violated", ", ".join(violated)
    # Under other values of the switches less may happen; it is enough if a property says something in some slice.
    said: dict[str, set[str]] = {}
    for r in runs:
        said.setdefault(r.module, set()).update(i for i, v in r.properties.items() if v == "holds")
    for r in runs:
        if not r.properties:
            return "inconclusive", f"slice {r.slice} covers none of the properties"
        vacuous = [i for i, v in r.properties.items() if v == "vacuous" and (r.usual or i not in said[r.module])]
        if vacuous:
            return "inconclusive", f"vacuous in {r.slice}: {', '.join(vacuous)}"
        if not r.exhaustive:
            return "inconclusive", f"slice {r.slice} was not explored to its end: {r.reason}"
    return "holds", f"{_counts(runs, declared)}, every reachable state"


def _counts(runs: list[Run], declared: dict[str, int]) -> str:
    """What was checked, of what there is. A property of a composed module is none of those that it is composed of."""
    judged = len({(r.module, i) for r in runs for i in r.properties})
    return (
        f"{counted(len(runs), 'slice')} of {counted(len(declared), 'module')}, {judged:,} of"
        f" {'its' if len(declared) == 1 else 'their'} {counted(sum(declared.values()), 'property', 'properties')}"
    )
