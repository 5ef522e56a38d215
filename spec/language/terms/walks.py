"""Walks over terms: what is in one, and one with something else in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from interlock.spec.language.terms.nodes import (
    FALSE,
    TRUE,
    Add,
    And,
    Apply,
    Binder,
    Bool,
    Card,
    Eq,
    Exists,
    Forall,
    Implies,
    Int,
    Ite,
    Le,
    Lt,
    Member,
    Not,
    Or,
    Primed,
    Size,
    Sub,
    SwitchIs,
    Term,
    Var,
    conjunction,
    disjunction,
    ite,
    negation,
)


def children(t: Term) -> tuple[Term, ...]:
    """The direct subterms, left to right."""
    return _CHILDREN[type(t)](t)


# A table and not a match: terms are walked a million times when the specification is built.
_CHILDREN: dict[type, Callable[[Any], tuple[Term, ...]]] = {
    **dict.fromkeys((Apply, And, Or), attrgetter("args")),
    **dict.fromkeys((Primed, Not, Forall, Exists, Card), lambda t: (t.body,)),
    **dict.fromkeys((Implies, Eq, Lt, Le, Add, Sub), attrgetter("left", "right")),
    Ite: attrgetter("cond", "then", "orelse"),
    **dict.fromkeys((Var, Bool, Int, Member, Size, SwitchIs), lambda t: ()),
}


def with_children(t: Term, new: tuple[Term, ...]) -> Term:
    """``t`` with its direct subterms replaced and the result simplified at this node."""
    match t:
        case Apply():
            return Apply(symbol=t.symbol, args=new)
        case And():
            return conjunction(*new)
        case Or():
            return disjunction(*new)
        case Not():
            return negation(new[0])
        case Implies():
            if new[0] == TRUE:
                return new[1]
            return TRUE if new[0] == FALSE else Implies(left=new[0], right=new[1])
        case Ite():
            return ite(*new)
        case Forall() | Exists():
            # Sorts are never empty, so a quantifier over a literal is that literal.
            return new[0] if isinstance(new[0], Bool) else t.model_copy(update={"body": new[0]})
        case Primed() | Card():
            return t.model_copy(update={"body": new[0]})
        case Eq() | Lt() | Le() | Add() | Sub():
            return t.model_copy(update={"left": new[0], "right": new[1]})
        case _:
            return t


def subterms(t: Term) -> Iterator[Term]:
    """``t`` and all terms inside it, outermost first."""
    left = [t]
    while left:
        found = left.pop()
        yield found
        left += reversed(children(found))


def transform(t: Term, leaf: Callable[[Term], Term | None]) -> Term:
    """Rebuild ``t`` bottom-up; where ``leaf`` gives a term for a node, that replaces the node whole."""
    replaced = leaf(t)
    if replaced is not None:
        return replaced
    old = children(t)
    if not old:
        return t
    new = tuple(transform(c, leaf) for c in old)
    return t if all(a is b for a, b in zip(old, new, strict=True)) else with_children(t, new)


def symbols(t: Term) -> set[str]:
    """Names of the state variables and channels that ``t`` reads."""
    return {s.symbol for s in subterms(t) if isinstance(s, Apply)}


def free_vars(t: Term) -> set[Var]:
    """Variables of ``t`` that no quantifier inside it binds."""
    if isinstance(t, Var):
        return {t}
    inner: set[Var] = set()
    for c in children(t):
        inner |= free_vars(c)
    return inner - set(t.vars) if isinstance(t, Binder) else inner


class CaptureError(ValueError):
    """A quantifier would bind a variable that is put into it."""


def at(t: Term, variables: tuple[Var, ...], values: tuple[Term, ...]) -> Term:
    """``t``, which speaks of ``variables``, at ``values``."""
    return substitute(t, dict(zip(variables, values, strict=True)))


def substitute(t: Term, binding: dict[Var, Term]) -> Term:
    """Replace free variables.

    Raises:
        CaptureError: a quantifier in ``t`` would capture a variable of a replacement.
    """
    if isinstance(t, Var):
        return binding.get(t, t)
    if isinstance(t, Binder):
        inner = {v: r for v, r in binding.items() if v not in t.vars}
        for replacement in inner.values():
            caught = free_vars(replacement) & set(t.vars)
            if caught:
                names = ", ".join(sorted(v.name for v in caught))
                raise CaptureError(f"quantified variable {names} would capture a parameter in {t}")
        return with_children(t, (substitute(t.body, inner),)) if inner else t
    old = children(t)
    return with_children(t, tuple(substitute(c, binding) for c in old)) if old else t
