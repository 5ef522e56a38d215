"""Who has which blocks, and who has filled one: the machine's picture of the engine's schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, count, islice, repeat
from operator import add, ge, gt

from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.tracked import Tracked, Visit
from interlock.statemachine.port import Hash, ScheduledStep


class Running:
    """Blocks that requests get, fill and lose.

    Args:
        tracked: all requests that have not ended, by id.
        behind: gets requests with published blocks that the store scan has not passed.
    """

    def __init__(self, moves: Moves, tracked: Mapping[str, Tracked], behind: set[str], *, block_size: int) -> None:
        self._moves, self._tracked, self._behind = moves, tracked, behind
        self._block_size = block_size
        self._not_hashed = moves.ledger.condition("publish", "not-hashed")
        self._order: list[str] = []
        """The requests of the last step, in its order; most steps have the same."""
        self._places: dict[str, int] = {}
        self._almost: list[int] = []
        """Of each of them, the tokens after which one more fills the next block that is to be published."""

    def run(self, step: ScheduledStep, visits: Iterable[Visit]) -> None:
        """Requests that were running: only those are looked at that got blocks or will have filled one."""
        ids, new = step.request_ids, step.new_block_ids
        # Most requests of a step have nothing for us, so they are passed over without a line of Python each.
        places = dict.fromkeys(compress(count(), new))
        places.update(dict.fromkeys(self._filling(step)))
        if not places:
            return
        visited = {v.tracked.request.request_id for v in visits}
        filling: list[tuple[Tracked, int]] = []
        allocated: list[tuple[str, int]] = []
        for place in sorted(places):
            request = ids[place]
            if request in visited:
                continue
            tracked = self._tracked[request]
            new_blocks = new[place] if place < len(new) else None
            if new_blocks:
                allocated += zip(repeat(request), new_blocks)
                tracked.table += new_blocks
            tokens = step.num_computed_tokens[place] + step.num_scheduled_tokens[request]
            if tokens >= tracked.next_full:
                filling.append((tracked, tokens))
        self._moves.do_each("allocate", allocated)
        self.publish(filling)

    def grow(self, tracked: Tracked, new_blocks: Sequence[int]) -> None:
        """A request that was waiting gets blocks: those of its cached prefix first."""
        request, hits = tracked.request.request_id, max(tracked.local_blocks - len(tracked.table), 0)
        if hits:
            self._moves.do_each("hit", zip(repeat(request), new_blocks[:hits]))
        if hits < len(new_blocks):
            self._moves.do_each("allocate", zip(repeat(request), new_blocks[hits:]))
        tracked.table += new_blocks

    def publish(self, requests: Iterable[tuple[Tracked, int]]) -> None:
        """The blocks that are full once this step has run, at so many tokens, are addressable now."""
        rows: list[tuple[str, int, Hash]] = []
        for tracked, num_tokens in requests:
            request, hashes, first = tracked.request.request_id, tracked.request.block_hashes, tracked.published
            full = max(first, min(num_tokens // self._block_size, len(tracked.table), len(hashes)))
            first = max(first, min(tracked.local_blocks, full))  # found by their hash, and held since
            rows += zip(repeat(request), tracked.table[first:full], hashes[first:full])
            tracked.published = full
            self._fills_next(tracked, (full + 1) * self._block_size)
            if tracked.scanned < full:
                self._behind.add(request)
        at = 0
        while at < len(rows):
            at += self._moves.do_each("publish", islice(rows, at, None))
            if at < len(rows):
                loaded = self._moves.do_each("publish_loaded", islice(rows, at, None))
                if not loaded and self._not_hashed(rows[at][1]):
                    self._moves.do("publish", *rows[at])  # which says what is wrong
                at += loaded or 1

    def preempt(self, request_id: str) -> None:
        """A request loses its blocks and waits again."""
        tracked = self._tracked[request_id]
        self._moves.do("preempt", request_id)
        tracked.table.clear()
        tracked.published = tracked.scanned = 0
        self._fills_next(tracked, 0)
        self._behind.discard(request_id)

    def finished(self, request_id: str) -> None:
        """A request has ended."""
        self._order = []  # the id may come again at the same place, as another request
        self._behind.discard(request_id)

    def _filling(self, step: ScheduledStep) -> Iterable[int]:
        """The places of requests that will have filled a block that is not published."""
        ids, counts = step.request_ids, step.num_scheduled_tokens
        if ids != self._order:
            self._order = list(ids)
            self._places = {request: place for place, request in enumerate(ids)}
            self._almost = [self._tracked[request].next_full - 1 for request in ids]
        if max(counts.values(), default=0) <= 1:  # all decode
            return compress(count(), map(ge, step.num_computed_tokens, self._almost))
        tokens = map(add, step.num_computed_tokens, map(counts.__getitem__, ids))
        return compress(count(), map(gt, tokens, self._almost))

    def _fills_next(self, tracked: Tracked, tokens: int) -> None:
        """With so many tokens a request fills the next block that is to be published."""
        tracked.next_full = tokens
        place = self._places.get(tracked.request.request_id)
        if place is not None:
            self._almost[place] = tokens - 1
