"""Counterexamples to induction as two small states that a person can read.

The search is at small sizes, by a sat solver on the unrolled obligation: a model there is a model
of the formulas for any size. Sizes are lowered as long as one is left, then every cell that may
have its initial value gets it, so what is left to print matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import z3

from interlock.proofs.smt.ground import Cell, Env, Ground, Numbers, State, Value, every, number, usual_values
from interlock.proofs.smt.owed import Claim, Obligation, range_claims, start_terms
from interlock.proofs.smt.unknowns import Unknowns, at_scope, read, shown
from interlock.proofs.smt.values import Expr
from interlock.spec.language import terms as T
from interlock.spec.language.system import System


@dataclass(frozen=True, slots=True)
class Cti:
    """All invariants hold before; after the step, the obligation's claim is false.

    Args:
        before, after: facts by name (``job_state(job0)``); those that are as at the start in both
            states are left out, and partial functions where they are not defined.
    """

    obligation: str
    action: str
    scope: dict[str, int]
    before: dict[str, str]
    after: dict[str, str]

    def lines(self) -> Iterator[str]:
        """One line per fact, the changed ones marked."""
        yield f"{self.obligation}: {self.action} at {', '.join(f'{s}={n}' for s, n in self.scope.items())}"
        for name in dict.fromkeys([*self.before, *self.after]):
            old, new = self.before.get(name, "undefined"), self.after.get(name, "undefined")
            yield f"    {name} = {old}" if old == new else f"  * {name}: {old} -> {new}"


def find_cti(system: System, obligation: Obligation, invariants: tuple[Claim, ...]) -> Cti | None:
    """A small counterexample to an obligation, or ``None`` if no sort has one at sizes up to 2."""
    sorts = [s.name for s in system.spec.sorts]
    found, sizes = None, dict.fromkeys(sorts, 2)
    found = Search(at_scope(system, sizes), obligation, invariants).smallest()
    if found is None:
        ladder = sorted(product((1, 2), repeat=len(sorts)), key=sum)
        for tried in ladder:
            sizes = dict(zip(sorts, tried, strict=True))
            found = Search(at_scope(system, sizes), obligation, invariants).smallest()
            if found is not None:
                break
        else:
            return None
    for s in sorts:
        if sizes[s] > 1:
            smaller = {**sizes, s: 1}
            less = Search(at_scope(system, smaller), obligation, invariants).smallest()
            if less is not None:
                found, sizes = less, smaller
    return found


@dataclass(slots=True)
class Search:
    """The unrolled obligation at one scope."""

    system: System
    obligation: Obligation
    invariants: tuple[Claim, ...]
    ground: Ground = field(init=False)
    before: dict[Cell, Value] = field(init=False)
    _solver: Expr = field(init=False)
    _context: Expr = field(init=False)

    def __post_init__(self) -> None:
        self.ground = Ground(self.system)
        self._context = z3.Context()
        self._solver = z3.SolverFor("QF_FD", ctx=self._context)
        self.before, constraints = Unknowns(self.ground, self._context).state("before")
        self._solver.add(constraints)

    def smallest(self) -> Cti | None:
        """A counterexample with as many cells as possible at their initial value."""
        for env in self._parameters():
            after = self._assume(env)
            if after is None:
                continue
            if self._solver.check() == z3.sat:
                return self._minimal(env, after)
            self._solver.pop()
        return None

    def _assume(self, env: Env) -> dict[Cell, Value] | None:
        """Push what holds before and what fails after; ``None`` if that is impossible."""
        ground, before, step = self.ground, self.before, None
        after: dict[Cell, Value] = dict(before)
        if self.obligation.at_start:
            assumed = [c.term for c in start_terms(self.system)]
        else:
            assumed = [c.term for c in (*range_claims(self.system), *self.invariants)]
        if self.obligation.step is not None:
            step = self.system.step(self.obligation.step)
            after.update(ground.apply_updates(step.updates, before, env))
            if self.obligation.enabled:
                assumed += [c.term for c in step.guard]
        goal = ground.evaluate(T.negation(self.obligation.claim.term), before, env, after)
        condition = every([*(ground.evaluate(t, before, env) for t in assumed), goal])
        if condition is False:
            return None
        self._solver.push()
        self._solver.add(z3.BoolVal(True, self._context) if condition is True else condition)
        return after

    def _parameters(self) -> Iterator[dict[T.Var, Value]]:
        """Parameters up to renaming elements."""
        if self.obligation.step is None:
            yield {}
            return
        params = self.system.step(self.obligation.step).params
        for env in self.ground.assignments(params):
            if self.system.is_canonical(params, (number(env[p]) for p in params)):
                yield env

    def _minimal(self, env: Env, after: State) -> Cti:
        usual = usual_values(self.ground)
        model = self._solver.model()
        for cell, value in self.before.items():
            wanted = self._is(value, usual[cell])
            if wanted is True or wanted is False:
                continue
            if not z3.is_true(model.eval(wanted, model_completion=True)):
                self._solver.push()
                self._solver.add(wanted)
                if self._solver.check() != z3.sat:
                    self._solver.pop()
                    continue
                model = self._solver.model()
            else:
                self._solver.add(wanted)
        numbers, numbers_after = read(model, self.before), read(model, after)
        return self._cti(env, usual, numbers, numbers_after)

    @staticmethod
    def _is(value: Value, wanted: int) -> Expr:
        return value.get(wanted, False) if isinstance(value, dict) else value if wanted else z3.Not(value)

    def _cti(self, env: Env, usual: Numbers, before: Numbers, after: Numbers) -> Cti:
        partial = {v.name for v in self.system.variables if v.init is None}
        kept = {c for c in before if c[0] in partial or before[c] != usual[c] or after[c] != before[c]}
        step = self.obligation.step
        params = () if step is None else self.system.step(step).params
        args = [f"{p.name}={self.system.element(p.sort, number(env[p]))}" for p in params]
        return Cti(
            obligation=self.obligation.name,
            action=f"{step}({', '.join(args)})" if step else self.obligation.place,
            scope=dict(self.system.scope),
            before={name: value for c, name, value in shown(self.ground, before) if c in kept},
            after={name: value for c, name, value in shown(self.ground, after) if c in kept},
        )
