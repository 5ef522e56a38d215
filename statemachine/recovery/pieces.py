"""Blocks of many tokens as blocks of the specification, which has one token in each.

What the specification says of a block by its place holds of a run of tokens that no count ends within. So
a block is cut where a request's base, or a step, ends within it; a piece's place is its first token, and a block is
invalid by its first piece. The block is wrong from its first wrong piece on, and has lost its hash if one piece has.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from interlock.statemachine.recovery.report import Group, HeldRequest


class Piece(NamedTuple):
    """Tokens of a block from a position on."""

    block: int
    place: int


class Held(NamedTuple):
    """A block in a table: its tokens have the positions ``start`` to ``end - 1``."""

    block: int
    start: int
    end: int


def held_blocks(request: HeldRequest, groups: Sequence[Group]) -> list[Held]:
    """The blocks of a request, in the order of their tokens.

    Raises:
        ValueError: the number of tables is not that of the groups.
    """
    _refuse_other_tables(request, groups)
    found = [
        Held(block, index * group.block_size, (index + 1) * group.block_size)
        for table, group in zip(request.block_tables, groups, strict=True)
        for index, block in enumerate(table)
        if block is not None
    ]
    return found if len(groups) == 1 else sorted(found, key=lambda h: h.start)


def holds_one_of(request: HeldRequest, groups: Sequence[Group], wrong: Mapping[int, int]) -> bool:
    """Whether a request has one of the blocks, each given with a position in it.

    Raises:
        ValueError: the number of tables is not that of the groups.
    """
    return bool(wrong) and next(_held_of(request, groups, wrong), None) is not None


def only(request: HeldRequest, groups: Sequence[Group], wrong: Mapping[int, int]) -> list[Held]:
    """Of the blocks of a request those, each given with a position in it; in the order of their tokens."""
    return sorted(_held_of(request, groups, wrong), key=lambda h: h.start)


def _held_of(request: HeldRequest, groups: Sequence[Group], wrong: Mapping[int, int]) -> Iterator[Held]:
    """A position says where in a table its block is: if they are fewer, they are gone through, and not the tables."""
    _refuse_other_tables(request, groups)
    for table, group in zip(request.block_tables, groups, strict=True):
        size = group.block_size
        if len(wrong) < len(table):
            for block, position in wrong.items():
                place = position // size
                if place < len(table) and table[place] == block:
                    yield Held(block, place * size, (place + 1) * size)
        else:
            for place, found in enumerate(table):
                if found is not None and found in wrong and wrong[found] // size == place:
                    yield Held(found, place * size, (place + 1) * size)


def _refuse_other_tables(request: HeldRequest, groups: Sequence[Group]) -> None:
    if len(request.block_tables) != len(groups):
        raise ValueError(f"{request.request_id} has {len(request.block_tables)} block tables for {len(groups)} groups")


def from_the_first_of(request: HeldRequest, groups: Sequence[Group], blocks: Collection[int]) -> list[Held]:
    """From the first of them on, in every group; nothing that is done about them touches what comes before."""
    held = held_blocks(request, groups)
    first = min((h.start for h in held if h.block in blocks), default=None)
    return [h for h in held if first is not None and h.end > first]


class Cuts(dict[int, set[int]]):
    """Where blocks are cut: positions within them, by block."""

    def cut(self, held: Iterable[Held], positions: Iterable[int]) -> None:
        """Cut the blocks that positions fall within; there may be as many positions as blocks."""
        ordered = sorted(positions)
        for h in held:
            if within := ordered[bisect_right(ordered, h.start) : bisect_left(ordered, h.end)]:
                self.setdefault(h.block, set()).update(within)

    def pieces(self, h: Held) -> list[Piece]:
        """The pieces of a block."""
        return [Piece(h.block, h.start), *(Piece(h.block, at) for at in sorted(self.get(h.block, ())))]


def has_what_it_attends_to(request: HeldRequest, groups: Sequence[Group], tokens: int) -> bool:
    """Whether all that the token at position ``tokens`` attends to is in a block that the request holds."""
    for table, group in zip(request.block_tables, groups, strict=True):
        first = 0 if group.window is None else max(0, tokens - group.window) // group.block_size
        if any(block is None for block in table[first : -(-tokens // group.block_size)]):
            return False
    return True
