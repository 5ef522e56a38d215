"""A term to a z3 expression, reading a state, and for primed parts the state after the step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import z3

from interlock.proofs.smt.values import Expr, Values
from interlock.spec.language import terms as T

Env = Mapping[T.Var, Expr]


class Reader(Protocol):
    """A state: the value of each variable at arguments, and the count of each cardinality term."""

    def value(self, symbol: str, args: list[Expr]) -> Expr:
        """The value of a state variable or channel."""

    def count(self, t: T.Card, env: Env) -> Expr:
        """The value of a cardinality term."""


def translate(values: Values, state: Reader, t: T.Term, env: Env, after: Reader | None = None) -> Expr:
    """The z3 expression of ``t`` in ``state``, its free variables as in ``env``."""

    def go(sub: T.Term) -> Expr:
        return translate(values, state, sub, env, after)

    match t:
        case T.Var():
            return env[t]
        case T.Bool():
            return values.boolean(t.value)
        case T.Int():
            return values.integer(t.value)
        case T.Member():
            return values.member(t.enum, t.name)
        case T.Size():
            return values.sizes[t.sort]
        case T.Apply():
            return state.value(t.symbol, [go(a) for a in t.args])
        case T.Primed():
            if after is None:
                raise ValueError(f"{t} reads the next state, but there is no step here")
            return translate(values, after, t.body, env)
        case T.Not():
            return z3.Not(go(t.body))
        case T.And():
            return z3.And([go(a) for a in t.args])
        case T.Or():
            return z3.Or([go(a) for a in t.args])
        case T.Ite():
            return z3.If(go(t.cond), go(t.then), go(t.orelse))
        case T.Forall() | T.Exists():
            bound = {v: values.fresh(v.name, v.sort) for v in t.vars}
            body = translate(values, state, t.body, {**env, **bound}, after)
            quantify = z3.ForAll if isinstance(t, T.Forall) else z3.Exists
            return quantify(list(bound.values()), body)
        case T.Card():
            return state.count(t, env)
        case T.Implies() | T.Eq() | T.Lt() | T.Le() | T.Add() | T.Sub():
            return _BINARY[type(t)](go(t.left), go(t.right))
    raise TypeError(f"no solver reads {t.__class__.__name__}: {t}")


_BINARY: dict[type[T.Term], Callable[[Expr, Expr], Expr]] = {
    T.Implies: z3.Implies,
    T.Eq: lambda a, b: a == b,
    T.Lt: lambda a, b: a < b,
    T.Le: lambda a, b: a <= b,
    T.Add: lambda a, b: a + b,
    T.Sub: lambda a, b: a - b,
}
