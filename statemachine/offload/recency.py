"""What hits and stores make recent, with several KV cache groups, as module ``groups`` of the specification says.

After each hit and each store, what it needs is more recent than anything else in the tier: windows before full groups,
and of a prompt the end before its beginning, because a prefix is of no use without its head.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from interlock.statemachine.offload.groups import BlockGroup, BlockGroups, Key
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.rules import GroupRules, Place
from interlock.statemachine.offload.stretches import Stretches
from interlock.statemachine.offload.tracked import Tracked
from interlock.statemachine.pool import MovesRuns
from interlock.statemachine.port import Hash

Ranked = tuple[bool, int, int, int]
"""A chunk behind what ranks it in a touch: of a full group, where it ends, since when it has been there."""
Span = tuple[BlockGroup, int, int]
"""The blocks of a group from a place to before another."""


class Recency:
    """Moves chunks in the order of the pool's policy, which ranks pending chunks too."""

    def __init__(self, moves: Moves, groups: BlockGroups, rules: GroupRules) -> None:
        self._pool, self._groups, self._rules = moves.chunks, groups, rules
        self._by_hash = moves.ledger.inverse("chunk_hash")
        self._clock = 0
        self._came_at = [0] * moves.chunks.size
        self._last_hit: tuple[Hash, int, int | None] | None = None
        """Of which prompt, which its last hash names: an id comes again, and a session takes tokens back."""
        self.stretches: Stretches | None = None
        """Of the group of full attention, if there is one, and they come behind what is kept for windows, head last.

        Without, each chunk of a prefix is moved by itself.
        """
        full, policy = [group for group in groups if not group.windowed], moves.chunks.policy
        if len(full) == 1 and rules.head_last and rules.full_last and isinstance(policy, MovesRuns):
            self.stretches = Stretches(policy, full[0], self._ranked, moves.chunks.size)

    def hit(self, tracked: Tracked, tokens: int) -> None:
        """A lookup has answered with a hit of so many tokens from the start of the prompt."""
        this = (tracked.request.block_hashes[-1], tokens, tracked.first_hit)
        if this == self._last_hit:
            return  # and nothing has come since: stores and what they touch do
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

    def stored(self, tracked: Tracked, ends: Iterable[int]) -> None:
        """Stores have been planned, one after the other, of blocks that end with so many tokens, in ascending order.

        Each touches what a hit of so many tokens needs. What the next touches as well is moved with that.
        """
        touches = [[self._stored(group, tokens) for group in self._groups] for tokens in dict.fromkeys(ends)]
        for spans, following in pairwise(touches):
            passed = [
                (group, first, min(last, next_))
                for (group, first, last), (_, next_, _) in zip(spans, following, strict=True)
                if first < next_
            ]
            if passed:
                self._each_touched(self._in_order(tracked, passed))
        self._touch(tracked, touches[-1])

    def _stored(self, group: BlockGroup, tokens: int) -> Span:
        """What of a group a store of a block that ends with so many tokens touches: from further on with more."""
        needed, end = group.kind.first_needed(tokens), -(-tokens // group.block_size)
        before, window = (
            self._rules.touched_at_store(windowed=group.windowed, place=place)
            for place in (Place.BEFORE, Place.IN_WINDOW)
        )
        return group, 0 if before else needed, end if window else needed

    def came(self, chunk: int, key: Key) -> None:
        """A chunk has a place in the order."""
        self._last_hit = None
        self._clock += 1
        self._came_at[chunk] = self._clock
        if self.stretches is not None:
            self.stretches.came(chunk, key)

    def gone(self, chunk: int, key: Key) -> None:
        """A chunk leaves the order."""
        if self.stretches is not None:
            self.stretches.gone(chunk, key)

    def _touch(self, tracked: Tracked, spans: Sequence[Span]) -> None:
        """What spans have is more recent than anything else, ranked among itself."""
        later = None
        if self.stretches is not None:
            later = self._prefix_touched(self.stretches, tracked, spans)
            spans = [span for span in spans if span[0].windowed]
        self._each_touched(self._in_order(tracked, spans), later)

    def _each_touched(self, chunks: Iterable[int], later: int | None = None) -> None:
        """Chunks are more recent than anything else, or just less so than one; the last of them most."""
        policy = self._pool.policy
        for chunk in chunks:
            if later is None:
                policy.touched(chunk)
            else:
                policy.touched_before(chunk, later)

    @staticmethod
    def _prefix_touched(stretches: Stretches, tracked: Tracked, spans: Sequence[Span]) -> int | None:
        """Moves what spans have of the group of full attention; the least recent chunk of it, if there is one."""
        hashes = tracked.request.block_hashes
        places = max((min(last, group.num_keys(hashes)) for group, _, last in spans if not group.windowed), default=0)
        if not places:
            return None
        tracked.leaf, least = stretches.touch(tracked.leaf, hashes, places)
        return least

    def _in_order(self, tracked: Tracked, spans: Iterable[Span]) -> Sequence[int]:
        """The slots in use for the blocks of spans, as far as they have keys; the one first that is evicted first."""
        hashes, ranked = tracked.request.block_hashes, list[Ranked]()
        for group, first, last in spans:
            step = -group.block_size if self._rules.head_last else group.block_size
            kind = group.windowed != self._rules.full_last
            for place, key in enumerate(group.keys(hashes, first, min(last, group.num_keys(hashes))), first):
                ranked += ((kind, (place + 1) * step, self._came_at[chunk], chunk) for chunk in self._ranked(key))
        ranked.sort()
        return [chunk for *_, chunk in ranked]

    def _ranked(self, key: Key) -> Sequence[int]:
        """The chunks of a key that have a place in the order, the one first that has had it for longest."""
        ranked = [chunk for chunk in self._by_hash.get(key, ()) if self._pool.is_ranked(chunk)]
        return ranked if len(ranked) < 2 else sorted(ranked, key=self._came_at.__getitem__)
