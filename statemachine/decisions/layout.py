"""What a program needs of its containers: found while the text is written."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import Bool, Int, Member, Size, Term, Var
from interlock.spec.language.variables import Channel, Site, StateVar
from interlock.statemachine.errors import CompileError


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable or channel as a container: a set of tuples, or a dictionary with a default.

    Args:
        relation: a set (of what it is true of), else a dictionary.
        default: the value where nothing was assigned, as Python text; ``None``: undefined there.
        sizes: sorts whose number of elements that text speaks of (a counter that starts at a capacity).
    """

    name: str
    args: tuple[Var, ...]
    relation: bool
    default: str | None
    domain: Term | None
    low: Term | None
    high: Term | None
    ghost: bool
    sizes: frozenset[str] = frozenset()


@dataclass(slots=True)
class Layout:
    """Collects what the text refers to."""

    symbols: dict[str, Symbol]
    used: set[str] = field(default_factory=set)
    inverses: set[str] = field(default_factory=set)
    """Functions of one argument that are looked up by value."""
    indices: set[tuple[str, tuple[int, ...]]] = field(default_factory=set)
    """Relations that are looked up by the arguments at these places."""
    domains: set[str] = field(default_factory=set)
    """Sorts that are enumerated, for want of an index."""
    sizes: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    """Lifecycles some of whose entities are to be forgotten."""
    unkept: frozenset[str] = frozenset()
    """Variables that nothing may refer to."""

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
        self.used.add(name)
        self.sizes |= symbol.sizes
        return symbol


def lay_out(spec: Specification) -> Layout:
    """The symbols of a specification."""
    declared: list[StateVar | Channel] = [*spec.variables, *spec.channels]
    return Layout({d.name: _symbol(d) for d in declared})


def _symbol(declared: StateVar | Channel) -> Symbol:
    if isinstance(declared, Channel):
        return Symbol(declared.name, declared.args, False, "0", None, None, None, False)
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
        frozenset({declared.init.sort} if isinstance(declared.init, Size) else ()),
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
