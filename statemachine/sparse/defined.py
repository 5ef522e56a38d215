"""Where a term is sure to be defined, given what has been found true before it.

The planner may reorder only what is sure: a part that may be undefined keeps its place behind the
parts that shield it. The test is by the form of formulas, so "not sure" means only that.
"""

from __future__ import annotations

from collections.abc import Iterable

from interlock.spec.language import terms as T
from interlock.spec.language.system import Variable
from interlock.statemachine.sparse.normal import negation_normal

Given = tuple[T.Term, ...]


class Definedness:
    """Knows the domains of partial functions."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        self._partial = {v.name: v for v in variables if v.domain is not None}

    def sure(self, t: T.Term, given: Given = ()) -> bool:
        """Whether every application in ``t`` that is reached lies in its domain."""
        match t:
            case T.Apply():
                if not all(self.sure(a, given) for a in t.args):
                    return False
                return t.symbol not in self._partial or implied(self._partial[t.symbol].defined_at(t.args), given)
            case T.And():
                return self._in_turn(t.args, given, negated=False)
            case T.Or():
                return self._in_turn(t.args, given, negated=True)
            case T.Implies():
                return self.sure(t.left, given) and self.sure(t.right, (*given, negation_normal(t.left)))
            case T.Ite():
                yes, no = negation_normal(t.cond), negation_normal(t.cond, False)
                return (
                    self.sure(t.cond, given) and self.sure(t.then, (*given, yes)) and self.sure(t.orelse, (*given, no))
                )
            case _:
                return all(self.sure(c, given) for c in T.children(t))

    def needs(self, t: T.Term, given: Given, unknown: frozenset[T.Var]) -> list[T.Term]:
        """Domains that are not sure to contain what ``t`` applies, as far as nothing unknown is in them."""
        found: dict[T.Term, None] = {}
        bound = unknown.union(*(s.vars for s in T.subterms(t) if isinstance(s, T.Binder)))
        for s in T.subterms(t):
            if isinstance(s, T.Apply) and s.symbol in self._partial and not T.free_vars(s) & bound:
                domain = self._partial[s.symbol].defined_at(s.args)
                if not implied(domain, given):
                    found[domain] = None
        return list(found)

    def _in_turn(self, parts: tuple[T.Term, ...], given: Given, *, negated: bool) -> bool:
        for p in parts:
            if not self.sure(p, given):
                return False
            given = (*given, negation_normal(p, not negated))
        return True


def implied(goal: T.Term, given: Given) -> bool:
    """Whether ``goal`` follows from ``given`` by the form of the formulas."""
    if goal == T.TRUE or any(_entails(g, goal) for g in given):
        return True
    match goal:
        case T.And():
            return all(implied(a, given) for a in goal.args)
        case T.Or():
            return any(implied(a, given) for a in goal.args)
    return False


def _entails(premise: T.Term, goal: T.Term) -> bool:
    if premise == goal:
        return True
    match premise:
        case T.And():
            return any(_entails(a, goal) for a in premise.args)
        case T.Or():
            return all(_entails(a, goal) for a in premise.args)
    match goal:
        case T.Or():
            return any(_entails(premise, a) for a in goal.args)
        case T.And():
            return all(_entails(premise, a) for a in goal.args)
        case T.Not(body=T.Eq(left=left, right=T.Member() as other)):
            return (
                isinstance(premise, T.Eq)
                and premise.left == left
                and isinstance(premise.right, T.Member)
                and premise.right != other
            )
    return False
