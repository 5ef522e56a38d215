"""A statement as the statements that it says at once: what is proved, or assumed, one by one."""

from __future__ import annotations

from interlock.spec.language import terms as T


def parts(t: T.Term) -> tuple[T.Term, ...]:
    """Statements that together say what ``t`` says; ``t`` itself if it says one thing only.

    >>> from interlock.spec.kv.vocabulary import jb, phase, phases
    >>> ended = phase().eq(phases["updated"])
    >>> len(parts(T.forall(jb, ended & (ended >> ended))))
    2
    """
    match t:
        case T.And():
            return tuple(p for a in t.args for p in parts(a))
        case T.Forall():
            return tuple(T.Forall(vars=t.vars, body=p) for p in parts(t.body))
        case T.Implies():
            return tuple(T.Implies(left=t.left, right=p) for p in parts(t.right))
        case T.Primed():
            return tuple(T.Primed(body=p) for p in parts(t.body))
    return (t,)
