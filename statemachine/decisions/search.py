"""Quantifiers as loops: how to enumerate what satisfies a conjunction without enumerating a sort.

For each variable the best source among the conjuncts is taken: an equation that gives its value, the
inverse of a function, a relation indexed by what is known, a relation, and only then the sort.
Conditions are tested as early as their variables allow but never before a conjunct to their left,
because a conjunct may be what makes the next one defined.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from interlock.spec.language import terms as T
from interlock.statemachine.decisions.layout import Layout
from interlock.statemachine.decisions.shapes import members_of

if TYPE_CHECKING:
    from interlock.statemachine.decisions.expression import Expressions


class Search:
    """Writes ``for`` and ``if`` clauses.

    Attributes:
        parameters: of the action being written: whoever it is about is an element of its sort, known before or not.
    """

    def __init__(self, layout: Layout, expressions: Expressions) -> None:
        self._layout = layout
        self._expressions = expressions
        self.parameters: tuple[T.Var, ...] = ()

    def generator(self, item: str, variables: tuple[T.Var, ...], body: T.Term) -> str:
        """A comprehension of ``item`` for each assignment of ``variables`` that satisfies ``body``."""
        return f"{item} {' '.join(self.clauses(variables, body))}"

    def clauses(self, variables: tuple[T.Var, ...], body: T.Term) -> list[str]:
        """The clauses of that comprehension."""
        unbound = list(variables)
        rest: list[T.Term] = [] if body == T.TRUE else [body]
        if isinstance(body, T.And):
            rest = list(body.args)
        written: list[str] = []
        while True:
            while rest and not T.free_vars(rest[0]) & set(unbound):
                written.append(f"if {self._expressions.write(rest.pop(0))}")
            if not unbound:
                # Python wants a loop first; this one runs once.
                once = ["for _ in (0,)"] if not written or written[0].startswith("if ") else []
                return once + written
            written.append(self._bind(unbound, rest))

    def _bind(self, unbound: list[T.Var], rest: list[T.Term]) -> str:
        """One ``for`` clause; takes the variables that it binds and the conjunct that it uses up."""
        ways = sorted(
            (way for place, conjunct in enumerate(rest) for way in self._ways(conjunct, place, unbound)),
            key=lambda way: (way[0], way[1]),
        )
        if ways:
            _, place, bound, make = ways[0]
            rest.pop(place)
        else:
            bound, make = (unbound[0],), self._domain(unbound[0])
        for v in bound:
            unbound.remove(v)
        names = ", ".join(self._expressions.write(v) for v in bound)
        return f"for {names} in {make()}"

    def _ways(self, t: T.Term, place: int, unbound: list[T.Var]) -> Iterable[_Way]:
        if isinstance(t, T.Eq):
            yield from self._equation(t.left, t.right, place, unbound)
            yield from self._equation(t.right, t.left, place, unbound)
        if isinstance(t, T.Apply) and self._layout.symbols[t.symbol].relation:
            yield from self._relation(t, place, unbound)
        if isinstance(t, T.Or):
            yield from self._members(t, place, unbound)

    def _equation(self, left: T.Term, right: T.Term, place: int, unbound: list[T.Var]) -> Iterable[_Way]:
        if T.free_vars(right) & set(unbound):
            return
        if isinstance(left, T.Var) and left in unbound:
            yield 0, place, (left,), lambda: f"({self._expressions.write(right)},)"
        elif isinstance(left, T.Apply) and len(left.args) == 1 and left.args[0] in unbound:
            symbol = self._layout.symbols[left.symbol]
            text = repr(right.name) if isinstance(right, T.Member) else None
            if text is not None and text == symbol.default:
                return  # an element that nobody has named has this value too
            variable = left.args[0]
            assert isinstance(variable, T.Var)

            def make(name: str = left.symbol) -> str:
                self._layout.use(name)
                self._layout.inverses.add(name)
                return f"by_{name}({self._expressions.write(right)}, ())"

            yield (1 if text is None else 3), place, (variable,), make

    def _relation(self, t: T.Apply, place: int, unbound: list[T.Var]) -> Iterable[_Way]:
        free = [a for a in t.args if isinstance(a, T.Var) and a in unbound]
        known = tuple(i for i, a in enumerate(t.args) if not T.free_vars(a) & set(unbound))
        if not free or len(free) + len(known) != len(t.args) or len(set(free)) != len(free):
            return

        def make() -> str:
            self._layout.use(t.symbol)
            if not known:
                return f"_{t.symbol}"
            self._layout.indices.add((t.symbol, known))
            key = self._expressions.key(tuple(t.args[i] for i in known))
            return f"{index_name(t.symbol, known)}({key}, ())"

        yield (2 if known else 4), place, tuple(free), make

    def _members(self, t: T.Or, place: int, unbound: list[T.Var]) -> Iterable[_Way]:
        """``f(v)`` is one of several members, none of them the default."""
        one_of = members_of(t)
        if one_of is None:
            return
        left, members = one_of
        if not (isinstance(left, T.Apply) and len(left.args) == 1):
            return
        variable = left.args[0]
        names = [m.name for m in members]
        if not isinstance(variable, T.Var) or variable not in unbound:
            return
        if self._layout.symbols[left.symbol].default in [repr(n) for n in names]:
            return

        def make(symbol: str = left.symbol) -> str:
            self._layout.use(symbol)
            self._layout.inverses.add(symbol)
            return f"[x for m in {names!r} for x in by_{symbol}(m, ())]"

        yield 3, place, (variable,), make

    def _domain(self, v: T.Var) -> _Make:
        def make() -> str:
            self._layout.domains.add(v.sort)
            here = (self._expressions.write(p) for p in self.parameters if p.sort == v.sort)
            return f"domain_{v.sort}({', '.join(here)})"

        return make


def inverse_name(symbol: str) -> str:
    """The name of a function by its values."""
    return f"values_{symbol}"


def groups_name(symbol: str, known: tuple[int, ...]) -> str:
    """The name of what an index is made of."""
    return f"groups_{symbol}_{''.join(map(str, known))}"


def index_name(symbol: str, known: tuple[int, ...]) -> str:
    """The name of an index in the text."""
    return f"by_{symbol}_{''.join(map(str, known))}"


if TYPE_CHECKING:
    from collections.abc import Callable

    _Make = Callable[[], str]
    _Way = tuple[int, int, tuple[T.Var, ...], _Make]
