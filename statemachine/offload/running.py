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
from interlock.statemachine.offload.tracked import BlockTable, Tracked, Visit
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
        ids, new, computed = step.request_ids, step.new_block_ids, step.num_computed_tokens
        visited = {v.tracked.request.request_id for v in visits} if visits else ()
        several = len(self._groups) > 1
        # Most requests of most steps have nothing for us, so they are passed over without a line of Python each.
        looked_at = [place for place in self._worth_a_look(step) if ids[place] not in visited]
        given = [place for place in compress(count(), new) if ids[place] not in visited]
        allocated: list[tuple[str, int]] = []
        for place in given:
            request = ids[place]
            per_group: Any = new[place] if several else (new[place],)
            for table, blocks in zip(self._tracked[request].tables, per_group, strict=True):
                table.blocks += blocks
                for block in blocks:
                    allocated.append((request, block))
        if self._slides is not None:
            allocated = [(request, block) for request, block in allocated if block != NULL_BLOCK]
            self._slides.slide(
                [(self._tracked[ids[place]], computed[place]) for place in sorted({*given, *looked_at})],
                chain((block for _, block in allocated), *(new for visit in visits for _, _, new in _got(visit))),
            )
        if allocated:
            self._moves.do_each("allocate", allocated)
        if looked_at:
            scheduled = step.num_scheduled_tokens
            self.publish([(self._tracked[ids[at]], computed[at] + scheduled[ids[at]]) for at in looked_at])

    def in_order(self, requests: Iterable[str]) -> list[str]:
        """Those of the requests that the step at hand computes, in its order."""
        places = self._places
        return sorted((request for request in requests if request in places), key=places.__getitem__)

    def grow(self, visit: Visit) -> None:
        """A request that was waiting gets blocks: those of its cached prefix first."""
        request = visit.tracked.request.request_id
        hits: list[tuple[str, int]] = []
        allocated: list[tuple[str, int]] = []
        for table, found, new in _got(visit):
            hits += zip(repeat(request), found)
            allocated += zip(repeat(request), new)
            table.blocks += (*found, *new)
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
            for table in tracked.tables:
                group, blocks, first = table.group, table.blocks, table.published
                full = min(num_tokens // group.block_size, len(blocks), len(hashes) // group.hashes_per_block)
                if full <= first:
                    continue
                # What the cache had was found by its hash, and held since.
                if first * group.block_size < tracked.local_tokens:
                    first = min(tracked.local_tokens // group.block_size, full)
                if full == first + 1:
                    rows.append((request, blocks[first], group.key(hashes, first)))
                else:
                    rows += zip(repeat(request), blocks[first:full], group.keys(hashes, first, full))
                table.published = full
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
        self._order, self._places = [], {}  # the id may come again at the same place, as another request
        self._behind.discard(request_id)

    def _worth_a_look(self, step: ScheduledStep) -> Iterable[int]:
        """The places of requests that will have filled a block that is not published, or give one up."""
        ids, counts = step.request_ids, step.num_scheduled_tokens
        if ids != self._order:
            self._order = list(ids)
            self._places = {request: place for place, request in enumerate(ids)}
            self._almost = [self._tracked[request].next_look - 1 for request in ids]
        if sum(counts.values()) == len(counts):  # all decode
            return compress(count(), map(ge, step.num_computed_tokens, self._almost))
        tokens = map(add, step.num_computed_tokens, map(counts.__getitem__, ids))
        return compress(count(), map(gt, tokens, self._almost))

    def _look_next(self, tracked: Tracked) -> None:
        """Sets with how many tokens it is worth a look again."""
        tokens = maxsize
        for table in tracked.tables:
            group = table.group
            full = (table.published + 1) * group.block_size
            tokens = min(tokens, full)
            gone = group.kind.gone_with(table.slid) if group.windowed else None
            if gone is not None:
                tokens = min(tokens, gone + 1)  # with the step that has computed so many before it
        tracked.next_look = tokens
        place = self._places.get(tracked.request.request_id)
        if place is not None:
            self._almost[place] = tokens - 1


def _got(visit: Visit) -> Iterable[tuple[BlockTable, Sequence[int], Sequence[int]]]:
    """What a request that was waiting has got, by table: blocks that the cache had, and new ones."""
    for table, blocks in zip(visit.tracked.tables, visit.block_ids, strict=True):
        known = len(table.blocks)
        cached = max(visit.tracked.local_tokens // table.group.block_size, known)
        yield table, blocks[known:cached], blocks[cached:]
