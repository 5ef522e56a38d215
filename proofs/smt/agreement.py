"""Agreement: the formulas that are proved about, and the explorer, are one machine.

The formulas are evaluated at two elements per sort on type-correct states, half reachable and half
random, and must give exactly the explorer's successors, violations included. Every axiom about
counts must be true with true counts on the steps taken. A few states are put to z3 itself.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import z3

from interlock.proofs.explorer.layout import UNDEFINED, State
from interlock.proofs.explorer.program import Fault, Instance, Program, ScopeExceeded
from interlock.proofs.smt.encode import Encoding, StepFormulas
from interlock.proofs.smt.formulas import Formulas, Outcome
from interlock.proofs.smt.owed import Claim, undefined_at_start
from interlock.proofs.smt.samples import Sampler
from interlock.proofs.smt.values import Expr
from interlock.spec.language.sorts import BOOL, INT
from interlock.spec.language.system import System

STATES = 10_000
ENABLED_MIN = 100
SPOT_CHECKS = 36
DRAWS_MAX = 30
"""So often a random state is drawn again until a rare action is enabled in it."""
EXAMPLES_MAX = 50
"""So many states are kept for each action in which it is enabled: random ones are drawn near them."""
Judge = Callable[[State], bool]


@dataclass(frozen=True, slots=True)
class Agreement:
    """What was compared, and the first difference if there is one.

    Args:
        enabled: per action in how many states it was enabled.
        inductive: actions of which a step was seen from one state in which all invariants are true,
            as the formulas have them, to another; that is a model of both.
        violations: per kind (``range``, ``domain``) how many steps both sides call a violation.
        axioms: evaluations of count axioms.
        spot_checks: steps that z3 itself was asked about.
    """

    states: int
    reachable: int
    scope: dict[str, int]
    transitions: int
    enabled: dict[str, int]
    inductive: frozenset[str]
    violations: dict[str, int]
    axioms: int
    spot_checks: int
    difference: str | None
    seconds: float

    @property
    def rare(self) -> list[str]:
        """Actions that were enabled in too few states to say anything."""
        return [a for a, n in self.enabled.items() if n < ENABLED_MIN]


@dataclass(slots=True)
class Comparison:
    """Compares the formulas of an encoding with the explorer's program of the same system."""

    program: Program
    encoding: Encoding
    invariants: tuple[Claim, ...] = ()
    formulas: Formulas = field(init=False)
    enabled: Counter[str] = field(init=False, default_factory=Counter)
    inductive: set[str] = field(init=False, default_factory=set)
    violations: Counter[str] = field(init=False, default_factory=Counter)
    transitions: int = field(init=False, default=0)
    examples: dict[str, list[State]] = field(init=False, default_factory=dict)
    _steps: list[tuple[State, Instance, State]] = field(init=False, default_factory=list)
    _judges: list[tuple[str, Judge, Judge]] = field(init=False)

    def __post_init__(self) -> None:
        self.formulas = Formulas(self.encoding, self.program.layout, self.program.instances)
        self._judges = [
            (c.name, self.program.predicate(c.term), self.formulas.predicate(c.term)) for c in self.invariants
        ]

    def initial_difference(self) -> str | None:
        """The first initial value that the explorer's initial state does not have."""
        (initial,) = self.program.initial_states()
        for c in (*self.encoding.start, *undefined_at_start(self.encoding.system)):
            if not self.formulas.predicate(c.term)(initial):
                return f"{c.name} is false in the explorer's initial state"
        return None

    def difference(self, state: State) -> str | None:
        """How the two sides differ in ``state``; ``None`` if they agree."""
        theirs = dict(self.program.successors(state))
        ours = dict(self.formulas.successors(state))
        seen: set[str] = set()
        for number in sorted(theirs.keys() | ours.keys()):
            instance = self.program.instances[number]
            problem = self._judge(theirs.get(number), ours.get(number))
            if problem is not None:
                facts = ", ".join(
                    f"{k}={v}" for k, v in self.program.layout.decode(state).items() if v not in ("false", "0")
                )
                return f"{instance.text(self.program.system)}: {problem}; in {facts}"
            outcome = theirs[number]
            if isinstance(outcome, tuple):
                self.transitions += 1
                self._keep(state, instance, outcome)
                if instance.step.name not in self.inductive and self._is_inductive(state, outcome):
                    self.inductive.add(instance.step.name)
            elif isinstance(outcome, Fault):
                self.violations[_kind(outcome)] += 1
            if not isinstance(outcome, Fault) or _kind(outcome) == "range":
                seen.add(instance.step.name)
        self.enabled.update(seen)
        for action in seen:
            kept = self.examples.setdefault(action, [])
            if len(kept) < EXAMPLES_MAX:
                kept.append(state)
        return next((f"{name} has different values" for name in self._judged_differently(state)), None)

    def _is_inductive(self, *states: State) -> bool:
        """Whether all invariants are true, by the formulas, and defined."""
        try:
            return all(theirs(s) and ours(s) for s in states for _, theirs, ours in self._judges)
        except Fault:
            return False

    def _judged_differently(self, state: State) -> Iterator[str]:
        for name, theirs, ours in self._judges:
            try:
                value = theirs(state)
            except Fault:
                continue  # where an invariant is not defined is an obligation of its own
            if value != ours(state):
                yield name

    def false_axiom(self) -> tuple[int, str | None]:
        """Evaluates the axioms about counts on steps seen; how many, and the first that is false."""
        count = 0
        for state, instance, _ in self._steps:
            for axiom, value in self.formulas.axioms(instance, state):
                count += 1
                if not value:
                    return count, f"axiom about counts is false in {instance.text(self.program.system)}: {axiom}"
        return count, None

    def spot_check(self, count: int) -> tuple[int, str | None]:
        """Asks z3 itself about steps seen: the guard holds there, and the post state is this and no other."""
        chosen = random.Random(0).sample(self._steps, min(count, len(self._steps)))
        for n, (state, instance, after) in enumerate(chosen, start=1):
            if not _z3_agrees(self.encoding, self.program, state, instance, after):
                return n, f"z3 has another successor for {instance.text(self.program.system)}"
        return len(chosen), None

    def _keep(self, state: State, instance: Instance, after: State) -> None:
        if self.transitions % 97 == 0 and len(self._steps) < 400:
            self._steps.append((state, instance, after))

    @staticmethod
    def _judge(theirs: State | Fault | ScopeExceeded | None, ours: Outcome | None) -> str | None:
        if isinstance(theirs, Fault):
            kind = _kind(theirs)
            if ours is None or isinstance(ours, tuple):
                return f"a violation ({theirs.message}) for the explorer, none for the formulas"
            return (
                None if kind in ours else f"a violation of {kind} for the explorer, of {sorted(ours)} for the formulas"
            )
        if isinstance(ours, frozenset):
            return f"a violation of {sorted(ours)} for the formulas, none for the explorer"
        if isinstance(theirs, ScopeExceeded):
            return None if ours is not None else f"{theirs} for the explorer, disabled for the formulas"
        if (theirs is None) != (ours is None):
            who = "the formulas" if theirs is None else "the explorer"
            return f"enabled for {who} only"
        return None if theirs == ours else "different successors"


def check_agreement(
    system: System, invariants: tuple[Claim, ...], states: int = STATES, encoded: System | None = None
) -> Agreement:
    """Compares formulas and explorer at the scope of ``system``.

    Args:
        invariants: compared too; with them come the axioms about counts.
        encoded: what the formulas are made from, if it is another system (tests do that).
    """
    started = time.monotonic()
    comparison = Comparison(Program(system), Encoding(encoded or system), invariants)
    sampler = Sampler(comparison.program)
    reachable = sampler.reachable(states // 2)
    axioms, spots, seen = 0, 0, 0
    difference = comparison.initial_difference()
    for state in _with_random(sampler, comparison, reachable, states):
        if difference is not None:
            break
        difference = comparison.difference(state)
        seen += 1
    if difference is None:
        axioms, difference = comparison.false_axiom()
    if difference is None:
        spots, difference = comparison.spot_check(SPOT_CHECKS)
    return Agreement(
        states=seen,
        reachable=min(seen, len(reachable)),
        scope=dict(system.scope),
        transitions=comparison.transitions,
        enabled={s.name: comparison.enabled[s.name] for s in system.steps},
        inductive=frozenset(comparison.inductive),
        violations=dict(comparison.violations),
        axioms=axioms,
        spot_checks=spots,
        difference=difference,
        seconds=time.monotonic() - started,
    )


def _kind(fault: Fault) -> str:
    """``range`` or ``domain``, with which the explorer's ids of faults begin."""
    return "range" if fault.property_id.startswith("range") else "domain"


def _with_random(sampler: Sampler, comparison: Comparison, reachable: list[State], states: int) -> Iterator[State]:
    """The reachable states, then as many random ones; those in which a rare action is enabled first."""
    yield from reachable
    actions = [s.name for s in comparison.program.system.steps]
    for _ in range(states - len(reachable)):
        rare = next((a for a in actions if comparison.enabled[a] < ENABLED_MIN), None)
        origins = comparison.examples.get(rare or "", reachable)
        state = sampler.near(sampler.one_of(origins))
        for _ in range(DRAWS_MAX if rare else 0):
            if comparison.formulas.enables(state, rare or ""):
                break
            state = sampler.near(sampler.one_of(origins))
        yield state


def _z3_agrees(encoding: Encoding, program: Program, state: State, instance: Instance, after: State) -> bool:
    values, layout = encoding.values, program.layout
    formulas: StepFormulas = encoding.step(instance.step.name)
    elements = {
        s.name: [values.constant(f"{s.name}{i}", s.name) for i in range(program.system.scope[s.name])]
        for s in program.system.spec.sorts
    }

    def constant(type_name: str, number: int) -> Expr:
        if type_name == BOOL:
            return values.boolean(bool(number))
        if type_name == INT:
            return values.integer(number)
        members = program.system.members(type_name)
        return values.member(type_name, members[number]) if members else elements[type_name][number]

    solver = z3.Solver(ctx=values.ctx)
    for name, known in elements.items():
        anything = values.fresh("x", name)
        solver.add(z3.ForAll([anything], z3.Or([anything == k for k in known])), z3.Distinct(known))
        solver.add(values.sizes[name] == len(known))
    reached: list[Expr] = []
    for slot, old, new in zip(layout.slots, state, after, strict=True):
        v = layout.variable(slot.variable)
        args = [constant(a.sort, i) for a, i in zip(v.args, slot.args, strict=True)]
        if old != UNDEFINED or v.domain is None:
            solver.add(encoding.before.value(v.name, args) == constant(v.result, old))
        if new != UNDEFINED or v.domain is None:
            reached.append(formulas.after.value(v.name, args) == constant(v.result, new))
    for p, number in zip(instance.step.params, instance.args, strict=True):
        solver.add(formulas.env()[p] == constant(p.sort, number))
    expected = z3.And([*(c.formula for c in formulas.guard), *reached])
    solver.add(encoding.count_axioms())
    if solver.check() != z3.sat:
        return False
    solver.add(z3.Not(expected))
    return bool(solver.check() == z3.unsat)
