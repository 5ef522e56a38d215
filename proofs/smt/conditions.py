"""What else must be true before a proof counts for any size: it says something, and about this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import z3

from interlock.proofs.smt.agreement import ENABLED_MIN, Agreement
from interlock.proofs.smt.ask import Answer, Solver
from interlock.proofs.smt.bounded import invariant_target
from interlock.proofs.smt.cti import Cti
from interlock.proofs.smt.defined import guard_defined
from interlock.proofs.smt.encode import Encoding
from interlock.proofs.smt.induction import Induction, invariant
from interlock.proofs.smt.owed import Claim, primed, step_claims
from interlock.proofs.smt.runs import SECONDS_MAX, Run, explore_run, find_run
from interlock.proofs.smt.small import Small
from interlock.proofs.smt.values import Expr
from interlock.spec.language import terms as T
from interlock.spec.language.properties import Ground
from interlock.spec.language.sorts import INT
from interlock.spec.language.stratify import cycle, stratification
from interlock.spec.language.system import System

MODEL_TIMEOUT_S = 4.0


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, with what was found."""

    status: Literal["holds", "fails", "unknown"]
    detail: str


def no_sort_bounded(encoding: Encoding) -> Condition:
    """Every sort is uninterpreted, and all that is said of its size is that it is at least 1."""
    values = encoding.values
    bounded = [s.name for s in encoding.system.spec.sorts if values.sort(s.name).kind() != z3.Z3_UNINTERPRETED_SORT]
    said = {str(z3.simplify(s)) for s in encoding.sizes()}
    if bounded or said != {f"{s} >= 1" for s in map(str, values.sizes.values())}:
        return Condition("fails", f"bounded: {', '.join(bounded) or sorted(said)}")
    return Condition("holds", f"{len(values.sizes)} sorts, of each is said only that it has an element")


def fragment(system: System) -> Condition:
    """Whether the decidable fragment guarantees an answer; outside it an answer that came still counts."""
    way = cycle(stratification(system.spec, system.switches))
    reasons = ([f"sorts go round ({' -> '.join(way)})"] if way else []) + (
        ["counters"] if any(v.result == INT for v in system.variables) else []
    )
    if not reasons:
        return Condition("holds", "in the decidable fragment")
    return Condition(
        "holds", f"outside the decidable fragment, by {' and '.join(reasons)}: unknown would be inconclusive"
    )


def start_satisfiable(encoding: Encoding, invariants: tuple[Claim, ...]) -> Condition:
    """Some state has the initial values; the axioms about counts allow it."""
    claims = (*encoding.start, *encoding.ranges, *invariants)
    sizes = model_sizes(encoding, [encoding.formula(c.term) for c in claims], [])
    return _satisfiable(sizes, "no model of the initial values was found")


def premise_satisfiable(encoding: Encoding, invariants: tuple[Claim, ...], premise: T.Term | None) -> Condition:
    """Some inductive state satisfies the premise of the property."""
    if premise is None:
        return Condition("fails", "the property names no premise, so it may hold because nothing happens")
    claims = (*encoding.ranges, *invariants, Claim("premise", premise))
    sizes = model_sizes(encoding, [encoding.formula(c.term) for c in claims], [])
    return _satisfiable(sizes, "no model of the premise was found")


def action_has_successor(encoding: Encoding, invariants: tuple[Claim, ...], action: str) -> Condition:
    """From some inductive state the action leads to an inductive state, with everything defined and in range."""
    step, system = encoding.step(action), encoding.system
    before = (*encoding.ranges, *invariants)
    owed = (Claim("domain:guard", guard_defined(system, step.step.guard)), *step_claims(system, step.step))
    after = tuple(primed(c) for c in before)
    claims = [encoding.formula(c.term, step) for c in (*before, *owed, *after)]
    axioms = encoding.count_axioms(step)
    sizes = model_sizes(encoding, [*(c.formula for c in step.guard), *claims], axioms, step.params)
    return _satisfiable(sizes, "no inductive state with a successor was found")


def model_sizes(
    encoding: Encoding, formulas: Sequence[Expr], axioms: Sequence[Expr], constants: Sequence[Expr] = ()
) -> dict[str, int] | None:
    """Sizes at which the formulas for any size, axioms about counts included, have a model.

    Args:
        constants: a step's parameters, which are elements too.
    """
    values = encoding.values
    names = [s.name for s in encoding.system.spec.sorts]
    for chosen in sorted(product((1, 2), repeat=len(names)), key=sum)[: len(names) + 1]:
        sizes = dict(zip(names, chosen, strict=True))
        small = Small(values, sizes)
        solver = z3.Solver(ctx=values.ctx)
        solver.set("timeout", int(MODEL_TIMEOUT_S * 1000))
        solver.add([values.sizes[name] == size for name, size in sizes.items()])
        solver.add(small.nothing_else(constants))
        solver.add([small.unrolled(f) for f in (*formulas, *(axioms or encoding.count_axioms()))])
        if solver.check() == z3.sat:
            return sizes
    return None


def without(system: System, ground: Ground) -> System:
    """The system without one conjunct of one guard."""
    steps = (
        replace(s, guard=tuple(c for c in s.guard if c.id != ground.conjunct)) if s.name == ground.action else s
        for s in system.steps
    )
    return replace(system, steps=tuple(steps))


@dataclass(frozen=True, slots=True)
class GroundFound:
    """What happens without a conjunct that the proof rests on.

    Args (of the object):
        gone: why there is no such conjunct to drop, if there is none.
    """

    ground: Ground
    cti: Cti | None
    run: Run | None
    gone: str = ""

    def condition(self) -> Condition:
        """Holds if the proof fails without it and a run shows why it must be there."""
        if self.gone:
            return Condition("unknown", self.gone)
        if self.cti is None:
            return Condition("fails", "the proof does not need it: no counterexample to induction without it")
        if self.run is None:
            return Condition(
                "unknown", f"{self.cti.action} breaks the induction, but no run was found within {SECONDS_MAX:.0f} s"
            )
        length, place = len(self.run.actions), self.run.place
        return Condition("holds", f"without it {self.cti.action} breaks the induction, and {length} steps do ({place})")


def judge_ground(system: System, property_id: str, invariants: tuple[Claim, ...], ground: Ground) -> GroundFound:
    """Drop the conjunct: find a counterexample to induction and a run to a violation of the property."""
    step = next((s for s in system.steps if s.name == ground.action), None)
    if step is None:
        why = f" ({system.never[ground.action]} is false)" if ground.action in system.never else ""
        return GroundFound(ground, None, None, f"there is no {ground.action} under these switch values{why}")
    if all(ground.conjunct != c.id for c in step.guard):
        return GroundFound(ground, None, None, f"{ground.conjunct} is always true under these switch values")
    (target,) = (c for c in invariants if c.name == property_id)
    cti = Induction(without(system, ground), invariants).counterexample(f"{ground.action} / {target.name}")
    if cti is None:
        return GroundFound(ground, None, None)
    actions, slices = frozenset({ground.action}), invariant(system, property_id).slices

    def change(s: System) -> System:
        return without(s, ground)

    run = explore_run(system, invariant_target(target), actions=actions, slices=slices, change=change)
    if run is None:
        targets = [invariant_target(target)]
        run = find_run(system, targets, actions=actions, needed=cti.scope, slices=slices, change=change)
    return GroundFound(ground, cti, run if run is not None and run.property_id == property_id else None)


def confirmed(said: Mapping[Solver, Answer]) -> Condition:
    """A second solver, which shares no code with the first, proves every obligation too."""
    proved = [s for s, answer in said.items() if answer == "proved"]
    if len(said) < 2:
        return Condition("unknown", f"only {', '.join(said)} was asked: a second solver must confirm")
    if len(proved) < len(said):
        return Condition("unknown", ", ".join(f"{s}: {answer}" for s, answer in said.items()))
    return Condition("holds", f"{' and '.join(proved)} prove every obligation")


def agreement_condition(found: Agreement) -> Condition:
    """The formulas at two elements per sort have exactly the explorer's successors."""
    if found.difference is not None:
        return Condition("fails", found.difference)
    if found.rare:
        return Condition("unknown", f"enabled in fewer than {ENABLED_MIN} states: {', '.join(found.rare)}")
    violations = ", ".join(f"{n} {kind} violations" for kind, n in sorted(found.violations.items()))
    return Condition(
        "holds", f"{found.states:,} states ({found.reachable:,} reachable), {found.transitions:,} steps, {violations}, "
        f"{found.axioms:,} axiom values, {found.spot_checks} steps put to z3 itself"
    )  # fmt: skip


def _satisfiable(sizes: dict[str, int] | None, problem: str) -> Condition:
    if sizes is None:
        return Condition("unknown", problem)
    return Condition("holds", f"a model at {', '.join(f'{s}={n}' for s, n in sizes.items())}")
