"""Where a term is defined: its well-definedness condition, as a term.

Evaluation goes from left to right: a part that is not reached need not be defined. A quantifier
looks at every element, so its body must be defined for each.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Conjunct, Update
from interlock.spec.language.system import System


def defined(system: System, t: T.Term) -> T.Term:
    """The condition under which ``t`` applies no partial function outside its domain."""

    def all_of(parts: Sequence[T.Term]) -> T.Term:
        return T.conjunction(*(defined(system, p) for p in parts))

    match t:
        case T.Apply():
            return T.conjunction(all_of(t.args), system.variable(t.symbol).defined_at(t.args))
        case T.And():
            return _sequence(system, t.args, stop_at=False)
        case T.Or():
            return _sequence(system, t.args, stop_at=True)
        case T.Implies():
            return T.conjunction(defined(system, t.left), implies(t.left, defined(system, t.right)))
        case T.Ite():
            branches = T.ite(t.cond, defined(system, t.then), defined(system, t.orelse))
            return T.conjunction(defined(system, t.cond), branches)
        case T.Forall() | T.Exists() | T.Card():
            return for_all(t.vars, defined(system, t.body))
        case _:
            return all_of(T.children(t))


def guard_defined(system: System, guard: Sequence[Conjunct]) -> T.Term:
    """The condition under which a guard can be judged, conjunct by conjunct in order."""
    return _sequence(system, [c.term for c in guard], stop_at=False)


def update_defined(system: System, u: Update) -> T.Term:
    """The condition under which an update can be made: ``when``, then where it is true arguments and value."""
    made = T.conjunction(*(defined(system, a) for a in u.args), defined(system, u.value))
    return for_all(u.over, T.conjunction(defined(system, u.when), implies(u.when, made)))


def implies(premise: T.Term, conclusion: T.Term) -> T.Term:
    """``Implies``, folded where either side is a literal."""
    if conclusion == T.TRUE or premise == T.FALSE:
        return T.TRUE
    return conclusion if premise == T.TRUE else T.Implies(left=premise, right=conclusion)


def for_all(variables: tuple[T.Var, ...], body: T.Term) -> T.Term:
    """``Forall``, unless there is nothing to quantify."""
    return T.Forall(vars=variables, body=body) if variables and not isinstance(body, T.Bool) else body


def _sequence(system: System, parts: Sequence[T.Term], *, stop_at: bool) -> T.Term:
    """Each part is defined if those before it have not stopped the evaluation."""
    conditions: list[T.Term] = []
    for i, p in enumerate(parts):
        here = defined(system, p)
        if here == T.TRUE:
            continue
        before = T.disjunction(*parts[:i]) if stop_at else T.conjunction(*parts[:i])
        conditions.append(T.disjunction(before, here) if stop_at else implies(before, here))
    return T.conjunction(*conditions)
