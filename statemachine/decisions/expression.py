"""Terms as Python expressions over containers.

``in_flight(b)`` becomes ``b in _in_flight``; ``exists j. job_block(j) = b & P(j)`` becomes
``any(True for j in by_job_block(b, ()) if P(j))``.
"""

from __future__ import annotations

import keyword

from interlock.spec.language import terms as T
from interlock.statemachine.decisions.layout import Layout
from interlock.statemachine.decisions.search import Search
from interlock.statemachine.decisions.shapes import members_of, negated
from interlock.statemachine.errors import CompileError

_INFIX = {T.Eq: "==", T.Lt: "<", T.Le: "<=", T.Add: "+", T.Sub: "-"}


def name_of(v: T.Var) -> str:
    """A variable as a Python identifier."""
    return f"{v.name}_" if keyword.iskeyword(v.name) else v.name


class Expressions:
    """Writes expressions and notes in a layout what they need."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.search = Search(layout, self)

    def write(self, t: T.Term) -> str:
        """Python text for a term; in brackets where it needs them."""
        match t:
            case T.Var():
                return name_of(t)
            case T.Bool() | T.Int():
                return repr(t.value)
            case T.Member():
                return repr(t.name)
            case T.Size():
                self.layout.sizes.add(t.sort)
                return f"size_{t.sort}"
            case T.Apply():
                return self._apply(t)
            case T.Not(body=T.Eq() as e):
                return f"({self.write(e.left)} != {self.write(e.right)})"
            case T.Not():
                return f"(not {self.write(t.body)})"
            case T.And():
                return f"({' and '.join(map(self.write, t.args))})"
            case T.Or():
                return self._or(t)
            case T.Implies():
                return f"(not {self.write(t.left)} or {self.write(t.right)})"
            case T.Eq() | T.Lt() | T.Le() | T.Add() | T.Sub():
                return f"({self.write(t.left)} {_INFIX[type(t)]} {self.write(t.right)})"
            case T.Ite():
                return f"({self.write(t.then)} if {self.write(t.cond)} else {self.write(t.orelse)})"
            case T.Exists():
                return f"any({self.search.generator('True', t.vars, t.body)})"
            case T.Forall():
                return f"(not any({self.search.generator('True', t.vars, negated(t.body))}))"
            case T.Card():
                return f"sum({self.search.generator('1', t.vars, t.body)})"
        raise CompileError(f"{t} cannot be compiled: {type(t).__name__.lower()} is not for what runs")

    def key(self, args: tuple[T.Term, ...]) -> str:
        """The key of a container: the bare argument, or a tuple of them."""
        texts = [self.write(a) for a in args]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def _apply(self, t: T.Apply) -> str:
        symbol = self.layout.use(t.symbol)
        key = self.key(t.args)
        if symbol.relation:
            return f"({key} in _{symbol.name})"
        if symbol.default is not None:
            return f"_{symbol.name}.get({key}, {symbol.default})"
        found = f"_{symbol.name}[{key}]"
        if symbol.domain is None:
            return found
        domain = self.write(T.at(symbol.domain, symbol.args, t.args))
        return f"({found} if {domain} else undefined({symbol.name!r}, {key}))"

    def _or(self, t: T.Or) -> str:
        """``f(x) = a | f(x) = b`` is one membership test."""
        one_of = members_of(t)
        if one_of is None:
            return f"({' or '.join(map(self.write, t.args))})"
        left, members = one_of
        return f"({self.write(left)} in {tuple(m.name for m in members)!r})"
