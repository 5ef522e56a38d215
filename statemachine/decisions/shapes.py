"""Shapes of terms that compile to something better than their parts."""

from __future__ import annotations

from interlock.spec.language import terms as T


def members_of(t: T.Term) -> tuple[T.Term, tuple[T.Member, ...]] | None:
    """The left side and the members, if ``t`` says that one term is one of several members."""
    parts = t.args if isinstance(t, T.Or) else (t,)
    members = [p.right for p in parts if isinstance(p, T.Eq) and isinstance(p.right, T.Member)]
    lefts = {p.left for p in parts if isinstance(p, T.Eq)}
    if len(members) != len(parts) or len(lefts) != 1:
        return None
    return lefts.pop(), tuple(m for m in members if isinstance(m, T.Member))


def negated(t: T.Term) -> T.Term:
    """The negation, pushed in as far as helps to find an index."""
    match t:
        case T.Implies():
            return T.conjunction(t.left, negated(t.right))
        case T.Or():
            return T.conjunction(*(negated(a) for a in t.args))
        case _:
            return T.negation(t)
