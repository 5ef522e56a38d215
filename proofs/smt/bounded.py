"""Bounded model checking: the shortest run that breaks a property, at a finite scope.

Steps are unrolled one by one into a sat solver: one selector per action instance and step, exactly
one of them true, what it assigns, and a frame for the rest. Depth rises until the property can be
false, so the first run found is a shortest one. A run that leaves a declared range is cut off
there, unless that is what is looked for; so is one beyond the scope's bound on integers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import z3

from interlock.proofs.smt.cti import usual_values
from interlock.proofs.smt.ground import Cell, Env, Ground, Prop, State, Value, every, negate, same, some
from interlock.proofs.smt.owed import Claim, Obligation, primed
from interlock.proofs.smt.unknowns import Numbers, Unknowns, known_state, read, shown
from interlock.proofs.smt.values import Expr
from interlock.spec.language import terms as T
from interlock.spec.language.system import Step, System


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of a run: the action, its parameters by name, and the facts that it changed."""

    action: str
    params: dict[str, str]
    state: dict[str, str]
    """All facts after the step, where partial functions are defined."""
    changed: dict[str, str]

    def __str__(self) -> str:
        return f"{self.action}({', '.join(f'{p}={e}' for p, e in self.params.items())})"


@dataclass(frozen=True, slots=True)
class Trace:
    """A run from the initial state that ends in a violation."""

    claim: str
    slice: str
    scope: dict[str, int]
    steps: tuple[TraceStep, ...]
    seconds: float

    def lines(self) -> Iterator[str]:
        """One line per step."""
        scope = ", ".join(f"{s}={n}" for s, n in self.scope.items())
        yield f"{self.claim} is false after {len(self.steps)} steps (slice {self.slice}, {scope})"
        for i, s in enumerate(self.steps, start=1):
            changed = ", ".join(f"{f}={v}" for f, v in s.changed.items())
            yield f"  {i:2} {s}  {changed}"


@dataclass(frozen=True, slots=True)
class _Instance:
    step: Step
    env: Env
    selector: Expr


@dataclass(slots=True)
class BoundedSearch:
    """Runs of one system at its scope, of growing length."""

    system: System
    depth: int = 0
    """Length of the runs that have been unrolled so far."""
    ground: Ground = field(init=False)
    _solver: Expr = field(init=False)
    _context: Expr = field(init=False)
    _unknowns: Unknowns = field(init=False)
    _states: list[State] = field(init=False)
    _chosen: list[list[_Instance]] = field(init=False, default_factory=list)
    _failing: list[tuple[Expr, Prop]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.ground = Ground(self.system)
        self._context = z3.Context()
        self._solver = z3.SolverFor("QF_FD", ctx=self._context)
        self._unknowns = Unknowns(self.ground, self._context)
        self._states = [known_state(self.ground, usual_values(self.ground))]

    def find(self, target: Obligation, depth_max: int, seconds_max: float) -> Trace | None:
        """The shortest run to the negation of ``target``, or ``None`` within the bounds.

        Args:
            target: an invariant (of any step), or what one step owes.
        """
        started = time.monotonic()
        while self.depth < depth_max:
            left = seconds_max - (time.monotonic() - started)
            if left <= 0:
                return None
            self._unroll()
            bad = self._bad(target)
            if bad is False:
                continue
            self._solver.set("timeout", max(1, int(left * 1000)))
            self._solver.push()
            self._solver.add(z3.BoolVal(True, self._context) if bad is True else bad)
            if self._solver.check() == z3.sat:
                return self._trace(target, time.monotonic() - started)
            self._solver.pop()
        return None

    def _unroll(self) -> None:
        """One more step: selectors, guards, assignments, frame."""
        before = self._states[-1]
        self.depth += 1
        after, constraints = self._unknowns.state(f"s{self.depth}")
        instances: list[_Instance] = []
        movers: dict[Cell, list[Expr]] = {}
        for step in self.system.steps:
            guard = T.conjunction(*(c.term for c in step.guard))
            for env in self.ground.assignments(step.params):
                enabled = self.ground.evaluate(guard, before, env)
                if enabled is False:
                    continue
                selector = z3.Bool(f"{step.name}{len(instances)}@{self.depth}", self._context)
                instance = _Instance(step, env, selector)
                instances.append(instance)
                facts = [enabled]
                for cell, value in self.ground.apply_updates(step.updates, before, env).items():
                    facts.append(same(after[cell], value))
                    movers.setdefault(cell, []).append(selector)
                constraints += [z3.Implies(selector, f) for f in facts if f is not True]
        constraints.append(z3.PbEq([(i.selector, 1) for i in instances], 1))
        for cell, value in after.items():
            stays = same(value, before[cell])
            constraints.append(z3.Or([*movers.get(cell, []), stays]) if stays is not True else True)
        self._solver.add([c for c in constraints if c is not True])
        self._states.append(after)
        self._chosen.append(instances)

    def _bad(self, target: Obligation) -> Prop:
        before, after = self._states[-2], self._states[-1]
        ground, term = self.ground, target.claim.term
        if isinstance(term, T.Primed) and target.step is None:
            return negate(ground.evaluate(term.body, after, {}))
        cases: list[Prop] = []
        for i in self._chosen[-1]:
            if i.step.name == target.step:
                reached = {**before, **ground.apply_updates(i.step.updates, before, i.env)}
                cases.append(every([i.selector, negate(ground.evaluate(term, before, i.env, reached))]))
        return some(cases)

    def _trace(self, target: Obligation, seconds: float) -> Trace:
        model = self._solver.model()
        steps: list[TraceStep] = []
        old = dict(self._facts(model, self._states[0]))
        for instances, state in zip(self._chosen, self._states[1:], strict=True):
            chosen = next(i for i in instances if z3.is_true(model.eval(i.selector)))
            new = dict(self._facts(model, state))
            params = {}
            for p in chosen.step.params:
                value = chosen.env[p]
                (number,) = value if isinstance(value, dict) else (int(value),)
                params[p.name] = self.system.element(p.sort, number)
            changed = {f: v for f, v in new.items() if old.get(f) != v}
            steps.append(TraceStep(chosen.step.name, params, new, changed))
            old = new
        return Trace(target.claim.name, self.system.slice.name, dict(self.system.scope), tuple(steps), seconds)

    def _facts(self, model: Expr, state: State) -> Iterator[tuple[str, str]]:
        numbers: Numbers = read(model, state)
        return ((name, value) for _, name, value in shown(self.ground, numbers))


def invariant_target(name: str, formula: T.Term) -> Obligation:
    """The target of a search for a state in which an invariant is false."""
    return Obligation(primed(Claim(name, formula)))
