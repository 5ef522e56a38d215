"""What hits and stores make recent, with several KV cache groups, as module ``groups`` of the specification says.

After each hit and each store, what it needs is more recent than anything else in the tier: windows before full groups,
and of a prompt the end before its beginning, because a prefix is of no use without its head.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from interlock.statemachine.offload.groups import BlockGroup, BlockGroups
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.rules import GroupRules, Place
from interlock.statemachine.offload.tracked import Tracked
from interlock.statemachine.port import Hash

Ranked = tuple[bool, int, int, int]
"""A chunk behind what ranks it in a touch: of a full group, where it ends, when it was last touched."""


@dataclass(slots=True)
class _Run:
    """Stores of one request in a row: what was made recent of full groups is at the end of the order.

    Args:
        tokens: where the last chunk of a full group in it ends, or could.
        first: the first of those chunks in the order; ``None`` if there is none.
        behind: the first that ends before ``tokens``; ``None`` if there is none.
    """

    request: str
    tokens: int = 0
    first: int | None = None
    behind: int | None = None


class Recency:
    """Moves chunks in the order of the pool's policy, which ranks pending chunks too."""

    def __init__(self, moves: Moves, groups: BlockGroups, rules: GroupRules) -> None:
        self._pool, self._groups, self._rules = moves.chunks, groups, rules
        self._by_hash = moves.ledger.inverse("chunk_hash")
        self._clock = 0
        self._touched_at = [0] * moves.chunks.size
        self._run: _Run | None = None
        self._last_hit: tuple[str, int, int | None] | None = None
        self._adds = (
            rules.head_last and rules.full_last and not rules.touched_at_store(windowed=True, place=Place.BEFORE)
            and sum(not group.windowed for group in groups) <= 1
        )  # fmt: skip
        """Whether a store of what comes next in a prompt leaves in order what the last one has made recent: of several
        full groups one comes behind what is kept for windows, before the next does."""

    def hit(self, tracked: Tracked, tokens: int) -> None:
        """A lookup has answered with a hit of so many tokens from the start of the prompt."""
        this = (tracked.key, tokens, tracked.first_hit)
        if this == self._last_hit:
            return  # and nothing has been touched since
        hashes = tracked.request.block_hashes
        ranked: list[Ranked] = []
        for group in self._groups:
            needed = since = group.kind.first_needed(tokens)
            if tracked.first_hit is not None:
                since = min(since, group.kind.first_needed(tracked.first_hit))
            bounds = (0, since, needed, -(-tokens // group.block_size))
            for place, (first, last) in zip(Place, pairwise(bounds), strict=True):
                if self._rules.touched(windowed=group.windowed, place=place):
                    ranked += self._slots(group, hashes, first, last)
        self._touch(ranked)
        self._run, self._last_hit = None, this

    def stored(self, tracked: Tracked, group: BlockGroup, place: int, chunk: int) -> None:
        """A store of the block at a place has been planned, into this chunk."""
        self._last_hit = None
        request, hashes = tracked.key, tracked.request.block_hashes
        tokens = (place + 1) * group.block_size
        self._stamp(chunk)
        run = self._run
        if run is None or run.request != request or not self._adds:
            self._begin(request, hashes, tokens)
            return
        if tokens > run.tokens:
            self._join(run, hashes, tokens)
        elif not group.windowed:
            if tokens < run.tokens:
                self._begin(request, hashes, tokens)
                return
            self._put(chunk, run.behind)  # the last of those that end there
            run.first = chunk if run.first in (None, run.behind) else run.first
        windows: list[Ranked] = []
        for other in self._groups:
            if other.windowed:
                first, last = other.kind.first_needed(tokens), -(-tokens // other.block_size)
                windows += self._slots(other, hashes, first, last)
        for *_, recent in sorted(windows):
            self._put(recent, run.first)

    def gone(self, chunk: int) -> None:
        """A chunk has left the order."""
        self._last_hit = None
        if self._run is not None and chunk in (self._run.first, self._run.behind):
            self._run = None

    def _begin(self, request: str, hashes: Sequence[Hash], tokens: int) -> None:
        """Touches all that a hit of so many tokens needs, from scratch."""
        ranked: list[Ranked] = []
        for group in self._groups:
            needed = group.kind.first_needed(tokens)
            bounds = (0, needed, -(-tokens // group.block_size))
            for place, (first, last) in zip((Place.BEFORE, Place.IN_WINDOW), pairwise(bounds), strict=True):
                if self._rules.touched_at_store(windowed=group.windowed, place=place):
                    ranked += self._slots(group, hashes, first, last)
        self._touch(ranked)
        self._run = run = _Run(request)
        of_full = sorted(r for r in ranked if r[0])
        if of_full:
            run.tokens, run.first = abs(of_full[0][1]), of_full[0][3]
            run.behind = next((chunk for _, end, _, chunk in of_full if abs(end) != run.tokens), None)

    def _slots(self, group: BlockGroup, hashes: Sequence[Hash], first: int, last: int) -> Iterable[Ranked]:
        """The slots in use for the blocks from place ``first`` to before ``last``, as far as they have keys."""
        last = max(first, min(last, group.num_keys(hashes)))
        step = -group.block_size if self._rules.head_last else group.block_size
        kind = group.windowed != self._rules.full_last
        for place, key in zip(range(first, last), group.keys(hashes, first, last), strict=True):
            for chunk in self._by_hash.get(key, ()):
                if self._pool.is_ranked(chunk):
                    yield kind, (place + 1) * step, self._touched_at[chunk], chunk

    def _touch(self, ranked: list[Ranked]) -> None:
        ranked.sort()
        for *_, chunk in ranked:
            self._put(chunk, None)

    def _join(self, run: _Run, hashes: Sequence[Hash], tokens: int) -> None:
        """What full groups have between the last chunks of a run and so many tokens comes before all of it."""
        ranked: list[Ranked] = []
        for group in self._groups:
            if not group.windowed:
                ranked += self._slots(group, hashes, run.tokens // group.block_size, -(-tokens // group.block_size))
        ranked.sort()
        before = run.first
        for *_, chunk in ranked:
            self._put(chunk, before)
        run.tokens = tokens
        if ranked:
            run.first = ranked[0][3]
        if ranked and abs(ranked[0][1]) == tokens:
            run.behind = next((chunk for _, end, _, chunk in ranked if abs(end) != tokens), before)
        else:
            run.behind = run.first  # nothing ends there yet

    def _put(self, chunk: int, later: int | None) -> None:
        self._stamp(chunk)
        if later is None:
            self._pool.policy.touched(chunk)
        elif later != chunk:
            self._pool.policy.touched_before(chunk, later)

    def _stamp(self, chunk: int) -> None:
        self._clock += 1
        self._touched_at[chunk] = self._clock
