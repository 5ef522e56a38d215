"""One state of a system at a trace's own sizes, with a journal that takes any change back.

>>> from interlock.spec.kv import SPECIFICATION
>>> from interlock.spec.language.elaborate import elaborate
>>> from interlock.statemachine.sparse.program import Program
>>> world = World(Program(elaborate(SPECIFICATION, SPECIFICATION.switch_values())), {"worker": 2})
>>> mark = world.mark()
>>> world.write("holds", ("A", "7"), True)
>>> world.read("holds", ("A", "7"))
True
>>> world.undo(mark)
>>> world.read("holds", ("A", "7"))
False
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from interlock.spec.language import terms as T
from interlock.statemachine.sparse.faults import OutOfRangeError, OutsideDomainError, UndefinedError
from interlock.statemachine.sparse.layout import MISSING, IndexSpec, Key, Missing, Slot, Value
from interlock.statemachine.sparse.program import Compiled, Program

Cell = tuple[str, Key]
Delta = dict[Cell, Value | Missing]
"""Cells with the values that they have on one side of a difference."""

Write = tuple["Live", Key, Value]


class _PartialStore(dict[Key, Any]):
    """A store whose gaps are violations."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __missing__(self, key: Key) -> Any:
        raise UndefinedError(self._name, key)


class _Index:
    """The stored keys of a variable in groups, kept up to date."""

    __slots__ = ("group", "groups")

    def __init__(self, spec: IndexSpec) -> None:
        self.groups: dict[Any, dict[Key, None]] = {}
        self.group = _grouping(spec)

    def add(self, key: Key, value: object) -> None:
        """A key is now stored with a value."""
        name = self.group(key, value)
        members = self.groups.get(name)
        if members is None:
            self.groups[name] = {key: None}
        else:
            members[key] = None

    def drop(self, key: Key, value: object) -> None:
        """A key is no longer stored with a value."""
        name = self.group(key, value)
        members = self.groups[name]
        del members[key]
        if not members:
            del self.groups[name]


def _grouping(spec: IndexSpec) -> Callable[[Key, object], object]:
    """The name of the group of a key with a value."""
    positions = spec.positions
    if not positions:
        return (lambda _, value: value) if spec.by_value else (lambda _key, _value: ())
    if len(positions) == 1:
        (p,) = positions
        return (lambda key, value: (key[p], value)) if spec.by_value else (lambda key, _: key[p])
    if spec.by_value:
        return lambda key, value: (*(key[i] for i in positions), value)
    pick = itemgetter(*positions)
    return lambda key, _: pick(key)


class Live:
    """A variable of one world: its store and its indexes."""

    __slots__ = ("default", "erasers", "indexes", "name", "slot", "store")

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.name = slot.name
        self.default = slot.default
        self.store: dict[Key, Any] = _PartialStore(slot.name) if slot.partial else {}
        self.indexes: list[_Index] = []
        self.erasers: list[tuple[Live, tuple[int, ...] | None]] = []
        """Partial functions that a change here may end, with the positions of their arguments."""


class World:
    """A state, the entities that are known in it, and the compiled functions bound to it."""

    def __init__(self, program: Program, sizes: Mapping[str, int] | None = None) -> None:
        self.program = program
        self.live = {name: Live(slot) for name, slot in program.layout.slots.items()}
        self.known: dict[str, dict[str, None]] = {s: {} for s in program.layout.sorts}
        self._journal: list[tuple[Live, Key, Any]] = []
        self._bound: dict[str, Callable[..., Any]] = {}
        self._have: dict[str, _Index] = {}
        self._names: dict[str, Any] = {
            "NONE": (), "MISSING": MISSING, "checked": _checked, "undefined": _undefined,
        }  # fmt: skip
        self._names |= {f"S_{n}": v.store for n, v in self.live.items()}
        self._names |= {f"L_{n}": v for n, v in self.live.items()}
        self._names |= {f"U_{s}": u for s, u in self.known.items()}
        self._names |= {f"N_{s}": (sizes or {}).get(s, 1) for s in self.known}
        for v in self.live.values():
            for symbol, positions in v.slot.triggers:
                whole = positions == tuple(range(self.live[symbol].slot.arity))
                self.live[symbol].erasers.append((v, None if whole else positions))
            if v.slot.initial is not None:
                self._put(v, (), self._number(v.slot.initial))
        self._journal.clear()

    def _number(self, t: T.Term) -> int:
        """What a term over sizes comes to."""
        match t:
            case T.Int():
                return t.value
            case T.Size():
                return self.size(t.sort)
            case T.Add():
                return self._number(t.left) + self._number(t.right)
            case T.Sub():
                return self._number(t.left) - self._number(t.right)
        raise TypeError(f"an initial value is made of numbers and sizes, not of {t}")

    # -- entities and functions ------------------------------------------------------------------

    def know(self, sort: str, name: str) -> str:
        """The entity of a sort by that name; quantifiers range over what is known."""
        elements = self.known[sort]
        name = sys.intern(name)
        if name not in elements:
            elements[name] = None
        return name

    def elements(self, sort: str) -> tuple[Any, ...]:
        """What a quantifier over a sort ranges over: the entities that are known, or all members of an enumeration."""
        members = self.program.layout.values_of(sort)
        return tuple(self.known[sort]) if members is None else tuple(members)

    def size(self, sort: str) -> int:
        """How many elements a sort is said to have."""
        size: int = self._names[f"N_{sort}"]
        return size

    def bind(self, compiled: Compiled) -> Callable[..., Any]:
        """A compiled function that reads this world."""
        found = self._bound.get(compiled.entry)
        if found is None:
            for spec in sorted(compiled.indexes, key=lambda s: s.name):
                self._index(spec)
            exec(compiled.code, self._names)
            found = self._bound[compiled.entry] = self._names[compiled.entry]
        return found

    def _index(self, spec: IndexSpec) -> None:
        if spec.name in self._have:
            return
        live = self.live[spec.symbol]
        index = self._have[spec.name] = _Index(spec)
        for key, value in live.store.items():
            index.add(key, value)
        live.indexes.append(index)
        self._names[spec.name] = index.groups

    # -- cells -----------------------------------------------------------------------------------

    def read(self, name: str, key: Key) -> Value | Missing:
        """The value of a variable at a key; ``MISSING`` where a partial function has none."""
        live = self.live[name]
        value: Value | Missing = live.store.get(key, live.default)
        return value

    def write(self, name: str, key: Key, value: Value | Missing) -> None:
        """Change one cell."""
        self._put(self.live[name], key, value)

    def apply(self, writes: list[Write]) -> None:
        """The writes of one step, after which partial functions lose what has left their domain.

        Raises:
            OutsideDomainError: a value is given outside a domain; the state is as before.
        """
        start = len(self._journal)
        changed: list[tuple[Live, Key]] = []
        for live, key, value in writes:
            if self._put(live, key, value):
                changed.append((live, key))
        for live, key in changed:
            for target, positions in live.erasers:
                target_key = key if positions is None else _project(key, positions)
                if target_key in target.store and not self._defined(target, target_key):
                    self._put(target, target_key, MISSING)
        for live, key, _ in writes:
            if live.slot.partial and not (key in live.store and self._defined(live, key)):
                self.undo(start)
                raise OutsideDomainError(live.name, key)

    def _defined(self, live: Live, key: Key) -> bool:
        """Whether a partial function is defined at a key."""
        defined = self.bind(self.program.domain(live.name))
        return bool(defined(*key) if live.slot.arity > 1 else defined(key) if live.slot.arity else defined())

    def _put(self, live: Live, key: Key, value: object) -> bool:
        store, default = live.store, live.default
        old = store.get(key, default)
        if old == value:
            return False
        self._journal.append((live, key, old))
        stored = value != default
        if stored:
            store[key] = value
        else:
            del store[key]
        for index in live.indexes:
            if old != default:
                index.drop(key, old)
            if stored:
                index.add(key, value)
        return True

    # -- going back ------------------------------------------------------------------------------

    def mark(self) -> int:
        """A point to come back to."""
        return len(self._journal)

    def undo(self, mark: int) -> None:
        """Back to a mark."""
        journal = self._journal
        taken_back = journal[mark:]
        del journal[mark:]
        for live, key, old in reversed(taken_back):
            self._put(live, key, old)
        del journal[mark:]

    def forget(self, mark: int | None = None) -> None:
        """What has happened (before a mark) will never be taken back; marks count from there again."""
        del self._journal[:mark]

    def since(self, mark: int) -> Delta:
        """The cells that differ from the state at a mark, with their values now."""
        first: dict[tuple[Live, Key], Any] = {}
        for live, key, old in self._journal[mark:]:
            first.setdefault((live, key), old)
        return {
            (live.name, key): now
            for (live, key), old in first.items()
            if (now := live.store.get(key, live.default)) != old
        }

    def before(self, mark: int) -> Delta:
        """The same cells, with the values that they had at the mark."""
        first: Delta = {}
        for live, key, old in self._journal[mark:]:
            first.setdefault((live.name, key), old)
        return first

    def put(self, delta: Delta) -> None:
        """Give cells the values of a delta."""
        for (name, key), value in delta.items():
            self._put(self.live[name], key, value)

    def changed(self, mark: int) -> Iterator[tuple[Live, Key]]:
        """The cells written since a mark, each once."""
        seen: dict[tuple[Live, Key], None] = {}
        for live, key, _ in self._journal[mark:]:
            seen[live, key] = None
        yield from seen

    def cells(self) -> Iterator[tuple[str, Key, Value]]:
        """Everything that is not at its default; of a function whose values may outlive its domain, what is defined."""
        for name, live in self.live.items():
            for key, value in live.store.items():
                if not live.slot.guarded or self._defined(live, key):
                    yield name, key, value


def _project(key: Key, positions: tuple[int, ...]) -> Key:
    if not positions:
        return ()
    return key[positions[0]] if len(positions) == 1 else tuple(key[i] for i in positions)


def _checked(name: str, key: Key, value: int, low: int, high: int | None) -> int:
    if value < low or (high is not None and value > high):
        raise OutOfRangeError(name, key, value, low, high)
    return value


def _undefined(name: str, key: Key) -> object:
    raise UndefinedError(name, key)
