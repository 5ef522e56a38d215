"""Cardinality for any size: a function symbol per cardinality term, with axioms that are sound.

Nothing here says what a count *is*; the axioms say how it relates to its predicate in one state and
how it moves when a step changes the predicate at one element. ``agreement.py`` evaluates each
axiom with true counts on the explorer's steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import z3

from interlock.proofs.smt.translate import Reader, translate
from interlock.proofs.smt.values import Expr, Values
from interlock.spec.language import terms as T


@dataclass(frozen=True, slots=True)
class Count:
    """One cardinality term up to renaming, with its symbol before and after a step."""

    term: T.Card
    """Its free variables are ``free``, in order."""
    free: tuple[T.Var, ...]
    before: Expr
    after: Expr


@dataclass(slots=True)
class Counts:
    """The cardinality terms that an encoding has met."""

    values: Values
    met: dict[T.Card, Count] = field(default_factory=dict)

    def find(self, t: T.Card) -> tuple[Count, list[T.Var]]:
        """The count of ``t``, and the variables of ``t`` that stand for ``Count.free``."""
        actual = sorted(T.free_vars(t), key=lambda v: (v.name, v.sort))
        free = tuple(T.Var(name=f"free{i}", sort=v.sort) for i, v in enumerate(actual))
        bound = tuple(T.Var(name=f"counted{i}", sort=v.sort) for i, v in enumerate(t.vars))
        binding: dict[T.Var, T.Term] = dict(zip((*actual, *t.vars), (*free, *bound), strict=True))
        key = T.Card(vars=bound, body=T.substitute(t.body, binding))
        if key not in self.met:
            name, sorts = f"count{len(self.met)}", [v.sort for v in free]
            declare = self.values.declare
            self.met[key] = Count(key, free, declare(name, sorts, "int"), declare(f"{name}.after", sorts, "int"))
        return self.met[key], actual


def state_axioms(values: Values, count: Count, state: Reader, symbol: Expr) -> list[Expr]:
    """What holds of a count in one state: a natural; zero iff none; all iff the sort's size."""
    free, here = _point(values, count, symbol)
    bound = {v: values.fresh(v.name, v.sort) for v in count.term.vars}
    body = translate(values, state, count.term.body, {**free, **bound})
    none = z3.ForAll(list(bound.values()), z3.Not(body))
    facts = [here >= 0, (here == 0) == none]
    if len(bound) == 1:
        size = values.sizes.get(count.term.vars[0].sort)
        if size is not None:
            facts += [here <= size, (here == size) == z3.ForAll(list(bound.values()), body)]
    return [values.forall(list(free.values()), f) for f in facts]


def step_axioms(
    values: Values, count: Count, before: Reader, after: Reader, points: Sequence[tuple[str, Expr]]
) -> list[Expr]:
    """How a count moves in a step: not at all if its predicate stays, by one if it turns at one point.

    Args:
        points: the action's parameters with their sorts, the elements at which it may turn.
    """
    free, old = _point(values, count, count.before)
    new = count.after(*free.values())
    bound = {v: values.fresh(v.name, v.sort) for v in count.term.vars}
    env = {**free, **bound}
    was, is_ = (translate(values, s, count.term.body, env) for s in (before, after))
    axioms = [z3.Implies(z3.ForAll(list(bound.values()), was == is_), old == new)]
    if len(bound) == 1:
        (variable, element) = next(iter(bound.items()))
        for sort, point in points:
            if sort != variable.sort:
                continue
            elsewhere = z3.ForAll([element], z3.Or(element == point, was == is_))
            there, then = (z3.substitute(e, (element, point)) for e in (was, is_))
            moved = z3.If(then, 1, 0) - z3.If(there, 1, 0)
            axioms.append(z3.Implies(elsewhere, new == old + moved))
    return [values.forall(list(free.values()), a) for a in axioms]


def _point(values: Values, count: Count, symbol: Expr) -> tuple[dict[T.Var, Expr], Expr]:
    free = {v: values.fresh(v.name, v.sort) for v in count.free}
    return free, symbol(*free.values())
