"""What is looked up by a key, as statements that change it.

A look-up is kept in groups: a dictionary (a column, a place in a record) from a key to what goes with it, that is
to a tuple of one or a dictionary of more. Most groups have one member; and a dictionary of one takes five times the
room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interlock.statemachine.decisions.expression import record_name
from interlock.statemachine.decisions.layout import Layout, Slot, groups_name, several_name


def key_of(parts: Iterable[str]) -> str:
    """The key of a container: the bare argument, or a tuple of them."""
    parts = tuple(parts)
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def groups_of(name: str, known: tuple[int, ...], layout: Layout, held: frozenset[str]) -> Groups:
    """Those of an index or (at no places) of an inverse; ``held``: keys whose records local variables hold."""
    return (Hints if layout.is_hinted(name, known) else Groups)(name, known, layout, held)


class Groups:
    """What is looked up by a key: in a dictionary of its own, in a column, or in the record of the key."""

    def __init__(self, name: str, known: tuple[int, ...], layout: Layout, held: frozenset[str]) -> None:
        self.known = known
        self._slot = layout.group_slot(name, known)
        self._groups = groups_name(name, known)
        self._is_column = layout.is_group_column(name, known)
        self._held = held

    def record(self, at: str) -> Iterator[str]:
        """Statements after which the key has a record, if its group is kept there."""
        if self._slot is not None:
            yield from record_lines(self._slot, at, self._held, "keeper")

    def found(self, at: str) -> str:
        """The group of a key, or an empty one."""
        if self._is_column:
            return f"{self._groups}[{at}]"
        if self._slot is None:
            return f"{self._groups}.get({at}, ())"
        return f"{local_name(at, self._held, 'keeper')}[{self._slot.place}]"

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
        is_kept_empty = self._slot is not None or self._is_column
        return f"{self._place(at)} = ()" if is_kept_empty else f"del {self._place(at)}"

    def leave(self, at: str, member: str) -> Iterator[str]:
        """A group loses a member that it has."""
        yield from self.record(at)
        yield f"found = {self._place(at)}"
        yield f"if len(found) == 1: {self.emptied(at)}"
        yield f"else: del found[{member}]"


class Hints(Groups):
    """A column of one member for each key, which the first index may have lost, and groups of more than one."""

    def __init__(self, name: str, known: tuple[int, ...], layout: Layout, held: frozenset[str]) -> None:
        super().__init__(name, known, layout, held)
        self.several = several_name(name)
        self._first = groups_name(name, (0,))

    def join(self, at: str, member: str, new: list[str] | None = None) -> Iterator[str]:
        """The first index has the member already."""
        assert not new, "hints are never the first index"
        yield f"found = {self._place(at)}"
        yield f"if {at} in {self.several}: {self.several}[{at}][{member}] = None"
        yield f"elif found != {member}:"
        yield f"    if {at} not in {self._first}.get(found, ()): {self._place(at)} = {member}"
        yield f"    else: {self.several}[{at}] = {{found: None, {member}: None}}"

    def leave(self, at: str, member: str) -> Iterator[str]:
        """The first index says that the member is gone; only of several it has to be said here."""
        yield f"found = {self.several}.get({at})"
        yield "if found is not None:"
        yield f"    del found[{member}]"
        yield "    if len(found) == 1:"
        yield f"        del {self.several}[{at}]"
        yield f"        {self._place(at)}, = found"


def record_lines(slot: Slot, at: str, held: frozenset[str], name: str) -> Iterator[str]:
    """Statements after which a name stands for the record of an element."""
    if at not in held:
        yield f"{name} = {slot.records}.get({at})"
        yield f"if {name} is None: {name} = {slot.records}[{at}] = {slot.new}.copy()"


def local_name(at: str, held: frozenset[str], name: str) -> str:
    """The local with the record of an element: its own, if it is held, or ``name``."""
    return record_name(at) if at in held else name


def parts_of(args: tuple[str, ...], known: tuple[int, ...]) -> tuple[str, str]:
    """The arguments at the known places, and the others, each as the key of a dictionary."""
    return key_of(args[i] for i in known), key_of(a for i, a in enumerate(args) if i not in known)
