"""Terms as Python expressions over containers.

``in_flight(b)`` becomes ``b in _in_flight``; ``exists j. job_block(j) = b & P(j)`` becomes
``any(True for j in by_job_block(b, ()) if P(j))``.
"""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from interlock.spec.language import terms as T
from interlock.statemachine.decisions.layout import Layout, Slot, groups_name, index_name, several_name
from interlock.statemachine.decisions.search import Group, Search
from interlock.statemachine.decisions.shapes import members_of, negated
from interlock.statemachine.errors import CompileError

_INFIX = {T.Eq: "==", T.Lt: "<", T.Le: "<=", T.Add: "+", T.Sub: "-"}


def name_of(v: T.Var) -> str:
    """A variable as a Python identifier."""
    return f"{v.name}_" if keyword.iskeyword(v.name) else v.name


def items_of(items: Iterable[str]) -> str:
    """The inside of a tuple's brackets."""
    return "".join(f"{i}, " for i in items).rstrip()


def record_name(key: str) -> str:
    """The local variable with the record of an argument."""
    return f"{key}_record"


class Reads(Counter[str]):
    """How often each read was written, and of which variables it is."""

    def __init__(self) -> None:
        super().__init__()
        self.vars: dict[str, set[T.Var]] = {}
        self.symbols: dict[str, str] = {}

    def note(self, read: str, t: T.Apply) -> None:
        """A read was written; what is a read inside a read stays where it is."""
        variables = {a for a in t.args if isinstance(a, T.Var)}
        if len(variables) == len(t.args):
            self[read] += 1
            self.vars[read], self.symbols[read] = variables, t.symbol


class Expressions:
    """Writes expressions and notes in a layout what they need.

    Args:
        layout: what this text needs, gathered as it is written.
        settled: what the whole program needs, as far as it is known: how relations are kept.
    """

    def __init__(self, layout: Layout, settled: Layout) -> None:
        self.layout = layout
        self.settled = settled
        self.search = Search(layout, self)
        self.reads = Reads()
        """Reads of functions whose arguments are variables, by their text."""
        self.known: dict[str, str] = {}
        """Reads whose result a local variable already holds."""
        self.held: dict[str, bool] = {}
        """Arguments whose record a local variable may hold, and whether it is read."""
        self._given: list[T.Term] = []
        """What holds at the place that is being written, because something is searched among what it is true of."""

    @contextmanager
    def given(self, condition: T.Term) -> Iterator[None]:
        """What is written within stands where a condition holds."""
        before, parts = self._given, condition.args if isinstance(condition, T.And) else (condition,)
        self._given = [*before, *parts]
        yield
        self._given = before

    @contextmanager
    def unnoted(self) -> Iterator[None]:
        """What is written within is not read besides what is written elsewhere, but instead of it."""
        counted = dict(self.reads)
        yield
        self.reads.clear()
        self.reads.update(counted)

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
                return self.search.exists(t.vars, t.body)
            case T.Forall():
                return f"(not {self.search.exists(t.vars, negated(t.body))})"
            case T.Card():
                return f"sum({self.search.generator('1', t.vars, t.body)})"
        raise CompileError(f"{t} cannot be compiled: {type(t).__name__.lower()} is not for what runs")

    def key(self, args: tuple[T.Term, ...]) -> str:
        """The key of a container: the bare argument, or a tuple of them."""
        texts = [self.write(a) for a in args]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def _apply(self, t: T.Apply) -> str:
        symbol = self.layout.use(t.symbol)
        places = self.settled.base(symbol.name)
        if places:
            at = self.key(tuple(a for i, a in enumerate(t.args) if i in places))
            rest = self.key(tuple(a for i, a in enumerate(t.args) if i not in places))
            return f"({rest} in {self.group(symbol.name, places, at).source})"
        key = self.key(t.args)
        if self.settled.is_column(symbol.name):
            found = self._read(f"_{symbol.name}[{key}]", t)
            return found if symbol.relation or symbol.default is not None else self._where_defined(found, key, t)
        slot = self.settled.slot(symbol.name)
        found = f"_{symbol.name}[{key}]"
        if slot is not None:
            found = f"{self._record(key, slot)}[{slot.place}]"
            if key in self.held:
                found = self._read(found, t)
        if slot is None and symbol.relation:
            return f"({key} in _{symbol.name})"
        if slot is None and symbol.default is not None:
            return self._read(f"_{symbol.name}.get({key}, {symbol.default})", t)
        return self._where_defined(found, key, t)

    def _read(self, read: str, t: T.Apply) -> str:
        self.reads.note(read, t)
        return self.known.get(read, read)

    def _where_defined(self, found: str, key: str, t: T.Apply) -> str:
        symbol = self.layout.symbols[t.symbol]
        if symbol.domain is None:
            return found
        domain = self.write(T.at(symbol.domain, symbol.args, t.args))
        return f"({found} if {domain} else undefined({symbol.name!r}, {key}))"

    def group(self, name: str, known: tuple[int, ...], at: str) -> Group:
        """What an index or (at no places) an inverse has for a key."""
        if self.settled.is_hinted(name, known):
            return self._hinted(name, at)
        slot = self.settled.group_slot(name, known)
        at_hand = slot is not None or self.settled.is_group_column(name, known)
        if slot is not None:
            source = f"{self._record(at, slot)}[{slot.place}]"
        else:
            source = f"{groups_name(name, known)}[{at}]" if at_hand else f"{index_name(name, known)}({at}, ())"
        found = f"{source} != ()" if at_hand else f"{at} in {groups_name(name, known)}"
        # It names nothing twice.
        return Group(source, found, lambda other: f"len({source}) > ({other} in {source})", lambda _: None, at_hand)

    def _hinted(self, name: str, at: str) -> Group:
        """Of one that is kept as hints."""
        several, hint = several_name(name), f"{groups_name(name, (1,))}[{at}]"
        one = f"{at} in {index_name(name, (0,))}({hint}, ())"

        def has_it(other: str) -> bool:
            return any(
                isinstance(t, T.Apply) and t.symbol == name and self._are(t.args, other, at) for t in self._given
            )

        def more(other: str) -> str:
            rest = "" if has_it(other) else f" or ({hint} != {other} and {one})"
            return f"{at} in {several}{rest}"

        return Group(
            f"{index_name(name, (1,))}({at}, ())",
            f"{at} in {several} or {one}",
            more,
            lambda other: several if has_it(other) else None,
        )

    def _are(self, args: tuple[T.Term, ...], *texts: str) -> bool:
        return tuple(map(self.write, args)) == texts

    def _record(self, key: str, slot: Slot) -> str:
        if key in self.held:
            self.held[key] = True
            return record_name(key)
        return self.record_of(key, slot.sort)

    def record_of(self, key: str, sort: str) -> str:
        """The record of an element, or that of an element of which nothing was said."""
        slot = Slot(sort, 0)
        return f"{slot.records}.get({key}, {slot.new})"

    def _or(self, t: T.Or) -> str:
        """``f(x) = a | f(x) = b`` is one membership test."""
        one_of = members_of(t)
        if one_of is None:
            return f"({' or '.join(map(self.write, t.args))})"
        left, members = one_of
        return f"({self.write(left)} in {tuple(m.name for m in members)!r})"
