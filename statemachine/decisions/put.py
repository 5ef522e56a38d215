"""Writes to containers as statements, inlined once it is known which of them are looked up by what.

Known only when the whole text is written: a later action may search a relation by a place by which no
earlier one did. So a body holds :class:`Put`s and :class:`Drop`s among its lines, and :func:`lines_of` spells
them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interlock.statemachine.decisions.expression import record_name
from interlock.statemachine.decisions.groups import Hints, groups_of, key_of, local_name, parts_of, record_lines
from interlock.statemachine.decisions.layout import Layout, Slot, Symbol, members_name


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
        unlisted: that of the symbols whose values it is no longer looked up by, because all with its value go.
    """

    symbols: tuple[Symbol, ...]
    entity: str
    whole: bool = False
    indent: str = ""
    unlisted: str = ""


@dataclass(frozen=True, slots=True)
class First:
    """Assignments to an element that is in its initial state: as a rule nothing was said of it, so it gets a record.

    Args:
        puts: to places of the record of ``entity``, which a local variable holds.
    """

    entity: str
    slot: Slot
    puts: tuple[Put, ...]
    indent: str = ""


Line = str | Put | Empty | Drop | First


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
            case First():
                yield from (line.indent + text for text in _first(line, layout))


def writes(p: Put | Empty, layout: Layout) -> Iterator[tuple[str, Slot]]:
    """The records that a write goes to: of which element, and where in it."""
    name = p.symbol.name
    if isinstance(p, Empty):
        base = layout.base(name)
        group = layout.group_slot(name, base)
        if group is not None:
            yield parts_of(p.args, base)[0], group
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
        yield from record_lines(slot, p.key, p.held, "record")
        place = f"{local_name(p.key, p.held, 'record')}[{slot.place}]"
        yield from _function(p, layout, place, place)
    elif layout.is_column(p.symbol.name):
        place = f"_{p.symbol.name}[{p.key}]"
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


def _first(f: First, layout: Layout) -> Iterator[str]:
    record, slot = record_name(f.entity), f.slot
    assigned = {p.symbol.name: p for p in f.puts}
    values = []
    for name, known in layout.fields(slot.sort):
        put = assigned.get(name) if known is None else None
        values.append(_initial(layout.symbols[name], known) if put is None else put.value)
    yield f"if {record} is {slot.new}:"
    yield f"    {record} = {slot.records}[{f.entity}] = [{', '.join(values)}]"
    for p in f.puts:
        yield from (f"    {line}" for line in _listed(p, layout))
    yield "else:"
    for p in f.puts:
        yield from (f"    {line}" for line in _written(p, layout))


def _initial(symbol: Symbol, known: tuple[int, ...] | None) -> str:
    """What a new record has, in the text."""
    return "()" if known is not None else "False" if symbol.relation else str(symbol.default)


def _listed(p: Put, layout: Layout) -> Iterator[str]:
    """What had no value is looked up by the value that it has now."""
    if p.symbol.name not in layout.inverses:
        return
    if p.symbol.members:
        yield f"{members_name(p.symbol.name, p.value)}[{p.key}] = None"
    else:
        yield from _unless_first(p.symbol, p.value, groups_of(p.symbol.name, (), layout, p.held).join(p.value, p.key))


def _function(p: Put, layout: Layout, read: str, place: str) -> Iterator[str]:
    """An assignment to a place, and what is looked up by the value; it may read as ``None``: nothing was assigned."""
    key, value = p.key, p.value
    if p.symbol.name not in layout.inverses:
        yield f"{place} = {value}"
        return
    if p.symbol.members:  # a group for each member from the start, and none ever goes
        old, indent = p.old or "old", "" if p.changes else "    "
        if p.old is None:
            yield f"old = {read}"
        if not p.changes:
            yield f"if {old} != {value}:"
        yield f"{indent}{place} = {value}"
        yield f"{indent}{members_name(p.symbol.name, value)}[{key}] = None"
        if not p.new:
            unless_unnamed = "if old is not None: " if p.old is None else ""
            yield f"{indent}{unless_unnamed}{members_name(p.symbol.name, old)}.pop({key}, None)"
        return
    groups = groups_of(p.symbol.name, (), layout, p.held)
    yield f"old = {read}"
    yield f"if old != {value}:"
    yield f"    {place} = {value}"
    yield from (f"    {line}" for line in _unless_first(p.symbol, value, groups.join(value, key)))
    yield "    if old is not None:"
    yield from (f"        {line}" for line in _unless_first(p.symbol, "old", groups.leave("old", key)))


def _unless_first(symbol: Symbol, value: str, lines: Iterable[str]) -> Iterator[str]:
    """Nothing is looked up by a value that all have at first, the unnamed ones too; those of enumerations are."""
    if symbol.default is None or symbol.members:
        yield from lines
        return
    yield f"if {value} != {symbol.default}:"
    yield from (f"    {line}" for line in lines)


def _relation(p: Put, layout: Layout, *, becomes: bool) -> Iterator[str]:
    name, indices = p.symbol.name, layout.indices_of(p.symbol.name)
    if not indices:
        yield f"_{name}.{'add' if becomes else 'discard'}({p.key})"
        return
    base, *others = (groups_of(name, known, layout, p.held) for known in indices)
    at, rest = parts_of(p.args, base.known)
    if becomes:
        new = [line for other in others for line in other.join(*parts_of(p.args, other.known))]
        yield from base.join(at, rest, new)
        return
    gone = [line for groups in (base, *others) for line in groups.leave(*parts_of(p.args, groups.known))]
    if p.old == "True":
        yield from gone
    else:
        yield from base.record(at)
        yield f"if {rest} in {base.found(at)}:"
        yield from (f"    {line}" for line in gone)


def _emptied(e: Empty, layout: Layout) -> Iterator[str]:
    base, *others = (groups_of(e.symbol.name, known, layout, e.held) for known in layout.indices_of(e.symbol.name))
    at, rest = parts_of(e.args, base.known)
    yield f"if {e.found}:"
    yield from (f"    {line}" for line in (*base.record(at), base.emptied(at)))
    for other in others:
        indent = "    "
        if isinstance(other, Hints):
            yield f"    if {other.several}:"
            indent = "        "
        yield f"{indent}for {rest.strip('()')} in {e.found}:"
        yield from (f"{indent}    {line}" for line in other.leave(*parts_of(e.args, other.known)))


def _dropped(d: Drop, layout: Layout) -> Iterator[str]:
    kept = [(symbol, layout.slot(symbol.name)) for symbol in d.symbols]
    for symbol, slot in kept:
        name = f"_{symbol.name}"
        if layout.is_column(symbol.name):
            if symbol.name in layout.inverses:
                yield f"old = {name}[{d.entity}]"
                yield from _unlisted(symbol, d.entity, layout)
            yield f"{name}[{d.entity}] = {False if symbol.relation else symbol.default}"
        elif symbol.relation and slot is None:
            yield f"if {name}: {name}.discard({d.entity})"
        elif slot is None:
            is_listed = symbol.name in layout.inverses and symbol.name != d.unlisted
            yield f"old = {name}.pop({d.entity}, None)" if is_listed else f"if {name}: {name}.pop({d.entity}, None)"
            yield from _unlisted(symbol, d.entity, layout) if is_listed else ()
    for slot in {slot.sort: slot for _, slot in kept if slot is not None}.values():
        goes = d.whole and slot.sort in layout.once
        yield f"record = {slot.records}.{'pop' if goes else 'get'}({d.entity}, None)"
        yield "if record is not None:"
        for symbol, s in kept:
            if s is not None and symbol.name in layout.inverses and symbol.name != d.unlisted:
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
            yield f"    {members_name(symbol.name, 'old')}.pop({entity}, None)"
        else:
            groups = groups_of(symbol.name, (), layout, frozenset())
            yield from (f"    {line}" for line in _unless_first(symbol, "old", groups.leave("old", entity)))
