"""What a program needs of its containers: found while the text is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import FALSE, Bool, Int, Member, Size, Term, Var
from interlock.spec.language.variables import Channel, Site, StateVar
from interlock.statemachine.errors import CompileError


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable or channel as a container: a set of tuples, or a dictionary with a default.

    Args:
        relation: a set (of what it is true of), else a dictionary.
        members: the values that a function may have, if they are enumerated.
        channel: messages, which others put there.
        result: of a function, the sort or enumeration of its values.
        sizes: sorts whose number of elements the default speaks of (a counter that starts at a capacity).
        true_at_first: a relation that is true where nothing was said, which no set of tuples is.
        default: the value where nothing was assigned, as Python text; ``None``: undefined there.
    """

    name: str
    args: tuple[Var, ...]
    relation: bool
    default: str | None
    domain: Term | None
    low: Term | None
    high: Term | None
    ghost: bool
    members: tuple[str, ...] = ()
    channel: bool = False
    result: str = ""
    sizes: frozenset[str] = frozenset()
    true_at_first: bool = False


def groups_name(symbol: str, known: tuple[int, ...]) -> str:
    """The name of what an index is made of, or (at no places) an inverse, in the text."""
    return f"groups_{symbol}_{''.join(map(str, known))}" if known else f"values_{symbol}"


def members_name(symbol: str, value: str) -> str:
    """The elements at which a function has a value, one of an enumeration, in the text; a literal has its own name."""
    literal = value.strip("'")
    return f"values_{symbol}__{literal}" if literal != value else f"{groups_name(symbol, ())}[{value}]"


def index_name(symbol: str, known: tuple[int, ...]) -> str:
    """The name of a look-up there, in the text."""
    return f"by_{symbol}_{''.join(map(str, known))}" if known else f"by_{symbol}"


def several_name(symbol: str) -> str:
    """The name of the groups of more than one member, of an index that is kept as hints, in the text."""
    return f"several_{symbol}"


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the record of an element of a sort."""

    sort: str
    place: int

    @property
    def records(self) -> str:
        """The dictionary from an element to its record, in the text."""
        return f"records_{self.sort}"

    @property
    def new(self) -> str:
        """The record of an element of which nothing was said yet, in the text."""
        return f"new_{self.sort}"


Kept = tuple[str, tuple[int, ...] | None]
"""A variable (``None``), or the groups of one of its indices or (at no places) of its inverse."""


@dataclass(slots=True)
class Layout:
    """Collects what the text refers to.

    Args:
        once: sorts whose ids are never used again; what is said of one is kept together, in a record, and goes with it.
        bounded: sorts whose ids are small numbers; what is said of them is kept in columns, at the places of the ids.
    """

    symbols: dict[str, Symbol]
    once: tuple[str, ...] = ()
    bounded: tuple[str, ...] = ()
    used: set[str] = field(default_factory=set)
    inverses: set[str] = field(default_factory=set)
    """Functions of one argument that are looked up by value."""
    indices: set[tuple[str, tuple[int, ...]]] = field(default_factory=set)
    """Relations that are looked up by the arguments at these places."""
    listed: set[str] = field(default_factory=set)
    """Relations that are gone through as a whole."""
    domains: set[str] = field(default_factory=set)
    """Sorts that are enumerated, for want of an index."""
    sizes: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    """Lifecycles some of whose entities are to be forgotten."""
    unkept: frozenset[str] = frozenset()
    """Variables that nothing may refer to."""

    def indices_of(self, name: str) -> list[tuple[int, ...]]:
        """The places by which a relation is kept, if it is looked up by some; no set of tuples is kept then."""
        return sorted(known for symbol, known in self.indices if symbol == name)

    def copy(self) -> Layout:
        """One that gathers more."""
        return replace(
            self,
            used=set(self.used),
            inverses=set(self.inverses),
            indices=set(self.indices),
            listed=set(self.listed),
            domains=set(self.domains),
            sizes=set(self.sizes),
            forgotten=set(self.forgotten),
        )

    def base(self, name: str) -> tuple[int, ...]:
        """The first of them: what is true of the relation is asked there."""
        return min((known for symbol, known in self.indices if symbol == name), default=())

    def slot(self, name: str) -> Slot | None:
        """Where a variable of one argument is kept in that argument's record, if it is."""
        symbol = self.symbols[name]
        return self._place(symbol.args[0].sort, (name, None)) if len(symbol.args) == 1 else None

    def is_column(self, name: str) -> bool:
        """Whether a variable of one argument is a column."""
        symbol = self.symbols[name]
        return len(symbol.args) == 1 and (name, None) in self.columns(symbol.args[0].sort)

    def group_slot(self, name: str, known: tuple[int, ...]) -> Slot | None:
        """Where the group of an index, or (at no places) of an inverse, is kept in the record of its key, if it is."""
        sort = self._sort_of_keys(name, known)
        return None if sort is None else self._place(sort, (name, known))

    def is_group_column(self, name: str, known: tuple[int, ...]) -> bool:
        """Whether the groups of an index, or (at no places) of an inverse, are a column."""
        sort = self._sort_of_keys(name, known)
        return sort is not None and (name, known) in self.columns(sort)

    def is_hinted(self, name: str, known: tuple[int, ...]) -> bool:
        """Whether an index is a column of hints: a key to one member that the first index may have it for.

        The first index says whether it still has; so what empties one of its groups as a whole need not go through
        the keys. Keys of more than one member are kept apart.
        """
        symbol = self.symbols[name]
        return (
            known == (1,)
            and self.indices_of(name) == [(0,), (1,)]
            and symbol.args[0].sort not in (*self.once, *self.bounded)
            and self.is_group_column(name, known)
        )

    def _sort_of_keys(self, name: str, known: tuple[int, ...]) -> str | None:
        symbol = self.symbols[name]
        if len(known) > 1:
            return None
        return symbol.args[known[0]].sort if known else symbol.result

    def _place(self, sort: str, key: Kept) -> Slot | None:
        fields = self.fields(sort)
        return Slot(sort, fields.index(key)) if key in fields else None

    def fields(self, sort: str) -> list[Kept]:
        """What is kept in the record of an element of a sort whose ids are never used again."""
        return self._about(sort) if sort in self.once else []

    def columns(self, sort: str) -> list[Kept]:
        """What is kept in columns, of a sort whose ids are small numbers."""
        return self._about(sort) if sort in self.bounded else []

    def a_column(self, sort: str) -> str | None:
        """The text's name of some column of a sort; they are all as long."""
        for name, known in self.columns(sort):
            return f"_{name}" if known is None else groups_name(name, known)
        return None

    def _about(self, sort: str) -> list[Kept]:
        """What is kept of an element: variables, and groups of indices and inverses, by name."""
        symbols = [self.symbols[name] for name in sorted(self.used)]
        about = [s for s in symbols if [a.sort for a in s.args] == [sort]]
        found: list[Kept] = [(s.name, None) for s in about if not s.channel and s.name not in self.listed]
        found += [(s.name, ()) for s in symbols if s.name in self.inverses and s.result == sort]
        for name, known in sorted(self.indices):
            if len(known) == 1 and self.symbols[name].args[known[0]].sort == sort:
                found.append((name, known))
        return found

    def look_up(self, name: str, places: tuple[int, ...]) -> None:
        """A relation will be looked up by its arguments at these places, a function (none) by its value."""
        self.use(name)
        if places:
            self.indices.add((name, places))
        else:
            self.inverses.add(name)

    def use(self, name: str) -> Symbol:
        """The symbol, marked as needed."""
        symbol = self.symbols[name]
        if symbol.ghost:
            raise CompileError(f"ghost {name} cannot be read by what runs")
        if name in self.unkept:
            raise CompileError(f"{name} is not kept, and not only guards read it")
        if symbol.true_at_first:
            raise CompileError(f"{name} is true at first; what runs keeps what has become true: declare its negation")
        self.used.add(name)
        self.sizes |= symbol.sizes
        return symbol


def lay_out(spec: Specification, once: tuple[str, ...], bounded: tuple[str, ...]) -> Layout:
    """The symbols of a specification."""
    declared: list[StateVar | Channel] = [*spec.variables, *spec.channels]
    members = {e.name: e.members for e in spec.enums}
    return Layout({d.name: _symbol(d, members) for d in declared}, once, bounded)


def _symbol(declared: StateVar | Channel, members: Mapping[str, tuple[str, ...]]) -> Symbol:
    if isinstance(declared, Channel):
        return Symbol(declared.name, declared.args, False, "0", None, None, None, False, channel=True)
    ghost = declared.site == Site.GHOST
    relation = declared.result == "bool"
    default = None if relation or declared.init is None else _literal(declared)
    counted = declared.result == "int"
    return Symbol(
        declared.name,
        declared.args,
        relation,
        default,
        declared.domain,
        declared.low if counted else None,
        declared.high if counted else None,
        ghost,
        members.get(declared.result, ()),
        result=declared.result,
        sizes=frozenset({declared.init.sort} if isinstance(declared.init, Size) else ()),
        true_at_first=relation and declared.init != FALSE,
    )


def _literal(declared: StateVar) -> str:
    match declared.init:
        case Member():
            return repr(declared.init.name)
        case Int() | Bool():
            return repr(declared.init.value)
        case Size():
            return f"size_{declared.init.sort}"
    raise CompileError(f"variable {declared.name}: its initial value depends on its arguments")
