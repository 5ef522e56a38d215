"""Proves properties for any number of requests, blocks, jobs and workers, and says what backs each proof.

>>> result = run_prove(["no-block-stored-twice-in-flight"], {"store_dedup": "per_step"}, "z3")
>>> result.verdict, result.properties["no-block-stored-twice-in-flight"].actions[-1]
('failed', 'plan_store(request1, block0, chunk1, job1)')
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal

from interlock.proofs.selection import values
from interlock.proofs.smt.ask import Solver
from interlock.proofs.smt.conditions import Condition
from interlock.proofs.smt.induction import givers, proved_ids
from interlock.proofs.smt.outcome import ProvedProperty
from interlock.proofs.smt.proof import Proof
from interlock.proofs.smt.shared import Shared
from interlock.proofs.smt.work import Pool
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Invariant, Witness
from interlock.spec.language.specification import Specification, UnknownName
from interlock.spec.language.system import System
from interlock.spec.modules import Modules, modules, owner, under
from interlock.statemachine.plural import counted

Verdict = Literal["proved", "failed", "inconclusive"]
SolverChoice = Literal["z3", "cvc5", "both"]

PROOFS_AT_ONCE = 3
"""Proofs that hand work to the processes at one time, so that these do not wait for the slow end of one."""

SECONDS_MAX = 600.0
"""Obligations that are not asked by then are unknown: on a machine that does other work, too, most are asked."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a caller may show; ``finished`` is a property that has just been decided."""

    description: str
    completed: int | None = None
    total: int | None = None
    finished: tuple[str, ProvedProperty] | None = None


@dataclass(slots=True)
class ProveResult:
    """Every property asked for, the totals and the verdict over all of them.

    Args:
        not_covered: properties that are checked in scopes only; with the module, where two have the id.
    """

    verdict: Verdict
    reason: str
    properties: dict[str, ProvedProperty]
    not_covered: list[str]
    seconds: float

    @property
    def obligations(self) -> int:
        """Obligations of all properties."""
        return sum(p.obligations for p in self.properties.values())

    @property
    def proved(self) -> int:
        """Those that every solver asked has proved."""
        return sum(p.proved for p in self.properties.values())


def run_prove(
    properties: list[str] | None = None,
    sets: dict[str, str] | None = None,
    solver: SolverChoice = "both",
    progress: Callable[[Progress], None] | None = None,
    preset: str = "interlock",
    *,
    trace_dir: Path | None = None,
    spec: Specification | None = None,
) -> ProveResult:
    """Prove by induction; a failed proof comes with two states and, if one is found, a run.

    Args:
        properties: default: all that have a proof.
        sets: switch values that replace the preset's.
        trace_dir: where to write ``prove.PROPERTY.jsonl`` for each run.
        spec: this module only; default: all.

    Raises:
        UnknownName: a preset, switch, value or property that the specification lacks, or a
            property without a proof.
    """
    started = time.monotonic()
    specs: Modules = modules() if spec is None else (spec,)
    named = {p: owner(specs, "property", p) for p in properties or ()}
    systems = [
        elaborate(m, switches)
        for m, switches in values(specs, preset, sets or {}, named=bool(properties)).values()
        if not named or any(m is o for o in named.values())
    ]
    with_proof = {s.spec.name: proved_ids(s) for s in systems}
    for p, m in named.items():
        if m.property(p).id not in with_proof.get(m.name, ()):
            raise UnknownName("property with a proof", p, [i for ids in with_proof.values() for i in ids])
    solvers: tuple[Solver, ...] = ("z3", "cvc5") if solver == "both" else (solver,)
    deadline = time.time() + SECONDS_MAX
    outcomes: dict[str, ProvedProperty] = {}

    wanted = {
        s.spec.name: _with_givers(s, [s.spec.property(p).id for p, m in named.items() if m is s.spec])
        if named
        else with_proof[s.spec.name]
        for s in systems
    }
    lock = Lock()

    def report(description: str, completed: int, total: int) -> None:
        if progress is not None:
            with lock:
                progress(Progress(description, completed, total))

    # The pool is left first: an interrupted run does not wait for proofs that are not begun.
    with ThreadPoolExecutor(PROOFS_AT_ONCE) as threads, Pool([s for s in systems if wanted[s.spec.name]]) as pool:
        begun: dict[str, Future[ProvedProperty]] = {}
        for system in systems:
            own = wanted[system.spec.name]
            if not own:
                continue
            desk, shared = pool.desk(system, own), Shared()
            for p in own:
                begun[p] = threads.submit(Proof(system, p, solvers, desk, deadline, report, shared).outcome)
        owners = {p: s for s in systems for p in wanted[s.spec.name]}
        for p, future in begun.items():
            outcome = future.result()
            _add_given(outcome, {q: begun[q].result() for q in givers(owners[p], p)})
            _write_trace(p, outcome, under(owners[p].spec, preset) or preset, trace_dir)
            outcomes[p] = outcome
            if progress is not None:
                with lock:
                    progress(Progress(f"{p}: {outcome.status}", finished=(p, outcome)))
    verdict, reason = _judge(outcomes)
    open_ = named_apart([(s.spec, not_covered(s.spec, with_proof[s.spec.name])) for s in systems])
    return ProveResult(verdict, reason, outcomes, open_, round(time.monotonic() - started, 3))


def _with_givers(system: System, ids: Iterable[str]) -> list[str]:
    """Properties, each with those whose proofs give it something before it."""
    return list(dict.fromkeys(q for p in ids for q in (*givers(system, p), p)))


def _add_given(outcome: ProvedProperty, givers_: Mapping[str, ProvedProperty]) -> None:
    """What is given counts only if the proof that gives it does."""
    if outcome.status != "proved":
        return
    for q, giver in givers_.items():
        what = f"what it takes from the proof of {q} is proved there"
        condition = Condition("holds", what) if giver.any_size else Condition("unknown", f"{q} is not proved")
        outcome.conditions = {**outcome.conditions, f"given:{q}": condition}
        outcome.any_size = outcome.any_size and giver.any_size


def not_covered(spec: Specification, with_proof: Iterable[str]) -> list[str]:
    """Properties that are checked in scopes only: not proved, and no lemma of a proof."""
    covered: set[str] = set()
    for p in map(spec.property, with_proof):
        covered |= {p.id, *(p.proof if isinstance(p, Invariant) else ())}
    return [p.id for p in spec.properties if p.id not in covered and not isinstance(p, Witness)]


def named_apart(listed: Sequence[tuple[Specification, Iterable[str]]]) -> list[str]:
    """Ids of several modules, each once; where more than one module has it, with those that are meant."""
    having = Counter(p.id for spec, _ in listed for p in spec.properties)
    meant: dict[str, list[str]] = {}
    for spec, ids in listed:
        for p in ids:
            meant.setdefault(p, []).append(spec.name)
    return [p if having[p] == 1 else f"{p} (in {' and '.join(names)})" for p, names in meant.items()]


def _write_trace(property_id: str, outcome: ProvedProperty, preset: str, trace_dir: Path | None) -> None:
    if outcome.run is None or trace_dir is None:
        return
    path = trace_dir / f"prove.{property_id}.jsonl"
    outcome.run.write(path, preset)
    outcome.trace = str(path)


def _judge(outcomes: dict[str, ProvedProperty]) -> tuple[Verdict, str]:
    """A disagreement beats everything; failed beats inconclusive; a proof with a condition open is no pass."""
    for p, o in outcomes.items():
        if o.disagreements:
            return "inconclusive", f"the solvers disagree on {p}: {o.disagreements[0]}"
    for p, o in outcomes.items():
        if o.status == "failed":
            what = o.cti.obligation if o.cti is not None else next(iter(o.undecided), "an obligation")
            run = "no run reaches it within the bounds"
            if o.run is not None:
                run = f"{counted(len(o.actions), 'step')} to a state that breaks {o.run.property_id}"
            return "failed", f"{p}: {what} fails; {run}"
    for p, o in outcomes.items():
        if o.undecided:
            return "inconclusive", f"{p}: unknown: {counted(len(o.undecided), 'answer')}, the first {o.undecided[0]}"
        if o.not_met:
            name, condition = next(iter(o.not_met.items()))
            return "inconclusive", f"{p}: {name} {condition.status}: {condition.detail}"
    if not outcomes:
        return "inconclusive", "no property has a proof"
    return (
        "proved",
        f"{counted(len(outcomes), 'property', 'properties')} for any size,"
        f" {counted(sum(o.obligations for o in outcomes.values()), 'obligation')}",
    )
