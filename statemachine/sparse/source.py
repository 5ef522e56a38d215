"""Terms as Python source: one expression per term, a function of its own per quantifier.

``and``, ``or`` and conditional expressions of Python are read from left to right like those of the
language, so what is not reached need not be defined. Names in compiled code: ``v_x`` a variable x,
``S_f`` the store of f, ``U_s`` the known elements of sort s, ``N_s`` its size, ``I_…`` an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from interlock.spec.language import terms as T
from interlock.statemachine.sparse.defined import Definedness, Given
from interlock.statemachine.sparse.layout import IndexSpec, Layout, Slot
from interlock.statemachine.sparse.normal import conjuncts, counter, negation_normal

Mode = Literal["any", "count", "each"]
"""What an enumeration gives: whether there is one, how many there are, or the list of them."""


@dataclass(slots=True)
class Unit:
    """Compiled text: functions, of which ``entry`` is the one to call, and the indexes that they read."""

    entry: str
    functions: list[str] = field(default_factory=list)
    indexes: set[IndexSpec] = field(default_factory=set)
    scans: list[str] = field(default_factory=list)
    """Sorts that it enumerates whole, because nothing narrower was found."""

    @property
    def text(self) -> str:
        return "\n".join(self.functions)


class Enumerate(Protocol):
    """Writes a function of ``params`` that finds the values of ``targets`` that satisfy all ``parts``."""

    def __call__(
        self,
        writer: UnitWriter,
        name: str,
        params: tuple[T.Var, ...],
        targets: tuple[T.Var, ...],
        given: Given,
        mode: Mode,
        parts: tuple[T.Term, ...],
    ) -> None: ...


def ident(v: T.Var) -> str:
    """A variable's name in compiled code."""
    return f"v_{v.name}"


def parameters(variables: Iterable[T.Var]) -> str:
    """A parameter list."""
    return ", ".join(map(ident, variables))


class UnitWriter:
    """Writes the functions of one unit.

    Args:
        enumerate_: writes the function of a quantifier (the planner; the two are defined by each other).
    """

    def __init__(self, layout: Layout, definedness: Definedness, entry: str, enumerate_: Enumerate) -> None:
        self._enumerate = enumerate_
        self.layout = layout
        self.definedness = definedness
        self.unit = Unit(entry)
        self.numbers: Iterator[int] = counter()

    def function(self, head: str, lines: list[str]) -> None:
        """Add a function."""
        self.unit.functions.append("\n".join([head, *(f"    {line}" for line in lines)]) + "\n")

    def index(self, spec: IndexSpec) -> str:
        """The name of an index, which the unit from now on needs."""
        self.unit.indexes.add(spec)
        return spec.name

    def key(self, args: tuple[T.Term, ...], given: Given) -> str:
        """Arguments as a key of a store."""
        parts = [self.expression(a, given) for a in args]
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    def expression(self, t: T.Term, given: Given = ()) -> str:
        """``t`` as a Python expression; ``given`` is what holds where it stands."""
        match t:
            case T.Var():
                return ident(t)
            case T.Bool() | T.Int():
                return repr(t.value)
            case T.Member():
                return repr(t.name)
            case T.Size():
                return f"N_{t.sort}"
            case T.Apply():
                return self._application(self.layout[t.symbol], t.args, given)
            case T.Not():
                return f"(not {self.expression(t.body, given)})"
            case T.And() | T.Or():
                return self._in_turn(t, given)
            case T.Implies():
                right = self.expression(t.right, (*given, negation_normal(t.left)))
                return f"(not {self.expression(t.left, given)} or {right})"
            case T.Ite():
                then = self.expression(t.then, (*given, negation_normal(t.cond)))
                orelse = self.expression(t.orelse, (*given, negation_normal(t.cond, False)))
                return f"({then} if {self.expression(t.cond, given)} else {orelse})"
            case T.Eq() | T.Lt() | T.Le() | T.Add() | T.Sub():
                left, right = self.expression(t.left, given), self.expression(t.right, given)
                return f"({left} {_OPERATORS[t.op]} {right})"
            case T.Forall():
                return f"(not {self._quantifier(t.vars, negation_normal(t.body, False), given, 'any')})"
            case T.Exists():
                return self._quantifier(t.vars, negation_normal(t.body), given, "any")
            case T.Card():
                return self._quantifier(t.vars, negation_normal(t.body), given, "count")
        raise TypeError(f"cannot be compiled here: {t}")

    def stored(self, slot: Slot, key: str) -> str:
        """What is stored at a key; for partial functions, whatever is there, or ``MISSING``."""
        if slot.default is False:
            return f"({key} in S_{slot.name})"
        if slot.default is True:
            return f"({key} not in S_{slot.name})"
        default = "MISSING" if slot.partial else repr(slot.default)
        return f"S_{slot.name}.get({key}, {default})"

    def _application(self, slot: Slot, args: tuple[T.Term, ...], given: Given) -> str:
        key = self.key(args, given)
        if not slot.partial:
            return self.stored(slot, key)
        if not slot.guarded:
            return f"S_{slot.name}[{key}]"
        domain = self.expression(slot.variable.defined_at(args), given)
        return f"(S_{slot.name}[{key}] if {domain} else undefined({slot.name!r}, {key}))"

    def _in_turn(self, t: T.And | T.Or, given: Given) -> str:
        parts: list[str] = []
        for a in t.args:
            parts.append(self.expression(a, given))
            given = (*given, negation_normal(a, isinstance(t, T.And)))
        return f"({(' and ' if isinstance(t, T.And) else ' or ').join(parts)})" if parts else repr(t.op == "and")

    def _quantifier(self, targets: tuple[T.Var, ...], body: T.Term, given: Given, mode: Mode) -> str:
        name = f"q{next(self.numbers)}_{self.unit.entry}"
        free = sorted(T.free_vars(body) - set(targets), key=lambda v: v.name)
        self._enumerate(self, name, tuple(free), targets, given, mode, conjuncts(body))
        return f"{name}({parameters(free)})"


_OPERATORS = {"eq": "==", "lt": "<", "le": "<=", "add": "+", "sub": "-"}
