"""A ledger: the variables of one site, and the compiled actions that alone may change them.

>>> from interlock.spec.kv import SPECIFICATION
>>> ledger = Ledger(SPECIFICATION, SPECIFICATION.switch_values(), sizes={"worker": 1, "chunk": 1})
>>> ledger.do("add_request", "A")
[Move(lifecycle='request', entity='A', source='absent', target='waiting')]
>>> ledger.do("finish", "B")  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
interlock.statemachine.errors.IllegalTransition: request B is absent: finish is illegal; legal now: ...
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, NoReturn

from interlock.spec.language.elaborate import fold
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE, Or
from interlock.spec.language.variables import Site
from interlock.statemachine.decisions.layout import Kept, Symbol, groups_name, index_name, members_name, several_name
from interlock.statemachine.decisions.program import Program, Wanted, compile_program
from interlock.statemachine.decisions.writer import term_name
from interlock.statemachine.errors import CompileError, GuardViolation, RangeViolation, UndefinedApplication
from interlock.statemachine.ledger.containers import (
    Column,
    ColumnFunction,
    ColumnGroups,
    ColumnRelation,
    Function,
    HintedGroups,
    Index,
    IndexedRelation,
    RecordedFunction,
    RecordedGroups,
    RecordedRelation,
    Records,
)
from interlock.statemachine.table import Move

Question = Callable[..., str | None]
AnyFunction = Function | RecordedFunction | ColumnFunction


class Ledger:
    """The variables of a site, and the actions over them.

    Args:
        sizes: elements of the sorts whose number the program needs (workers) or that have to be
            enumerated from the start (chunks); those are numbered from 0.
        wanted: what is compiled, and how.
        domains: elements of sorts that the program enumerates and that this site cannot know by itself.
    """

    def __init__(
        self,
        spec: Specification,
        switches: Mapping[str, str],
        *,
        sizes: Mapping[str, int],
        site: Site = Site.SCHEDULER,
        wanted: Wanted | None = None,
        domains: Mapping[str, Callable[[], Iterable[Any]]] | None = None,
    ) -> None:
        self.program: Program = compile_program(spec, switches, site, wanted)
        self._sizes = dict(sizes)
        self._domains = dict(domains or {})
        self._variables: dict[str, AbstractSet[Any] | AnyFunction] = {}
        names = self._names()
        self._functions = self.program.bind(names)
        for table in self.program.tables.values():
            stepper = table.bind(lambda row: self._functions.get(row.guard_name, _not_of_this_site))
            names[f"step_{table.name}"] = stepper.step

    def do(self, action: str, *arguments: Any) -> list[Move]:
        """Do an action, or raise and change nothing.

        Returns:
            The lifecycle moves. Entities that are as good as new afterwards are forgotten.

        Raises:
            IllegalTransition: a lifecycle has no row that applies.
            GuardViolation: a conjunct of the guard is false.
            RangeViolation: a counter would leave its range.
        """
        moves: list[Move] = self._functions[f"do_{action}"](*arguments)
        return moves

    def action(self, name: str) -> Callable[..., list[Move]]:
        """An action as a function: what :meth:`do` does."""
        return self._functions[f"do_{name}"]

    def question(self, action: str, *known: str) -> Question:
        """A function of the known parameters: the first reason against the action, or ``None``."""
        return self._functions[self.program.questions[action, known]]

    def batch(self, action: str) -> Callable[..., int]:
        """An action for several rows of arguments, as if done for one after the other (:class:`Batch`).

        It is ``batch(rows, moves)``: rows are tuples of arguments (the bare one if there is one only), ``moves`` gets
        the lifecycle moves, as tuples. If some are chosen, it is ``batch(rows, moves, chosen)``: each row that is not
        refused takes the next tuple of those from an iterator, and the batch ends where that does. Gives how many rows
        are done: where nothing is asked about, all. Raises as :meth:`do` at the first row that may not be done; those
        before it are done, nothing else is.

        Raises:
            KeyError: the program was not compiled with it (:attr:`Wanted.batches`).
        """
        return self._functions[f"each_{action}"]

    def decision(self, action: str, conjunct: str) -> Callable[..., bool]:
        """A conjunct of a guard, as a function of the parameters that it speaks of."""
        d = self.program.decision(action, conjunct)
        return self._functions[f"when_{d.action}__{d.conjunct.replace('-', '_')}"]

    def condition(self, action: str, conjunct: str) -> Callable[..., bool]:
        """As :meth:`decision`, and always true where the switch values leave nothing of the conjunct.

        Raises:
            UnknownName: there is no such action.
            KeyError: the action declares no such conjunct.
        """
        if (action, conjunct) in self.program.decisions:
            return self.decision(action, conjunct)
        if all(c.id != conjunct for c in self.program.spec.action(action).guard):
            raise KeyError(conjunct)
        return lambda *_: True

    def may_refuse(self, action: str, conjunct: str) -> bool:
        """Whether a conjunct can be false: the switch values make neither all of it true, nor one side of it."""
        if (action, conjunct) not in self.program.decisions:
            return False
        t = next(c.term for c in self.program.spec.action(action).guard if c.id == conjunct)
        folded = fold(t, dict(self.program.switches))
        return not (isinstance(folded, Or) and TRUE in folded.args)

    def term(self, name: str) -> Callable[..., Any]:
        """A term of :attr:`Wanted.terms`, as a function of what it speaks of."""
        return self._functions[term_name(name)]

    def given(self, name: str, key: Any, value: Any = True) -> None:
        """What this site is told instead of having done it: for the books of an engine that keeps its own.

        Indices are kept, nothing is checked: before the first action only, or the first after :meth:`blank`. What
        these switch values never ask about is not kept.

        Raises:
            KeyError: the specification has no such variable.
        """
        if name in self._variables:
            self._functions[f"put_{name}"](key, value)
        elif name not in self.program.layout.symbols:
            raise KeyError(name)

    def blank(self) -> None:
        """Back to the initial state."""
        for kept in self._kept:
            kept.clear()
        self._make_room()

    def deliver(self, channel: str, key: Any) -> None:
        """A message is under way to this site: guards of rows that receive it may look."""
        self._channel(channel)[key] = 1

    def clear(self, channel: str) -> None:
        """No message of a channel is under way any more."""
        self._channel(channel).clear()

    def _channel(self, name: str) -> Function:
        found = self._variables[name]
        assert isinstance(found, Function)
        return found

    def forget(self, name: str, key: Any) -> None:
        """What a function says of an element that will never be spoken of again takes no more room."""
        self._functions[f"drop_{name}"](key)

    def relation(self, name: str) -> AbstractSet[Any]:
        """What a relation is true of; read it, never write it."""
        found = self._variables[name]
        assert isinstance(found, AbstractSet)
        return found

    def function(self, name: str) -> AnyFunction:
        """What was assigned to a function; read it, never write it."""
        found = self._variables[name]
        assert not isinstance(found, AbstractSet)
        return found

    def index(self, name: str, *known: int) -> Mapping[Any, Iterable[Any]]:
        """A relation by the arguments at some places, in the order in which things became true.

        Raises:
            KeyError: the program was not compiled with that look-up (:attr:`Wanted.lookups`).
        """
        return self._indices[name, known].groups

    def inverse(self, name: str) -> Mapping[Any, Iterable[Any]]:
        """A function of one argument by its value.

        Raises:
            KeyError: as for :meth:`index`.
        """
        found = self.function(name).inverse
        if found is None:
            raise KeyError(name)
        return found

    def _names(self) -> dict[str, Any]:
        """What the text of the program refers to."""
        layout = self.program.layout
        self._indices: dict[tuple[str, tuple[int, ...]], Index] = {}
        records: dict[str, Records] = {sort: {} for sort in layout.once}
        self._columns: dict[Kept, Column] = {of: [] for sort in layout.bounded for of in layout.columns(sort)}
        self._kept: list[dict[Any, Any] | set[Any] | Column] = [*records.values(), *self._columns.values()]
        """All that holds anything."""
        self._several: dict[str, dict[Any, Any]] = {}
        for name in sorted(layout.used):
            self._variables[name] = self._variable(layout.symbols[name], records)
        names: dict[str, Any] = {f"_{n}": self._columns.get((n, None), v) for n, v in self._variables.items()}
        names |= {f"whole_{name}": self._variables[name] for name, known in self._columns if known is None}
        for name in layout.inverses:
            self.function(name).inverse = self._groups(name, (), records)
        looked_up: dict[tuple[str, tuple[int, ...]], Mapping[Any, Any] | None]
        looked_up = {(name, ()): self.function(name).inverse for name in layout.inverses}
        looked_up |= {of: index.groups for of, index in self._indices.items()}
        for of, groups in looked_up.items():
            assert groups is not None
            names[index_name(*of)] = groups.get
            names[groups_name(*of)] = self._columns.get(of, groups)
            if not of[1]:
                names |= {members_name(of[0], repr(m)): groups[m] for m in layout.symbols[of[0]].members}
        names |= {several_name(name): several for name, several in self._several.items()}
        for sort, kept in records.items():
            names[f"records_{sort}"] = kept
            names[f"new_{sort}"] = [self._initial(*of) for of in layout.fields(sort)]
        for sort in layout.bounded:
            names[f"grow_{sort}"] = partial(self._grow, sort)
        self._make_room()
        for sort in layout.domains:
            names[f"domain_{sort}"] = self._domain(sort)
        for sort in layout.sizes:
            names[f"size_{sort}"] = self._sizes[sort]
        return names | {
            "Move": Move,
            "refuse": self._refuse,
            "undefined": _undefined,
            "out_of_range": _out_of_range,
        }

    def _make_room(self) -> None:
        """Columns have a place for every element of a sort whose number is known."""
        for sort in self.program.layout.bounded:
            self._extend(sort, self._sizes.get(sort, 0))

    def _grow(self, sort: str, element: object) -> None:
        """Makes room for an element in the columns of its sort, and for as many again."""
        if not (isinstance(element, int) and element >= 0):
            raise ValueError(f"{sort} {element!r}: ids of {sort}s are numbers from 0 on here")
        self._extend(sort, 2 * element + 16)

    def _extend(self, sort: str, size: int) -> None:
        for of in self.program.layout.columns(sort):
            column = self._columns[of]
            column.extend([self._initial(*of)] * (size - len(column)))

    def _variable(self, symbol: Symbol, records: Mapping[str, Records]) -> AbstractSet[Any] | AnyFunction:
        layout = self.program.layout
        slot = layout.slot(symbol.name)
        if slot is not None:
            return (RecordedRelation if symbol.relation else RecordedFunction)(records[slot.sort], slot.place)
        if layout.is_column(symbol.name):
            return (ColumnRelation if symbol.relation else ColumnFunction)(self._columns[symbol.name, None])
        return self._container(symbol, records)

    def _container(self, symbol: Symbol, records: Mapping[str, Records]) -> AbstractSet[Any] | Function:
        if not symbol.relation:
            function = Function()
            self._kept.append(function)
            return function
        indices: list[Index] = []
        for known in self.program.layout.indices_of(symbol.name):
            first = indices[0].groups if indices else None
            indices.append(Index(len(symbol.args), known, self._groups(symbol.name, known, records, first)))
        self._indices |= {(symbol.name, index.known): index for index in indices}
        if indices:
            return IndexedRelation(indices)
        relation = set[Any]()
        self._kept.append(relation)
        return relation

    def _groups(
        self,
        name: str,
        known: tuple[int, ...],
        records: Mapping[str, Records],
        first: Mapping[Any, Any] | None = None,
    ) -> Mapping[Any, Any]:
        """An index or (at no places) an inverse; ``first`` is the first index of the same relation."""
        layout = self.program.layout
        slot = layout.group_slot(name, known)
        if slot is not None:
            return RecordedGroups(records[slot.sort], slot.place)
        if layout.is_hinted(name, known):
            several = self._several[name] = dict[Any, Any]()
            self._kept.append(several)
            assert first is not None
            return HintedGroups(self._columns[name, known], first, several)
        if layout.is_group_column(name, known):
            return ColumnGroups(self._columns[name, known])
        groups: dict[Any, Any] = {} if known else {m: {} for m in layout.symbols[name].members}
        self._kept += groups.values() or [groups]
        return groups

    def _initial(self, name: str, known: tuple[int, ...] | None) -> Any:
        """What a new record or column has; ``None``: nothing was assigned, and there is no initial value."""
        symbol = self.program.layout.symbols[name]
        if known is not None:
            return None if self.program.layout.is_hinted(name, known) else ()
        if symbol.relation:
            return False
        if symbol.default is None:
            return None
        sort = symbol.default.removeprefix("size_")
        return self._sizes[sort] if sort in symbol.sizes else literal_eval(symbol.default)

    def _domain(self, sort: str) -> Callable[..., Iterable[Any]]:
        """The elements of a sort, as a function of those that the action at hand is about."""
        if sort in self._domains:
            given = self._domains[sort]
            return lambda *_: given()
        if sort in self._sizes:
            elements = range(self._sizes[sort])
            return lambda *_: elements
        tables = self.program.tables.values()
        variable = next((t.lifecycle.variable for t in tables if t.lifecycle.entity[0].sort == sort), None)
        if variable is None:
            raise CompileError(f"the program goes through every {sort}, and nothing lists them: no lifecycle is of one")
        known = self._variables[variable]
        return lambda *here: [*known, *(e for e in here if e not in known)] if here else known

    def _refuse(self, action: str, conjunct: str, arguments: tuple[Any, ...]) -> NoReturn:
        d = self.program.decision(action, conjunct)
        raise GuardViolation(action, arguments, conjunct, d.text, d.source)


def _not_of_this_site(*arguments: Any) -> NoReturn:
    raise LookupError("this row is fired at another site")


def _undefined(symbol: str, arguments: object) -> NoReturn:
    raise UndefinedApplication(symbol, arguments)


def _out_of_range(symbol: str, arguments: object, value: int, low: int, high: int | None) -> NoReturn:
    raise RangeViolation(symbol, arguments, value, low, high)
