"""Writes to containers as statements, inlined once it is known which of them are looked up by what.

Known only when the whole text is written: a later action may search a relation by a place by which no
earlier one did. So a body holds :class:`Put`s among its lines, and :func:`lines_of` spells them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interlock.statemachine.decisions.layout import Layout, Symbol
from interlock.statemachine.decisions.search import groups_name, inverse_name


@dataclass(frozen=True, slots=True)
class Put:
    """``symbol(key) := value``; Python text, all of it names and literals.

    Args:
        args: the parts of the key, where it is a tuple that is made of them.
    """

    symbol: Symbol
    key: str
    value: str
    indent: str = ""
    args: tuple[str, ...] = ()


Line = str | Put


def lines_of(body: Iterable[Line], layout: Layout) -> Iterator[str]:
    """The body as text."""
    for line in body:
        if isinstance(line, str):
            yield line
        else:
            yield from (line.indent + text for text in _written(line, layout))


def _written(p: Put, layout: Layout) -> Iterator[str]:
    name = f"_{p.symbol.name}"
    if not p.symbol.relation:
        if p.symbol.name not in layout.inverses:
            yield f"{name}[{p.key}] = {p.value}"
            return
        values = inverse_name(p.symbol.name)
        yield f"old = {name}.get({p.key})"
        yield f"if old != {p.value}:"
        yield f"    {name}[{p.key}] = {p.value}"
        yield f"    if {p.value} in {values}: {values}[{p.value}][{p.key}] = None"
        yield f"    else: {values}[{p.value}] = {{{p.key}: None}}"
        yield "    if old is not None:"
        yield f"        found = {values}[old]"
        yield f"        del found[{p.key}]"
        yield f"        if not found: del {values}[old]"
        return
    indices = sorted(known for symbol, known in layout.indices if symbol == p.symbol.name)
    match p.value:
        case "True" if not indices:
            yield f"{name}.add({p.key})"
        case "False" if not indices:
            yield f"{name}.discard({p.key})"
        case "True":
            yield f"if {p.key} not in {name}:"
            yield f"    {name}.add({p.key})"
            for known in indices:
                at, rest = _parts(p, known)
                yield f"    {groups_name(p.symbol.name, known)}.setdefault({at}, {{}})[{rest}] = None"
        case "False":
            yield f"if {p.key} in {name}:"
            yield f"    {name}.discard({p.key})"
            for known in indices:
                at, rest = _parts(p, known)
                groups = groups_name(p.symbol.name, known)
                yield f"    found = {groups}[{at}]"
                yield f"    del found[{rest}]"
                yield f"    if not found: del {groups}[{at}]"
        case _:
            yield f"{name}.put({p.key}, {p.value})"


def _parts(p: Put, known: tuple[int, ...]) -> tuple[str, str]:
    """The arguments at the known places, and the others, each as the key of a dictionary."""
    # Anything but a name may read what an earlier line has written by now.
    named = p.args and all(a.isidentifier() for a in p.args)
    args = p.args if named else tuple(f"{p.key}[{i}]" for i in range(len(p.symbol.args)))
    return _key([args[i] for i in known]), _key([a for i, a in enumerate(args) if i not in known])


def _key(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
