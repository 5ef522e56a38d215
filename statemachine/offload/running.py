"""Who has which blocks, and who has filled one: the machine's picture of the engine's schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress, count, islice, repeat
from operator import add, ge, gt
from sys import maxsize
from typing import Any

from interlock.statemachine.offload.groups import BlockGroups, Key
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.slides import Slides
from interlock.statemachine.offload.tracked import Tracked, Visit
from interlock.statemachine.port import NULL_BLOCK, ScheduledStep


class Running:
    """Blocks that requests get, fill and lose.

    Args:
        tracked: all requests that have not ended, by id.
        behind: gets requests with published blocks that the store scan has not passed.
    """

    def __init__(self, moves: Moves, groups: BlockGroups, tracked: Mapping[str, Tracked], behind: set[str]) -> None:
        self._moves, self._groups, self._tracked, self._behind = moves, groups, tracked, behind
        self._slides = Slides(moves, groups, tracked) if groups.windowed else None
        self._not_hashed = moves.ledger.condition("publish", "not-hashed")
        self._order: list[str] = []
        """The requests of the last step, in its order; most steps have the same."""
        self._places: dict[str, int] = {}
        self._almost: list[int] = []
        """Of each of them, the tokens after which one more makes it worth a look."""

    def run(self, step: ScheduledStep, visits: Sequence[Visit]) -> None:
        """Requests that were running: only those are looked at that got blocks, or have filled one or given one up."""
        ids = step.request_ids
        new: Sequence[Any] = step.new_block_ids  # of each request, or of each request and group
        # Most requests of a step have nothing for us, so they are passed over without a line of Python each.
        places = dict.fromkeys(compress(count(), new))
        places.update(dict.fromkeys(self._worth_a_look(step)))
        visited = {v.tracked.request.request_id for v in visits}
        full: list[tuple[Tracked, int]] = []
        allocated: list[tuple[str, int]] = []
        sliding: list[tuple[Tracked, int]] = []
        several = len(self._groups) > 1
        for place in sorted(places):
            request = ids[place]
            if request in visited:
                continue
            tracked = self._tracked[request]
            if self._slides is not None:
                sliding.append((tracked, step.num_computed_tokens[place]))
            new_blocks = new[place] if place < len(new) else None
            if new_blocks:
                for table, blocks in zip(tracked.tables, new_blocks if several else (new_blocks,), strict=True):
                    allocated += zip(repeat(request), blocks)
                    table.blocks += blocks
            tokens = step.num_computed_tokens[place] + step.num_scheduled_tokens[request]
            if tokens >= tracked.next_look:
                full.append((tracked, tokens))
        if self._slides is not None:
            allocated = [(request, block) for request, block in allocated if block != NULL_BLOCK]
            self._slides.slide(sliding, chain((block for _, block in allocated), _given(self._groups, visits)))
        self._moves.do_each("allocate", allocated)
        self.publish(full)

    def grow(self, visit: Visit) -> None:
        """A request that was waiting gets blocks: those of its cached prefix first."""
        request = visit.tracked.request.request_id
        hits: list[tuple[str, int]] = []
        allocated: list[tuple[str, int]] = []
        for group, table, blocks in zip(self._groups, visit.tracked.tables, visit.block_ids, strict=True):
            known = len(table.blocks)
            cached = max(visit.tracked.local_tokens // group.block_size, known)
            hits += zip(repeat(request), blocks[known:cached])
            allocated += zip(repeat(request), blocks[cached:])
            table.blocks += blocks[known:]
        if self._slides is not None:
            hits, allocated = ([row for row in rows if row[1] != NULL_BLOCK] for rows in (hits, allocated))
        if hits:
            self._moves.do_each("hit", hits)
        if allocated:
            self._moves.do_each("allocate", allocated)

    def publish(self, requests: Iterable[tuple[Tracked, int]]) -> None:
        """The blocks that are full once this step has run, at so many tokens, are addressable now."""
        rows: list[tuple[str, int, Key]] = []
        for tracked, num_tokens in requests:
            request, hashes = tracked.request.request_id, tracked.request.block_hashes
            for group, table in zip(self._groups, tracked.tables, strict=True):
                first = table.published
                full = max(first, min(num_tokens // group.block_size, len(table.blocks), group.num_keys(hashes)))
                # What the cache had was found by its hash, and held since.
                first = max(first, min(tracked.local_tokens // group.block_size, full))
                rows += zip(repeat(request), table.blocks[first:full], group.keys(hashes, first, full))
                table.published = full
                if table.scanned < full:
                    self._behind.add(request)
            self._look_next(tracked)
        if self._slides is not None:
            rows = [row for row in rows if row[1] != NULL_BLOCK]
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
        for table in tracked.tables:
            table.clear()
        self._look_next(tracked)
        self._behind.discard(request_id)

    def finished(self, request_id: str) -> None:
        """A request has ended."""
        self._order = []  # the id may come again at the same place, as another request
        self._behind.discard(request_id)

    def _worth_a_look(self, step: ScheduledStep) -> Iterable[int]:
        """The places of requests that will have filled a block that is not published, or give one up."""
        ids, counts = step.request_ids, step.num_scheduled_tokens
        if ids != self._order:
            self._order = list(ids)
            self._places = {request: place for place, request in enumerate(ids)}
            self._almost = [self._tracked[request].next_look - 1 for request in ids]
        if max(counts.values(), default=0) <= 1:  # all decode
            return compress(count(), map(ge, step.num_computed_tokens, self._almost))
        tokens = map(add, step.num_computed_tokens, map(counts.__getitem__, ids))
        return compress(count(), map(gt, tokens, self._almost))

    def _look_next(self, tracked: Tracked) -> None:
        """Sets with how many tokens it is worth a look again."""
        groups = self._groups
        if len(groups) == 1 and self._slides is None:
            tokens = (tracked.tables[0].published + 1) * groups[0].block_size
        else:
            tokens = self._next_of_all(tracked)
        tracked.next_look = tokens
        place = self._places.get(tracked.request.request_id)
        if place is not None:
            self._almost[place] = tokens - 1

    def _next_of_all(self, tracked: Tracked) -> int:
        """With how many tokens some group fills a block or gives one up."""
        tokens = maxsize
        for group, table in zip(self._groups, tracked.tables, strict=True):
            tokens = min(tokens, (table.published + 1) * group.block_size)
            if group.windowed:
                gone = group.kind.gone_with(table.slid)
                assert gone is not None
                tokens = min(tokens, gone + 1)  # with the step that has computed so many before it
        return tokens


def _given(groups: BlockGroups, visits: Iterable[Visit]) -> Iterable[int]:
    """Blocks that requests that were waiting have got, and that no cache had."""
    for visit in visits:
        for group, table, blocks in zip(groups, visit.tracked.tables, visit.block_ids, strict=True):
            yield from blocks[max(visit.tracked.local_tokens // group.block_size, len(table.blocks)) :]
