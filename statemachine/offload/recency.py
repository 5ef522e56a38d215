"""What hits and stores make recent, with several KV cache groups, as module ``groups`` of the specification says.

After each hit and each store, what it needs is more recent than anything else in the tier: windows before full groups,
and of a prompt the end before its beginning, because a prefix is of no use without its head.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

from interlock.statemachine.offload.groups import BlockGroup, BlockGroups, Key
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.rules import GroupRules, Place
from interlock.statemachine.offload.stretches import Stretches
from interlock.statemachine.offload.tracked import Tracked
from interlock.statemachine.pool import MovesRuns
from interlock.statemachine.port import Hash

Ranked = tuple[bool, int, int, int]
"""A chunk behind what ranks it in a touch: of a full group, where it ends, when it was last touched."""


Span = tuple[BlockGroup, int, int]
"""The blocks of a group from a place to before another."""


class Recency:
    """Moves chunks in the order of the pool's policy, which ranks pending chunks too."""

    def __init__(self, moves: Moves, groups: BlockGroups, rules: GroupRules) -> None:
        self._pool, self._groups, self._rules = moves.chunks, groups, rules
        self._by_hash = moves.ledger.inverse("chunk_hash")
        self._clock = 0
        self._touched_at = [0] * moves.chunks.size
        self._last_hit: tuple[str, int, int | None] | None = None
        self.stretches: Stretches | None = None
        """Of the group of full attention, if there is one, and they come behind what is kept for windows, head last.

        Without, each chunk of a prefix is moved by itself.
        """
        full, policy = [group for group in groups if not group.windowed], moves.chunks.policy
        if len(full) == 1 and rules.head_last and rules.full_last and isinstance(policy, MovesRuns):
            self.stretches = Stretches(policy, full[0], self._ranked, moves.chunks.size)

    def hit(self, tracked: Tracked, tokens: int) -> None:
        """A lookup has answered with a hit of so many tokens from the start of the prompt."""
        this = (tracked.key, tokens, tracked.first_hit)
        if this == self._last_hit:
            return  # and nothing has been touched since
        spans: list[Span] = []
        for group in self._groups:
            needed = since = group.kind.first_needed(tokens)
            if tracked.first_hit is not None:
                since = min(since, group.kind.first_needed(tracked.first_hit))
            bounds = (0, since, needed, -(-tokens // group.block_size))
            spans += (
                (group, first, last)
                for place, (first, last) in zip(Place, pairwise(bounds), strict=True)
                if self._rules.touched(windowed=group.windowed, place=place)
            )
        self._touch(tracked, spans)
        self._last_hit = this

    def stored(self, tracked: Tracked, group: BlockGroup, place: int) -> None:
        """A store of the block at a place has been planned."""
        self._last_hit = None
        tokens = (place + 1) * group.block_size
        spans: list[Span] = []
        for other in self._groups:
            bounds = (0, other.kind.first_needed(tokens), -(-tokens // other.block_size))
            spans += (
                (other, first, last)
                for where, (first, last) in zip((Place.BEFORE, Place.IN_WINDOW), pairwise(bounds), strict=True)
                if self._rules.touched_at_store(windowed=other.windowed, place=where)
            )
        self._touch(tracked, spans)

    def came(self, chunk: int, key: Key) -> None:
        """A chunk has a place in the order."""
        self._stamp(chunk)
        if self.stretches is not None:
            self.stretches.came(chunk, key)

    def gone(self, chunk: int, key: Key) -> None:
        """A chunk leaves the order."""
        self._last_hit = None
        if self.stretches is not None:
            self.stretches.gone(chunk, key)

    def _touch(self, tracked: Tracked, spans: Sequence[Span]) -> None:
        """What spans have is more recent than anything else, ranked among itself."""
        hashes, later = tracked.request.block_hashes, None
        if self.stretches is not None:
            later = self._prefix_touched(self.stretches, tracked, spans)
            spans = [span for span in spans if span[0].windowed]
        ranked = sorted(chain.from_iterable(self._slots(group, hashes, first, last) for group, first, last in spans))
        for *_, chunk in ranked:
            self._stamp(chunk)
            if later is None:
                self._pool.policy.touched(chunk)
            else:
                self._pool.policy.touched_before(chunk, later)

    @staticmethod
    def _prefix_touched(stretches: Stretches, tracked: Tracked, spans: Sequence[Span]) -> int | None:
        """Moves what spans have of the group of full attention; the least recent chunk of it, if there is one."""
        hashes = tracked.request.block_hashes
        places = max((min(last, group.num_keys(hashes)) for group, _, last in spans if not group.windowed), default=0)
        if not places:
            return None
        stretch = tracked.leaf = stretches.touch(tracked.leaf, hashes, places)
        while stretch is not None and stretch.first is None:
            stretch = stretch.parent
        return None if stretch is None else stretch.first

    def _slots(self, group: BlockGroup, hashes: Sequence[Hash], first: int, last: int) -> Iterable[Ranked]:
        """The slots in use for the blocks from place ``first`` to before ``last``, as far as they have keys."""
        last = max(first, min(last, group.num_keys(hashes)))
        step = -group.block_size if self._rules.head_last else group.block_size
        kind = group.windowed != self._rules.full_last
        for place, key in zip(range(first, last), group.keys(hashes, first, last), strict=True):
            for chunk in self._ranked(key):
                yield kind, (place + 1) * step, self._touched_at[chunk], chunk

    def _ranked(self, key: Key) -> Sequence[int]:
        """The chunks of a key that have a place in the order, the one first that was touched longest ago."""
        ranked = [chunk for chunk in self._by_hash.get(key, ()) if self._pool.is_ranked(chunk)]
        return ranked if len(ranked) < 2 else sorted(ranked, key=self._touched_at.__getitem__)

    def _stamp(self, chunk: int) -> None:
        self._clock += 1
        self._touched_at[chunk] = self._clock
