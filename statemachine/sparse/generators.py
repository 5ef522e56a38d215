"""Which part of a conjunction can enumerate its unknowns, and from what.

A generator is a part that is true at few places, all of which are stored: a relation that is false
by default, an equation with a stored value, "not the default", "more than nothing".
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.spec.language import terms as T
from interlock.statemachine.sparse.layout import Layout, literal


@dataclass(frozen=True, slots=True)
class Binding:
    """``target := term``: no enumeration at all."""

    target: T.Var
    term: T.Term
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Lookup:
    """The stored keys of ``symbol`` that agree with the known arguments and with one of ``values``.

    No values: whatever is stored.
    """

    symbol: str
    args: tuple[T.Term, ...]
    values: tuple[T.Term, ...]
    rank: int

    def positions(self, unknown: frozenset[T.Var]) -> tuple[int, ...]:
        """Positions of the known arguments."""
        return tuple(i for i, a in enumerate(self.args) if a not in unknown)


Generator = Binding | Lookup


class Finder:
    """Finds generators in atoms."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def find(self, part: T.Term, unknown: frozenset[T.Var]) -> Generator | None:
        """A generator for some of ``unknown``, or ``None``."""
        match part:
            case T.Eq():
                return self._equation(part.left, part.right, unknown) or self._equation(part.right, part.left, unknown)
            case T.Apply():
                slot = self._layout[part.symbol]
                return self._lookup(part, (), unknown) if slot.default is False else None
            case T.Not(body=T.Apply() as a):
                return self._lookup(a, (), unknown) if self._layout[a.symbol].default is True else None
            case T.Not(body=T.Eq(left=T.Apply() as a, right=right)):
                default = self._layout[a.symbol].default
                same = literal(right) is not None and literal(right) == default
                return self._lookup(a, (), unknown) if same else None
            case T.Lt(left=T.Int() as least, right=T.Apply() as a):
                # A generator must be true at every key that it gives: "more than one" is not, "more than nothing" is.
                positive = least.value == 0 and self._layout[a.symbol].default == 0
                return self._lookup(a, (), unknown) if positive else None
            case T.Or():
                return self._one_of(part, unknown)
        return None

    def _equation(self, side: T.Term, other: T.Term, unknown: frozenset[T.Var]) -> Generator | None:
        if T.free_vars(other) & unknown:
            return None
        if isinstance(side, T.Var):
            return Binding(side, other) if side in unknown else None
        if not isinstance(side, T.Apply):
            return None
        slot = self._layout[side.symbol]
        value = literal(other)
        # A value that is only known later may be the default, which is stored nowhere.
        if not slot.partial and (value is None or value == slot.default):
            return None
        return self._lookup(side, (other,), unknown)

    def _one_of(self, part: T.Or, unknown: frozenset[T.Var]) -> Generator | None:
        found = [self.find(a, unknown) for a in part.args]
        first = found[0]
        values: list[T.Term] = []
        for f in found:
            if not isinstance(f, Lookup) or not isinstance(first, Lookup) or len(f.values) != 1:
                return None
            if (f.symbol, f.args) != (first.symbol, first.args) or literal(f.values[0]) is None:
                return None
            values += f.values
        if not isinstance(first, Lookup):
            return None
        return Lookup(first.symbol, first.args, tuple(dict.fromkeys(values)), first.rank)

    def _lookup(self, a: T.Apply, values: tuple[T.Term, ...], unknown: frozenset[T.Var]) -> Lookup | None:
        fresh = [x for x in a.args if x in unknown]
        if not fresh or len(set(map(str, fresh))) != len(fresh):
            return None
        if any(x not in unknown and T.free_vars(x) & unknown for x in a.args):
            return None
        known = len(fresh) < len(a.args)
        selective = self._layout[a.symbol].variable.result in self._layout.sorts and bool(values)
        rank = (1 if known else 2) if selective else (3 if known else 5) + (0 if values else 1)
        return Lookup(a.symbol, a.args, values, rank)
