"""What is recent of prompts, in stretches that move at once: a touch of a prefix costs its branches, not its length.

The chunks of a prompt lie in the policy's order end first, because a prefix is of no use without its head. Requests
share prefixes, so the prompts are a radix tree: an edge of it is a stretch of chunks that follow on each other in the
order, and to touch a prefix is to move its stretches behind all others, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from interlock.statemachine.offload.groups import BlockGroup, Key
from interlock.statemachine.pool import MovesRuns
from interlock.statemachine.port import Hash


@dataclass(slots=True, eq=False, weakref_slot=True)
class Stretch:
    """The chunks of consecutive places of a prompt. Some places may have none, others several of one key.

    Args:
        parent: the stretch of the places before; ``None`` at the head.
        start, end: the places, from the first to before the last.
        key, before: of the last place, and of the one before it, if that is known.
        first, last: its ends in the policy's order: chunks of its last place, and of its first; ``None`` without any.
        grows: what comes next of a prompt may join it, because no other goes on from it.
        stale: it is not a stretch any more, and no part of any prompt.
    """

    parent: Stretch | None
    start: int
    end: int
    key: Key | None = None
    before: Key | None = None
    first: int | None = None
    last: int | None = None
    grows: bool = True
    stale: bool = False


class Stretches:
    """The tree of one KV cache group's prompts.

    Args:
        order: where chunks are moved.
        slots: the chunks of a key that have a place in the order, the one first that has had it for longest.
    """

    def __init__(self, order: MovesRuns, group: BlockGroup, slots: Callable[[Key], Sequence[int]], size: int) -> None:
        self._order, self._group, self._slots = order, group, slots
        self._at: list[Stretch | None] = [None] * size
        self._holes: WeakValueDictionary[Key, Stretch] = WeakValueDictionary()
        """From the keys of places without a chunk to the stretch; while some prompt or chunk is of it."""

    def touch(self, leaf: Stretch | None, hashes: Sequence[Hash], places: int) -> tuple[Stretch | None, int | None]:
        """The first places of a prompt are more recent than anything else.

        Args:
            leaf: what this has returned for the same request the last time.

        Returns:
            The stretch that these places end with, and the least recent chunk of theirs, if there is one.
        """
        leaf = self._still_of(leaf, hashes, places)
        if leaf is None or leaf.end < places:
            leaf = self._walk(leaf, hashes, places)
        stretch, least = leaf, None
        while stretch is not None:
            if stretch.first is not None and stretch.last is not None:
                self._order.run_touched(stretch.first, stretch.last)
                least = stretch.first if least is None else least
            stretch = stretch.parent
        return leaf, least

    def came(self, chunk: int, key: Key) -> None:
        """A chunk has a place in the order now: it lies outside of every stretch, also of one that has its place."""
        self._at[chunk] = None
        self._end(self._holes.pop(key, None))
        shorter: Stretch | None = None
        for other in self._slots(key):
            stretch, self._at[other] = self._at[other], None
            if stretch is not None and stretch.grows and stretch.before is not None and stretch.key == key:
                self._loses(stretch, other)
                shorter = stretch
            else:
                self._end(stretch)
        if shorter is not None:  # somebody computes the same at the same time: that must not cost the whole prefix
            shorter.end, shorter.key, shorter.before = shorter.end - 1, shorter.before, None

    def gone(self, chunk: int, key: Key) -> None:
        """A chunk leaves the order, and has not yet."""
        stretch, self._at[chunk] = self._at[chunk], None
        if stretch is None or stretch.stale:
            return
        if not self._slots(key):
            self._holes[key] = stretch
        self._loses(stretch, chunk)

    def _loses(self, stretch: Stretch, chunk: int) -> None:
        """A chunk is of a stretch no more, and has its place in the order still."""
        if stretch.first == stretch.last:
            stretch.first = stretch.last = None
        elif chunk == stretch.first:
            stretch.first = self._order.later(chunk)
        elif chunk == stretch.last:
            stretch.last = self._order.earlier(chunk)

    def _still_of(self, leaf: Stretch | None, hashes: Sequence[Hash], places: int) -> Stretch | None:
        """What a prompt still has of a leaf's path. (A turn of a session may take its last tokens back.)"""
        stretch = leaf
        while stretch is not None:
            if stretch.stale:
                leaf = stretch.parent
            stretch = stretch.parent
        while leaf is not None and (leaf.end > places or leaf.key != self._group.key(hashes, leaf.end - 1)):
            leaf = leaf.parent
        return leaf

    def _walk(self, leaf: Stretch | None, hashes: Sequence[Hash], places: int) -> Stretch | None:
        """Goes on from the end of a leaf, along stretches that are there, and makes those that are not."""
        base = place = 0 if leaf is None else leaf.end
        keys = self._group.keys(hashes, base, places)
        while place < places:
            key = keys[place - base]
            slots, stretch = self._find(key)
            if stretch is not None and stretch.start != place:
                self._end(stretch)
                stretch = None
            if stretch is None:
                leaf = self._grown(leaf, place, key, slots)
                place += 1
                continue
            first, place = place, place + 1
            while place < min(stretch.end, places) and self._find(keys[place - base])[1] is stretch:
                place += 1
            if place < stretch.end:
                stretch = self._split(stretch, place, keys[first - base : place - base])
            if leaf is not None:
                leaf.grows = False
            stretch.parent = leaf
            leaf = stretch
        return leaf

    def _find(self, key: Key) -> tuple[Sequence[int], Stretch | None]:
        """The chunks of a key, and the stretch that has its place, with all of them."""
        slots = self._slots(key)
        holder = self._at[slots[0]] if slots else self._holes.get(key)  # one has all: see came
        return slots, None if holder is None or holder.stale else holder

    def _grown(self, leaf: Stretch | None, place: int, key: Key, slots: Sequence[int]) -> Stretch:
        """The leaf with one place more, or a new one behind it."""
        if leaf is None or not leaf.grows:
            leaf = Stretch(leaf, place, place)
        leaf.end, leaf.key, leaf.before = place + 1, key, leaf.key
        if not slots:
            self._holes[key] = leaf
        for chunk in reversed(slots):
            self._at[chunk] = leaf
            if leaf.first is None:
                self._order.touched(chunk)
                leaf.last = chunk
            else:
                self._order.touched_before(chunk, leaf.first)
            leaf.first = chunk
        return leaf

    def _split(self, stretch: Stretch, place: int, keys: Sequence[Key]) -> Stretch:
        """What a stretch has before a place becomes one of its own, which it goes on from.

        Args:
            keys: of the places that it loses.
        """
        head = Stretch(stretch.parent, stretch.start, place, keys[-1], grows=False)
        for key in keys:
            slots = self._slots(key)
            for chunk in slots:
                self._at[chunk] = head
            if slots:
                head.last, head.first = slots[-1] if head.last is None else head.last, slots[0]
            else:
                self._holes[key] = head
        if head.first is not None:
            if head.first == stretch.first:
                stretch.first = stretch.last = None
            else:
                stretch.last = self._order.earlier(head.first)
        stretch.parent, stretch.start = head, place
        return head

    @staticmethod
    def _end(stretch: Stretch | None) -> None:
        """A stretch is none any more: what it had is moved one by one, and put into others."""
        if stretch is not None:
            stretch.stale = True
