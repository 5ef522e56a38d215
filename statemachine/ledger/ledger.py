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

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from interlock.spec.language.specification import Specification
from interlock.spec.language.variables import Site
from interlock.statemachine.decisions.program import Program, compile_program
from interlock.statemachine.decisions.search import index_name
from interlock.statemachine.errors import GuardViolation, RangeViolation, UndefinedApplication
from interlock.statemachine.ledger.containers import Function, Index, Relation
from interlock.statemachine.table import Move, Stepper

Question = Callable[..., str | None]


class Ledger:
    """The variables of a site, and the actions over them.

    Args:
        sizes: elements of the sorts whose number the program needs (workers) or that have to be
            enumerated from the start (chunks); those are numbered from 0.
        questions: see :func:`compile_program`.
        domains: elements of sorts that the program enumerates and that this site cannot know by itself.
        once: sorts whose ids are never used again, so that all that is said of one can go when it ends.
    """

    def __init__(
        self,
        spec: Specification,
        switches: Mapping[str, str],
        *,
        sizes: Mapping[str, int],
        site: Site = Site.SCHEDULER,
        questions: tuple[tuple[str, tuple[str, ...]], ...] = (),
        actions: tuple[str, ...] | None = None,
        once: tuple[str, ...] = ("job",),
        domains: Mapping[str, Callable[[], Iterable[Any]]] | None = None,
    ) -> None:
        self.program: Program = compile_program(spec, switches, site, questions=questions, actions=actions)
        self._sizes = dict(sizes)
        self._once = once
        self._domains = dict(domains or {})
        self._variables: dict[str, Relation | Function] = {}
        self._forgettable = {t.name: t.as_good_as_new() for t in self.program.tables.values()}
        self._about: dict[str, list[Relation | Function]] = {}
        self.tables: dict[str, Stepper] = {}
        names = self._names()
        self._functions = self.program.bind(names)
        for table in self.program.tables.values():
            stepper = table.bind(lambda row: self._functions.get(row.guard_name, _not_of_this_site))
            self.tables[table.name] = stepper
            names |= {f"{way}_{table.name}": getattr(stepper, way) for way in ("step", "find", "has")}

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
        for move in moves:
            if move.target in self._forgettable[move.lifecycle]:
                self._forget(move)
        return moves

    def question(self, action: str, *known: str) -> Question:
        """A function of the known parameters: the first reason against the action, or ``None``."""
        return self._functions[self.program.questions[action, known]]

    def decision(self, action: str, conjunct: str) -> Callable[..., bool]:
        """A conjunct of a guard, as a function of the parameters that it speaks of."""
        d = self.program.decision(action, conjunct)
        return self._functions[f"when_{d.action}__{d.conjunct.replace('-', '_')}"]

    def deliver(self, channel: str, key: Any, copies: int = 1) -> None:
        """Messages are under way to this site: guards of rows that receive them may look."""
        self.function(channel).put(key, copies)

    def clear(self, channel: str) -> None:
        """No message of a channel is under way any more."""
        function = self.function(channel)
        for key in list(function):
            function.drop(key)

    def relation(self, name: str) -> Relation:
        """What a relation is true of; read it, never write it."""
        found = self._variables[name]
        assert isinstance(found, Relation)
        return found

    def function(self, name: str) -> Function:
        """What was assigned to a function; read it, never write it."""
        found = self._variables[name]
        assert isinstance(found, Function)
        return found

    def index(self, name: str, *known: int) -> Mapping[Any, Iterable[Any]]:
        """A relation by the arguments at some places, in the order in which things became true."""
        relation = self.relation(name)
        for (symbol, places), index in self._indices.items():
            if symbol == name and places == known:
                return index.groups
        index = self._indices[name, known] = Index(len(self._arguments(name)), known)
        relation.indices.append(index)
        for key in relation:
            index.add(key)
        return index.groups

    def inverse(self, name: str) -> Mapping[Any, Iterable[Any]]:
        """A function of one argument by its value."""
        function = self.function(name)
        if function.inverse is None:
            inverse: dict[Any, dict[Any, None]] = {}
            for key, value in function.items():
                inverse.setdefault(value, {})[key] = None
            function.inverse = inverse
        return function.inverse

    def _names(self) -> dict[str, Any]:
        """What the text of the program refers to."""
        layout = self.program.layout
        self._indices: dict[tuple[str, tuple[int, ...]], Index] = {}
        for name in sorted(layout.used):
            symbol = layout.symbols[name]
            container = Relation() if symbol.relation else Function()
            self._variables[name] = container
            for sort in {a.sort for a in symbol.args} if len(symbol.args) == 1 else ():
                self._about.setdefault(sort, []).append(container)
        names: dict[str, Any] = {f"_{n}": v for n, v in self._variables.items()}
        for name in layout.inverses:
            names[f"by_{name}"] = self.inverse(name).get
        for name, known in layout.indices:
            names[index_name(name, known)] = self.index(name, *known).get
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

    def _domain(self, sort: str) -> Callable[[], Iterable[Any]]:
        if sort in self._domains:
            return self._domains[sort]
        if sort in self._sizes:
            elements = range(self._sizes[sort])
            return lambda: elements
        tables = self.program.tables.values()
        variable = next(t.lifecycle.variable for t in tables if t.lifecycle.entity[0].sort == sort)
        known = self._variables[variable]
        return lambda: list(known)

    def _forget(self, move: Move) -> None:
        """An entity that is as it was before it was ever named takes no room."""
        lifecycle = self.program.tables[move.lifecycle].lifecycle
        self.function(lifecycle.variable).drop(move.entity)
        sort = lifecycle.entity[0].sort
        if len(lifecycle.entity) == 1 and sort in self._once:
            for container in self._about[sort]:
                _clear(container, move.entity)

    def _arguments(self, name: str) -> tuple[Any, ...]:
        return self.program.layout.symbols[name].args

    def _refuse(self, action: str, conjunct: str, arguments: tuple[Any, ...]) -> NoReturn:
        d = self.program.decision(action, conjunct)
        raise GuardViolation(action, arguments, conjunct, d.text, d.source)


def _clear(container: Relation | Function, key: Any) -> None:
    if isinstance(container, Relation):
        container.put(key, False)
    else:
        container.drop(key)


def _not_of_this_site(*arguments: Any) -> NoReturn:
    raise LookupError("this row is fired at another site")


def _undefined(symbol: str, arguments: object) -> NoReturn:
    raise UndefinedApplication(symbol, arguments)


def _out_of_range(symbol: str, arguments: object, value: int, low: int, high: int | None) -> NoReturn:
    raise RangeViolation(symbol, arguments, value, low, high)
