"""Bounded model checking: the shortest run that breaks a property, at a finite scope.

Steps are unrolled one by one into a sat solver: one selector per action instance and step, exactly
one of them true, what it assigns, and a frame for the rest. Depth rises until the property can be
false, so the first run found is a shortest one. A run that leaves a declared range is cut off
there, unless that is what is looked for; so is one beyond the scope's bound on integers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
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

    def move(self) -> Move:
        return self.step.name, tuple(number(self.env[p]) for p in self.step.params)


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
        while self.depth < depth_max and (left := deadline - time.monotonic()) > 0:
            self._unroll()
            bad = some(self._bad(t) for t in targets)
            if bad is False:
                continue
            self._solver.set("timeout", int(left * 1000) + 1)
            self._solver.push()
            self._solver.add(z3.BoolVal(True, self._context) if bad is True else bad)
            if self._solver.check() == z3.sat:
                model = self._solver.model()
                taken = (next(i for i in step if z3.is_true(model.eval(i.selector))) for step in self._chosen)
                return renamed(self.system, [i.move() for i in taken])
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
