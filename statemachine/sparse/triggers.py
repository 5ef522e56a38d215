"""Which instances of an invariant a changed cell can break.

An invariant ``forall x. P(x)`` is broken at x if ``V(x)``, the negation of ``P`` with its negations
pushed to the atoms, becomes true. That takes a changed cell that V reads at x:

- outside all quantifiers of V, the cell's arguments say which x;
- inside ``exists y. F`` of V: some y makes F true *after* the step;
- inside ``forall y. F`` of V: some y made F false *before* the step;
- inside a count, or an equation of formulas: either.

What stands before the quantifier in V must be true at x too; if it was false before the step, its own
cells have changed and lead to x.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.spec.language import terms as T
from interlock.statemachine.sparse.normal import negation_normal


@dataclass(frozen=True, slots=True)
class Trigger:
    """How a change of ``symbol`` leads to instances.

    Args:
        args: the arguments with which V reads the symbol.
        formula: what narrows the instances down; ``None``: V itself, after the step.
        targets: variables of V that ``formula`` determines; the rest is searched with V.
        bound: variables of the quantifier, searched along.
        early: evaluated before the step, else after it.
    """

    symbol: str
    args: tuple[T.Term, ...]
    formula: T.Term | None
    targets: tuple[T.Var, ...]
    bound: tuple[T.Var, ...] = ()
    early: bool = False


def triggers(variables: tuple[T.Var, ...], violation: T.Term) -> list[Trigger]:
    """The triggers of ``violation`` over ``variables``."""
    found: dict[Trigger, None] = {}
    _walk(variables, violation, (), found)
    return list(found)


def _walk(xs: tuple[T.Var, ...], t: T.Term, context: tuple[T.Term, ...], found: dict[Trigger, None]) -> None:
    match t:
        case T.And():
            for i, a in enumerate(t.args):
                _walk(xs, a, (*context, *t.args[:i]), found)
        case T.Or():
            for a in t.args:
                _walk(xs, a, context, found)
        case T.Forall():
            _inside(xs, t, negation_normal(t.body, False), context, found, early=True, late=False)
        case T.Exists():
            _inside(xs, t, t.body, context, found, early=False, late=True)
        case T.Card():
            _inside(xs, t, negation_normal(t.body), context, found, early=True, late=True)
        case _:
            if isinstance(t, T.Apply):
                found[Trigger(t.symbol, t.args, None, xs)] = None
            for c in T.children(t):
                if _has_binder(c) and not isinstance(t, T.Not | T.Apply) and _is_formula(t):
                    # An equation of formulas: both directions count, on either side.
                    _both_ways(xs, c, context, found)
                else:
                    _walk(xs, c, context, found)


def _both_ways(xs: tuple[T.Var, ...], t: T.Term, context: tuple[T.Term, ...], found: dict[Trigger, None]) -> None:
    for s in T.subterms(t):
        if isinstance(s, T.Apply):
            found[Trigger(s.symbol, (), None, xs)] = None
    _walk(xs, t, context, found)


def _is_formula(t: T.Term) -> bool:
    return isinstance(t, T.Eq) and any(isinstance(c, T.Forall | T.Exists) for c in T.subterms(t))


def _has_binder(t: T.Term) -> bool:
    return any(isinstance(s, T.Forall | T.Exists) for s in T.subterms(t))


def _inside(
    xs: tuple[T.Var, ...],
    quantifier: T.Forall | T.Exists | T.Card,
    body: T.Term,
    context: tuple[T.Term, ...],
    found: dict[Trigger, None],
    *,
    early: bool,
    late: bool,
) -> None:
    # Less context leads to more instances, never to fewer: only what is cheap to test stays.
    formula = T.conjunction(*(c for c in context if not any(isinstance(s, T.Binder) for s in T.subterms(c))), body)
    free = T.free_vars(formula)
    targets = tuple(x for x in xs if x in free)
    named = {*xs, *quantifier.vars}
    for s in T.subterms(quantifier.body):
        if isinstance(s, T.Apply):
            args = s.args if all(T.free_vars(a) <= named for a in s.args) else ()
            for when in ([True] if early else []) + ([False] if late else []):
                found[Trigger(s.symbol, args, formula, targets, quantifier.vars, when)] = None
