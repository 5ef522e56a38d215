"""How a system's variables are kept: what is stored, what is the default, how a key is built.

A store maps arguments to values, defaults left out. The key of no arguments is ``()``, of one the
argument itself, of more a tuple. Entities and members of enumerations are strings.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.spec.language import terms as T
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.system import System, Variable

Value = str | int | bool
"""Of an entity or a member, a counter, a relation."""

Key = str | tuple[str, ...]


class Missing:
    """The value of a partial function where it has none."""

    def __repr__(self) -> str:
        return "undefined"


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Slot:
    """One variable's place.

    Args:
        default: the value that is not stored; :data:`MISSING` for a partial function.
        guarded: a partial function whose stored values may outlive its domain, so that each
            reading must test the domain.
        initial: what a variable without arguments starts as, if that depends on sizes of sorts.
        triggers: of a partial function that is not guarded: variables whose change may end the
            domain, with the positions in their key of this function's arguments.
    """

    variable: Variable
    default: Value | Missing
    guarded: bool = False
    initial: T.Term | None = None
    triggers: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def name(self) -> str:
        return self.variable.name

    @property
    def arity(self) -> int:
        return len(self.variable.args)

    @property
    def partial(self) -> bool:
        return self.variable.domain is not None


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """An index: the stored keys of a variable, grouped by some positions and perhaps by the value."""

    symbol: str
    positions: tuple[int, ...]
    by_value: bool

    @property
    def name(self) -> str:
        """Its name in compiled code."""
        return "_".join(["I", self.symbol, *map(str, self.positions), *(["v"] if self.by_value else [])])


class Layout:
    """The slots of a system."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.slots = {v.name: _slot(v) for v in system.variables}
        self.sorts = frozenset(s.name for s in system.spec.sorts)

    def __getitem__(self, symbol: str) -> Slot:
        return self.slots[symbol]

    def values_of(self, type_name: str) -> tuple[Value, ...] | None:
        """All values of ``bool`` or an enumeration; ``None`` for a sort."""
        return (False, True) if type_name == "bool" else self.system.members(type_name)


def literal(t: T.Term) -> Value | None:
    """The value of a literal; ``None`` for any other term."""
    match t:
        case T.Bool() | T.Int():
            return t.value
        case T.Member():
            return t.name
    return None


def _slot(v: Variable) -> Slot:
    if v.domain is not None:
        if v.init is not None:
            raise SpecificationError(
                f"variable {v.name}", "is partial and has an initial value", "give a domain or init, not both"
            )
        triggers = _triggers(v, v.domain)
        return Slot(v, MISSING, guarded=triggers is None, triggers=triggers or ())
    default = None if v.init is None else literal(v.init)
    if default is None and v.init is not None and not v.args and v.result == "int":
        return Slot(v, 0, initial=v.init)
    if default is None:
        raise SpecificationError(
            f"variable {v.name}", "has no literal as initial value", "the sparse interpreter needs one"
        )
    return Slot(v, default)


def _triggers(v: Variable, domain: T.Term) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    """What may end the domain; ``None`` if some of it cannot be traced back to the arguments."""
    found: dict[tuple[str, tuple[int, ...]], None] = {}
    for t in T.subterms(domain):
        if isinstance(t, T.Binder):
            return None
        if isinstance(t, T.Apply):
            if not all(a in t.args for a in v.args):
                return None
            found[t.symbol, tuple(t.args.index(a) for a in v.args)] = None
    return tuple(found)
