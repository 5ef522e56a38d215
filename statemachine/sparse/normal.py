"""Formulas with negation pushed to the atoms, which is the form that the planner reads.

Parts keep their order, so what is defined from left to right stays so.

    >>> from interlock.spec.language import terms as T
    >>> a, b = T.Apply(symbol="a"), T.Apply(symbol="b")
    >>> print(negation_normal(~(a >> b)))
    a & ~b
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from interlock.spec.language import terms as T


def negation_normal(t: T.Term, positive: bool = True) -> T.Term:
    """``t``, or its negation, without ``Not`` except on atoms, and without ``Implies`` and ``Ite``."""
    match t:
        case T.Not():
            return negation_normal(t.body, not positive)
        case T.And() | T.Or():
            parts = [negation_normal(a, positive) for a in t.args]
            return T.conjunction(*parts) if isinstance(t, T.And) == positive else T.disjunction(*parts)
        case T.Implies():
            left, right = negation_normal(t.left, not positive), negation_normal(t.right, positive)
            return T.disjunction(left, right) if positive else T.conjunction(left, right)
        case T.Ite():
            yes, no = negation_normal(t.cond), negation_normal(t.cond, False)
            then, orelse = negation_normal(t.then, positive), negation_normal(t.orelse, positive)
            return T.disjunction(T.conjunction(yes, then), T.conjunction(no, orelse))
        case T.Forall() | T.Exists():
            body = negation_normal(t.body, positive)
            return _quantified(isinstance(t, T.Forall) == positive, t.vars, body)
        case _:
            return t if positive else T.negation(t)


def _quantified(universal: bool, variables: tuple[T.Var, ...], body: T.Term) -> T.Term:
    if isinstance(body, T.Bool):
        return body
    return T.Forall(vars=variables, body=body) if universal else T.Exists(vars=variables, body=body)


def conjuncts(t: T.Term) -> tuple[T.Term, ...]:
    """The parts of a conjunction; one part for anything else, none for ``true``."""
    if isinstance(t, T.And):
        return t.args
    return () if t == T.TRUE else (t,)


def disjuncts(t: T.Term) -> tuple[T.Term, ...]:
    """The parts of a disjunction; one part for anything else."""
    return t.args if isinstance(t, T.Or) else (t,)


def renamed(t: T.Exists, numbers: Iterator[int]) -> tuple[tuple[T.Var, ...], T.Term]:
    """The variables and body of ``t`` under names that nothing else uses."""
    fresh = tuple(T.Var(name=f"{v.name}_x{next(numbers)}", sort=v.sort) for v in t.vars)
    return fresh, T.at(t.body, t.vars, fresh)


def may_differ(value: T.Term, current: T.Term, result: str) -> T.Term:
    """A formula that is true wherever an update to ``value`` changes ``current``, and in few other places.

    Case by case, because each case says where the change can be: that is what can be enumerated.
    Writing what is there already changes nothing, so cases need not exclude each other.
    """
    if value == current:
        return T.FALSE
    match value:
        case T.Ite():
            then, orelse = may_differ(value.then, current, result), may_differ(value.orelse, current, result)
            return T.disjunction(T.conjunction(negation_normal(value.cond), then), orelse)
        case T.Add() | T.Sub() if value.left == current and isinstance(value.right, T.Int):
            return T.Bool(value=value.right.value != 0)
    if result == "bool":
        return T.disjunction(negation_normal(value), current)
    return T.negation(T.Eq(left=current, right=value))


def counter() -> Iterator[int]:
    """Numbers for :func:`renamed`."""
    return itertools.count()
