"""Bounded model checking: the shortest run that breaks a property, at a finite scope.

Steps are unrolled one by one into a sat solver: one selector per action instance and step, exactly
one of them true, what it assigns, and a frame for the rest. Depth rises until the property can be
false, so the first run found is a shortest one. A run that leaves a declared range is cut off
there, unless that is what is looked for; so is one beyond the scope's bound on integers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import z3

from interlock.proofs.smt.ground import (
    Cell,
    Env,
    Ground,
    Prop,
    State,
    every,
    known_state,
    negate,
    number,
    same,
    some,
    usual_values,
)
from interlock.proofs.smt.owed import Claim, Obligation, primed
from interlock.proofs.smt.unknowns import Unknowns
from interlock.proofs.smt.values import Expr
from interlock.spec.language import terms as T
from interlock.spec.language.system import Step, System

Move = tuple[str, tuple[int, ...]]
"""An action with its parameters as element indices."""


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

    def __post_init__(self) -> None:
        self.ground = Ground(self.system)
        self._context = z3.Context()
        self._solver = z3.SolverFor("QF_FD", ctx=self._context)
        self._unknowns = Unknowns(self.ground, self._context)
        self._states = [known_state(self.ground, usual_values(self.ground))]

    def find(self, targets: Sequence[Obligation], depth_max: int, seconds_max: float) -> list[Move] | None:
        """The shortest run to the negation of one of ``targets``, or ``None`` within the bounds.

        Args:
            targets: invariants (of any step), or what single steps owe.
        """
        deadline = time.monotonic() + seconds_max
        invariants = [t.claim.term.body for t in targets if t.step is None and isinstance(t.claim.term, T.Primed)]
        owed = [t for t in targets if t.step is not None]
        while self.depth < depth_max and time.monotonic() < deadline:
            # A step that breaks what it owes need not lead to a state, so it is looked for before it is unrolled.
            breaking = [b for t in owed for b in self._breaking(t)]
            if (model := self._model([p for p, _ in breaking], deadline)) is not None:
                last = next(move for p, move in breaking if p is True or z3.is_true(model.eval(p)))
                return renamed(self.system, [*self._moves(model), last])
            self._unroll()
            broken = [negate(self.ground.evaluate(i, self._states[-1], {})) for i in invariants]
            if (model := self._model(broken, deadline)) is not None:
                return renamed(self.system, self._moves(model))
        return None

    def _model(self, bad: list[Prop], deadline: float) -> Expr | None:
        """A run of the present length after which something is bad."""
        condition = some(bad)
        left = deadline - time.monotonic()
        if condition is False or left <= 0:
            return None
        self._solver.set("timeout", int(left * 1000) + 1)
        self._solver.push()
        self._solver.add(z3.BoolVal(True, self._context) if condition is True else condition)
        model = self._solver.model() if self._solver.check() == z3.sat else None
        self._solver.pop()
        return model

    def _moves(self, model: Expr) -> list[Move]:
        taken = (next(i for i in step if z3.is_true(model.eval(i.selector))) for step in self._chosen)
        return [(i.step.name, _numbers(i.step, i.env)) for i in taken]

    def _breaking(self, target: Obligation) -> Iterator[tuple[Prop, Move]]:
        """For each instance of the target's action, when it breaks what it owes in the last state."""
        state, step = self._states[-1], next((s for s in self.system.steps if s.name == target.step), None)
        if step is None:
            # The slice that is searched has no such action.
            return
        guard = T.conjunction(*(c.term for c in step.guard)) if target.enabled else T.TRUE
        for env in self.ground.assignments(step.params):
            enabled = self.ground.evaluate(guard, state, env)
            if enabled is False:
                continue
            after = {**state, **self.ground.apply_updates(step.updates, state, env)}
            holds = self.ground.evaluate(target.claim.term, state, env, after)
            bad = every([enabled, negate(holds)])
            if bad is not False:
                yield bad, (step.name, _numbers(step, env))

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
                selector = z3.Bool(f"{self.depth}.{len(instances)}", self._context)
                instances.append(_Instance(step, env, selector))
                facts: list[Prop] = [enabled]
                for cell, value in self.ground.apply_updates(step.updates, before, env).items():
                    facts.append(same(after[cell], value))
                    movers.setdefault(cell, []).append(selector)
                constraints += [z3.Implies(selector, f) for f in facts if f is not True]
        constraints.append(z3.PbEq([(i.selector, 1) for i in instances], 1))
        constraints += [some([*movers.get(cell, []), same(value, before[cell])]) for cell, value in after.items()]
        self._solver.add([c for c in constraints if c is not True])
        self._states.append(after)
        self._chosen.append(instances)


def _numbers(step: Step, env: Env) -> tuple[int, ...]:
    return tuple(number(env[p]) for p in step.params)


def invariant_target(claim: Claim) -> Obligation:
    """The target of a search for a state in which an invariant is false."""
    return Obligation(primed(claim))


def renamed(system: System, moves: list[Move]) -> list[Move]:
    """The same run with elements numbered in the order in which they appear; they are interchangeable."""
    names: dict[str, dict[int, int]] = {}
    renamed_moves: list[Move] = []
    for action, args in moves:
        new: list[int] = []
        for p, element in zip(system.step(action).params, args, strict=True):
            if system.members(p.sort) is None and p.sort in system.scope:
                known = names.setdefault(p.sort, {})
                element = known.setdefault(element, len(known))  # noqa: PLW2901
            new.append(element)
        renamed_moves.append((action, tuple(new)))
    return renamed_moves
