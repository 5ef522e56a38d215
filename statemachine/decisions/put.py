"""Writes to containers as statements, inlined once it is known which of them are looked up by what.

Known only when the whole text is written: a later action may search a relation by a place by which no
earlier one did. So a body holds :class:`Put`s and :class:`Drop`s among its lines, and :func:`lines_of` spells
them out.

What is looked up is kept in groups: a dictionary from a key to what goes with it, that is to a tuple of one
or a dictionary of more. Most groups have one member; and a dictionary of one takes five times the room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interlock.statemachine.decisions.expression import record_name
from interlock.statemachine.decisions.layout import Layout, Slot, Symbol
from interlock.statemachine.decisions.search import groups_name, inverse_name


@dataclass(frozen=True, slots=True)
class Put:
    """``symbol(args) := value``; Python text, all of it names and literals.

    Args:
        old: the value until now, if a name or literal says it.
        changes: the value is another than until now.
        new: the value was the initial one until now.
        held: arguments and values whose records local variables hold.
    """

    symbol: Symbol
    args: tuple[str, ...]
    value: str
    indent: str = ""
    old: str | None = None
    changes: bool = False
    new: bool = False
    held: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        return key_of(self.args)


@dataclass(frozen=True, slots=True)
class Empty:
    """A group of the first index of a relation goes as a whole.

    Args:
        args: of the relation; those that vary are named as in a loop over the group.
        found: the group.
    """

    symbol: Symbol
    args: tuple[str, ...]
    found: str
    indent: str = ""
    held: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Drop:
    """What was assigned to symbols for an ``entity`` is forgotten.

    Args:
        whole: so is all else that its record has.
    """

    symbols: tuple[Symbol, ...]
    entity: str
    whole: bool = False
    indent: str = ""


Line = str | Put | Empty | Drop


def lines_of(body: Iterable[Line], layout: Layout) -> Iterator[str]:
    """The body as text."""
    for line in body:
        match line:
            case str():
                yield line
            case Put():
                yield from (line.indent + text for text in _written(line, layout))
            case Empty():
                yield from (line.indent + text for text in _emptied(line, layout))
            case Drop():
                yield from (line.indent + text for text in _dropped(line, layout))


def key_of(parts: Iterable[str]) -> str:
    """The key of a container: the bare argument, or a tuple of them."""
    parts = tuple(parts)
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def writes(p: Put | Empty, layout: Layout) -> Iterator[tuple[str, Slot]]:
    """The records that a write goes to: of which element, and where in it."""
    name = p.symbol.name
    if isinstance(p, Empty):
        base = layout.base(name)
        group = layout.group_slot(name, base)
        if group is not None:
            yield _parts(p.args, base)[0], group
        return
    slot = layout.slot(name)
    if slot is not None:
        yield p.key, slot
    group = layout.group_slot(name, ()) if name in layout.inverses else None
    if group is not None:
        yield p.value, group
    for known in layout.indices_of(name):
        group = layout.group_slot(name, known)
        if group is not None:
            yield p.args[known[0]], group


def _written(p: Put, layout: Layout) -> Iterator[str]:
    slot = layout.slot(p.symbol.name)
    if slot is not None:
        yield from _record(slot, p.key, p.held, "record")
        place = f"{_name(p.key, p.held, 'record')}[{slot.place}]"
        yield from _function(p, layout, place, place)
    elif not p.symbol.relation:
        name = f"_{p.symbol.name}"
        yield from _function(p, layout, f"{name}.get({p.key})", f"{name}[{p.key}]")
    elif p.value in ("True", "False"):
        yield from _relation(p, layout, becomes=p.value == "True")
    else:
        yield f"if {p.value}:"
        yield from (f"    {line}" for line in _relation(p, layout, becomes=True))
        yield "else:"
        yield from (f"    {line}" for line in _relation(p, layout, becomes=False))


def _function(p: Put, layout: Layout, read: str, place: str) -> Iterator[str]:
    """An assignment to a place, and what is looked up by the value; it may read as ``None``: nothing was assigned."""
    key, value = p.key, p.value
    if p.symbol.name not in layout.inverses:
        yield f"{place} = {value}"
        return
    if p.symbol.members:  # a group for each member from the start, and none ever goes
        values = inverse_name(p.symbol.name)
        old, indent = p.old or "old", "" if p.changes else "    "
        if p.old is None:
            yield f"old = {read}"
        if not p.changes:
            yield f"if {old} != {value}:"
        yield f"{indent}{place} = {value}"
        yield f"{indent}{values}[{value}][{key}] = None"
        if not p.new:
            unless_unnamed = "if old is not None: " if p.old is None else ""
            yield f"{indent}{unless_unnamed}{values}[{old}].pop({key}, None)"
        return
    groups = _Groups(p.symbol.name, (), layout, p.held)
    yield f"old = {read}"
    yield f"if old != {value}:"
    yield f"    {place} = {value}"
    yield from (f"    {line}" for line in groups.join(value, key))
    yield "    if old is not None:"
    yield from (f"        {line}" for line in groups.leave("old", key))


def _relation(p: Put, layout: Layout, *, becomes: bool) -> Iterator[str]:
    name, indices = p.symbol.name, layout.indices_of(p.symbol.name)
    if not indices:
        yield f"_{name}.{'add' if becomes else 'discard'}({p.key})"
        return
    base, *others = (_Groups(name, known, layout, p.held) for known in indices)
    at, rest = _parts(p.args, base.known)
    if becomes:
        new = [line for other in others for line in other.join(*_parts(p.args, other.known))]
        yield from base.join(at, rest, new)
        return
    gone = [line for groups in (base, *others) for line in groups.leave(*_parts(p.args, groups.known))]
    if p.old == "True":
        yield from gone
    else:
        yield from base.record(at)
        yield f"if {rest} in {base.found(at)}:"
        yield from (f"    {line}" for line in gone)


def _emptied(e: Empty, layout: Layout) -> Iterator[str]:
    base, *others = (_Groups(e.symbol.name, known, layout, e.held) for known in layout.indices_of(e.symbol.name))
    at, rest = _parts(e.args, base.known)
    yield f"if {e.found}:"
    yield from (f"    {line}" for line in (*base.record(at), base.emptied(at)))
    if others:
        yield f"    for {rest.strip('()')} in {e.found}:"
        for other in others:
            yield from (f"        {line}" for line in other.leave(*_parts(e.args, other.known)))


class _Groups:
    """What is looked up by a key: in a dictionary of its own, or in the record of the key."""

    def __init__(self, name: str, known: tuple[int, ...], layout: Layout, held: frozenset[str]) -> None:
        self.known = known
        self._slot = layout.group_slot(name, known)
        self._groups = groups_name(name, known) if known else inverse_name(name)
        self._held = held

    def record(self, at: str) -> Iterator[str]:
        if self._slot is not None:
            yield from _record(self._slot, at, self._held, "keeper")

    def found(self, at: str) -> str:
        if self._slot is None:
            return f"{self._groups}.get({at}, ())"
        return f"{_name(at, self._held, 'keeper')}[{self._slot.place}]"

    def _place(self, at: str) -> str:
        return f"{self._groups}[{at}]" if self._slot is None else self.found(at)

    def join(self, at: str, member: str, new: list[str] | None = None) -> Iterator[str]:
        """A group gets a member, and what is ``new`` is done if it does not have it (default: it surely has not)."""
        yield from self.record(at)
        yield f"found = {self.found(at)}"
        yield "if not found:"
        yield f"    {self._place(at)} = ({member},)"
        yield from (f"    {line}" for line in new or ())
        yield "else:" if new is None else f"elif {member} not in found:"
        yield f"    if type(found) is dict: found[{member}] = None"
        yield f"    else: {self._place(at)} = {{found[0]: None, {member}: None}}"
        yield from (f"    {line}" for line in new or ())

    def emptied(self, at: str) -> str:
        """The statement that removes a group."""
        return f"del {self._place(at)}" if self._slot is None else f"{self._place(at)} = ()"

    def leave(self, at: str, member: str) -> Iterator[str]:
        """A group loses a member that it has."""
        yield from self.record(at)
        yield f"found = {self._place(at)}"
        yield f"if len(found) == 1: {self.emptied(at)}"
        yield f"else: del found[{member}]"


def _record(slot: Slot, at: str, held: frozenset[str], name: str) -> Iterator[str]:
    """Statements after which a name stands for the record of an element."""
    if at not in held:
        yield f"{name} = {slot.records}.get({at})"
        yield f"if {name} is None: {name} = {slot.records}[{at}] = {slot.new}.copy()"


def _name(at: str, held: frozenset[str], name: str) -> str:
    return record_name(at) if at in held else name


def _parts(args: tuple[str, ...], known: tuple[int, ...]) -> tuple[str, str]:
    """The arguments at the known places, and the others, each as the key of a dictionary."""
    return key_of(args[i] for i in known), key_of(a for i, a in enumerate(args) if i not in known)


def _dropped(d: Drop, layout: Layout) -> Iterator[str]:
    kept = [(symbol, layout.slot(symbol.name)) for symbol in d.symbols]
    for symbol, slot in kept:
        name = f"_{symbol.name}"
        if symbol.relation and slot is None:
            yield f"{name}.discard({d.entity})"
        elif slot is None:
            yield f"{'old = ' if symbol.name in layout.inverses else ''}{name}.pop({d.entity}, None)"
            yield from _unlisted(symbol, d.entity, layout)
    for slot in {slot.sort: slot for _, slot in kept if slot is not None}.values():
        goes = d.whole and slot.sort in layout.once
        yield f"record = {slot.records}.{'pop' if goes else 'get'}({d.entity}, None)"
        yield "if record is not None:"
        for symbol, s in kept:
            if s is not None and symbol.name in layout.inverses:
                yield f"    old = record[{s.place}]"
                yield from (f"    {line}" for line in _unlisted(symbol, d.entity, layout))
            if s is not None and not goes:
                yield f"    record[{s.place}] = {s.new}[{s.place}]"
        yield "    pass"


def _unlisted(symbol: Symbol, entity: str, layout: Layout) -> Iterator[str]:
    """An entity is no longer looked up by its ``old`` value."""
    if symbol.name in layout.inverses:
        yield "if old is not None:"
        if symbol.members:
            yield f"    {inverse_name(symbol.name)}[old].pop({entity}, None)"
        else:
            groups = _Groups(symbol.name, (), layout, frozenset())
            yield from (f"    {line}" for line in groups.leave("old", entity))
