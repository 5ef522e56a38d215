"""Who has which blocks, and who has filled one: the machine's picture of the engine's schedule."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, compress, count, islice, repeat
from sys import maxsize

from interlock.statemachine.errors import MissingBlocks, NotLetIn, WrongHit
from interlock.statemachine.offload.groups import BlockGroups, Key
from interlock.statemachine.offload.holders import Holders
from interlock.statemachine.offload.looks import Looks
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.slides import Slides
from interlock.statemachine.offload.tracked import BlockTable, Tracked, Visit
from interlock.statemachine.port import NULL_BLOCK, ScheduledStep


class Running:
    """Blocks that requests get, fill and lose.

    Args:
        tracked: all requests that have not ended, by id.
        behind: gets requests with published blocks that the store scan has not passed.
        checking: whether it is looked whether requests have computed more than they were scheduled, and whether the
            blocks that the engine's cache gives them are of their prefixes.
    """

    def __init__(
        self,
        moves: Moves,
        groups: BlockGroups,
        tracked: Mapping[str, Tracked],
        behind: dict[str, Tracked],
        *,
        checking: bool,
    ) -> None:
        self._moves, self._groups, self._tracked, self._behind = moves, groups, tracked, behind
        self._one_group, self._prefix_only = len(groups) == 1, groups.prefix_only
        self._block_size = groups[0].block_size
        self._not_hashed = moves.ledger.condition("publish", "not-hashed")
        self._hashed, self._hash_of = moves.ledger.relation("hashed"), moves.ledger.function("block_hash")
        self._checking = checking
        self._unnamed: dict[str, int] = {}
        """Requests with full blocks of which an output that is still to come decides the hash; until which token."""
        self._nameless: set[int] = set()
        """Blocks that those had when they ended or lost them, or a window passed them, and those that a reset may have
        left: they may be found, until somebody else gets them."""
        self._slides = Slides(moves, groups, tracked, self._nameless, self._unnamed) if groups.windowed else None
        self._names_late = False
        """Whether there has been one: the engine schedules a step before the outputs of the one before it are there, or
        a request has ended that waited with what it had loaded."""
        self._late = Holders(self._unnamed_places)
        """The same requests, asked about those blocks."""
        self._loaded = Holders(lambda _, table: range(len(table.blocks)))
        """Requests whose loads have ended, until they are let in: from now on their blocks may be found (Q13)."""
        self._looks = Looks(tracked.__getitem__, checking=checking)
        self._request_state = moves.ledger.function("request_state")

    def told(self, step: ScheduledStep, visited: Collection[str]) -> None:
        """See :meth:`Looks.told`."""
        self._looks.told(step, visited)

    def run(self, step: ScheduledStep, visits: Sequence[Visit], anew: Sequence[str] = ()) -> None:
        """Requests that were running: only those are looked at that got blocks, or have filled one or given one up.

        Args:
            anew: requests that have lost their blocks since the last metadata, and are looked up anew.
        """
        ids, computed, new = step.request_ids, step.num_computed_tokens, step.new_block_ids
        visited = {v.tracked.request.request_id for v in visits}
        if visits:
            new = [None if request_id in visited else got for request_id, got in zip(ids, new, strict=False)]
        self._refuse_who_is_not_let_in(ids, visited)
        for request_id in anew:
            self._clear(self._tracked[request_id])
        looked_at, tracked_at = self._looks.worth(step), self._looks.at
        if visits:
            looked_at = [at for at in looked_at if ids[at] not in visited]
        allocated = self._given(zip(compress(tracked_at, new), filter(None, new), strict=True))
        if self._slides is not None:
            allocated = [(request, block) for request, block in allocated if block != NULL_BLOCK]
            self._slides.slide(
                [
                    (tracked_at[place], _settled(tracked_at[place], computed[place]))
                    for place in sorted({*compress(count(), new), *looked_at})
                ],
                chain((block for _, block in allocated), *(new for visit in visits for _, _, new in _got(visit))),
            )
        for request_id in anew:  # behind what slides out, with which a schedule begins
            self._moves.do("look_up_anew", self._tracked[request_id].key)
        if allocated:
            self._moves.do_each("allocate", allocated)
            if self._nameless:
                self._nameless.difference_update([block for _, block in allocated])
        if looked_at:
            scheduled = step.num_scheduled_tokens
            self.publish([(tracked_at[at], computed[at] + scheduled[ids[at]]) for at in looked_at])
            self._looks.were_looked_at(looked_at)

    def _refuse_who_is_not_let_in(self, request_ids: Sequence[str], visited: Collection[str]) -> None:
        """Who was in the last step goes on; others need their blocks first.

        Raises:
            NotLetIn: somebody computes, and waits or is being loaded.
        """
        if request_ids == self._looks.order:
            return
        for request_id in request_ids:
            if request_id not in self._looks.places and request_id not in visited:
                state = self._request_state.get(self._tracked[request_id].key)
                if state != "scheduled":
                    raise NotLetIn(request_id, str(state))

    def _given(self, given: Iterable[tuple[Tracked, Sequence[Sequence[int]]]]) -> list[tuple[str, int]]:
        """Requests that were running get blocks, in each group; who gets which."""
        allocated: list[tuple[str, int]] = []
        if self._one_group:
            for tracked, (blocks,) in given:
                tracked.tables[0].blocks += blocks
                if len(blocks) == 1:
                    allocated.append((tracked.key, blocks[0]))
                else:
                    allocated += zip(repeat(tracked.key), blocks)
            return allocated
        for tracked, got in given:
            request = tracked.key
            for table, blocks in zip(tracked.tables, got, strict=True):
                table.blocks += blocks
                for block in blocks:
                    allocated.append((request, block))
        return allocated

    def in_order(self, requests: Iterable[Tracked]) -> list[Tracked]:
        """Those of the requests that the step at hand computes, in its order."""
        places, tracked_at = self._looks.places, self._looks.at
        ids = (tracked.request.request_id for tracked in requests)
        return [tracked_at[at] for at in sorted([places[request] for request in ids if request in places])]

    def grow(self, visit: Visit) -> None:
        """A request that was waiting gets blocks: those of its cached prefix first."""
        request = visit.tracked.key
        hits: list[int] = []
        allocated: list[int] = []
        for table, found, new in _got(visit):
            if self._checking:
                self._refuse_another_prefix(visit.tracked, table, found)
            hits += self._found_unnamed(visit.tracked, table, found) if self._names_late or self._loaded else found
            allocated += new
            table.blocks += (*found, *new)
        if self._slides is not None:
            hits, allocated = ([block for block in blocks if block != NULL_BLOCK] for blocks in (hits, allocated))
        if hits:
            self._moves.do_each("hit", zip(repeat(request), hits))
        if allocated:
            self._moves.do_each("allocate", zip(repeat(request), allocated))
            self._nameless.difference_update(allocated)

    def _refuse_another_prefix(self, tracked: Tracked, table: BlockTable, found: Sequence[int]) -> None:
        """Makes sure that of what the cache had each block that has a hash has that of its place.

        Raises:
            WrongHit: one has another.
        """
        hashes, hash_of = tracked.request.block_hashes, self._hash_of
        for place, block in enumerate(found, len(table.blocks)):
            if block in self._hashed and hash_of[block] != table.group.key(hashes, place):
                raise WrongHit(tracked.request.request_id, block, place)

    def _found_unnamed(self, tracked: Tracked, table: BlockTable, found: Sequence[int]) -> Sequence[int]:
        """Which of what the cache had are hits: others were named when their request had ended, or had lost them.

        That is so where a step is scheduled before the outputs of the one before it are there (vLLM: asynchronous
        scheduling), and of who had waited with what it had loaded, for want of room. We were told nothing of it: to us
        such a block is free, and filled by whoever finds it. If who has loaded it waits still, it is named now.
        So is what an output has named whose request runs, and does not compute in this step: until it does, we name
        nothing, as the last token of a full block may be taken back (the end of a turn of a streaming session).
        Any other block that the cache claims to have and that has no name is no hit, and raises.
        """
        hits: list[int] = []
        for place, block in enumerate(found, len(table.blocks)):
            if block == NULL_BLOCK or block in self._hashed:
                hits.append(block)
                continue
            key = table.group.key(tracked.request.block_hashes, place)
            if block in self._nameless:
                self._nameless.discard(block)
                self._moves.do("allocate", tracked.key, block)
                self._moves.do("publish", tracked.key, block, key)
                continue
            if (loader := self._loaded.of(block)) is not None:
                self._moves.do("publish_loaded", loader.key, block, key)
            elif (owner := self._late.of(block)) is not None:
                self._moves.do("publish", owner.key, block, key)
            hits.append(block)
        return hits

    def loaded(self, tracked: Tracked) -> None:
        """All loads of a request have ended: the next visit names its blocks, whether it is let in or not."""
        self._loaded.put(tracked)

    def may_be_found(self, blocks: Collection[int]) -> None:
        """A reset has taken their hashes, as far as we can know.

        The engine's own cache keeps all if a step is under way that computes for a request that has ended: its blocks
        are still in use there, and the reset fails.
        """
        if blocks:
            self._nameless.update(blocks)
            self._names_late = True

    def publish_admitted(self, tracked: Tracked, num_tokens: int) -> None:
        """The same as for a request that was running, for one that was let in."""
        self._loaded.drop(tracked)
        self.publish([(tracked, num_tokens)])
        self._looks.again(tracked)

    def publish(self, requests: Iterable[tuple[Tracked, int]]) -> None:
        """The blocks that are full once this step has run, at so many tokens, are addressable now."""
        rows = self._filled_prefix(requests) if self._prefix_only else self._filled(requests)
        at = 0
        while at < len(rows):
            at += self._moves.do_each("publish", islice(rows, at, None) if at else rows)
            if at < len(rows):
                loaded = self._moves.do_each("publish_loaded", islice(rows, at, None))
                if not loaded and self._not_hashed(rows[at][1]):
                    self._moves.do("publish", *rows[at])  # which says what is wrong
                at += loaded or 1

    def _filled_prefix(self, requests: Iterable[tuple[Tracked, int]]) -> list[tuple[str, int, Key]]:
        """As :meth:`_filled`, with one group of full attention, of whose blocks each has a hash."""
        rows: list[tuple[str, int, Key]] = []
        size, behind, unnamed = self._block_size, self._behind, self._unnamed
        for tracked, num_tokens in requests:
            (table,), request = tracked.tables, tracked.request
            blocks, hashes, first = table.blocks, request.block_hashes, table.published
            full = num_tokens // size
            if full > len(blocks):
                raise MissingBlocks(request.request_id, num_tokens, len(blocks), size)
            if full > len(hashes):
                self._is_late(tracked, num_tokens)
                full = len(hashes)
            elif unnamed:
                self._is_not_late(tracked)
            if full > first:
                if first * size < tracked.local_tokens:
                    first = min(tracked.local_tokens // size, full)
                if full == first + 1:
                    rows.append((tracked.key, blocks[first], hashes[first]))
                else:
                    rows += zip(repeat(tracked.key), blocks[first:full], hashes[first:full], strict=False)
                table.published = first = full
                behind[request.request_id] = tracked
            tracked.next_look = (first + 1) * size
        return rows

    def _filled(self, requests: Iterable[tuple[Tracked, int]]) -> list[tuple[str, int, Key]]:
        """Which blocks requests have filled, with their keys; when to look at each of them next."""
        rows: list[tuple[str, int, Key]] = []
        for tracked, num_tokens in requests:
            request, look = tracked.request, maxsize
            key, hashes = tracked.key, request.block_hashes
            late = False
            for table in tracked.tables:
                group, blocks, first = table.group, table.blocks, table.published
                size = group.block_size
                full = num_tokens // size
                if full > len(blocks):
                    raise MissingBlocks(request.request_id, num_tokens, len(blocks), size)
                if full * group.hashes_per_block > len(hashes):
                    late = True
                    full = len(hashes) // group.hashes_per_block
                if full > first:
                    # What the cache had was found by its hash, and held since.
                    if first * size < tracked.local_tokens:
                        first = min(tracked.local_tokens // size, full)
                    if full == first + 1:
                        rows.append((key, blocks[first], group.key(hashes, first)))
                    else:
                        rows += zip(repeat(key), blocks[first:full], group.keys(hashes, first, full))
                    table.published = first = full
                    self._behind[request.request_id] = tracked
                look = min(look, (first + 1) * size)
            if late:
                self._is_late(tracked, num_tokens)
            elif self._unnamed:
                self._is_not_late(tracked)
            tracked.next_look = look if self._slides is None else min(look, self._slides.next_look(tracked))
        if self._slides is not None:
            rows = [row for row in rows if row[1] != NULL_BLOCK]
        return rows

    def preempted(self, request_id: str) -> None:
        """A request loses its blocks, and waits again."""
        tracked = self._tracked[request_id]
        self._moves.do("preempt", tracked.key)
        self._clear(tracked)

    def _clear(self, tracked: Tracked) -> None:
        self._leaves_nameless(tracked)
        self._loaded.drop(tracked)  # nothing of its load was left to be named
        for table in tracked.tables:
            table.clear()
        tracked.no_room_at = None
        tracked.next_look = 0  # with the first tokens that it gets again
        self._looks.again(tracked)
        self._behind.pop(tracked.request.request_id, None)

    def finished(self, tracked: Tracked) -> None:
        """A request has ended."""
        self._leaves_nameless(tracked)
        if self._loaded.drop(tracked):
            self._nameless.update(block for table in tracked.tables for block in table.blocks if block != NULL_BLOCK)
            self._names_late = True
        self._looks.forget()
        self._behind.pop(tracked.request.request_id, None)

    def _leaves_nameless(self, tracked: Tracked) -> None:
        if tracked.request.request_id in self._unnamed:
            for table in tracked.tables:
                self._nameless.update(map(table.blocks.__getitem__, self._unnamed_places(tracked, table)))
            self._nameless.discard(NULL_BLOCK)
            self._is_not_late(tracked)

    def _is_late(self, tracked: Tracked, num_tokens: int) -> None:
        """A request has full blocks without a hash, up to a token."""
        self._unnamed[tracked.request.request_id], self._names_late = num_tokens, True
        self._late.put(tracked)

    def _is_not_late(self, tracked: Tracked) -> None:
        if self._unnamed.pop(tracked.request.request_id, None) is not None:
            self._late.drop(tracked)

    def _unnamed_places(self, tracked: Tracked, table: BlockTable) -> range:
        """Where a table of a request of which hashes are late has full blocks that have none."""
        full = self._unnamed[tracked.request.request_id] // table.group.block_size
        return range(table.published, min(full, len(table.blocks)))


def _got(visit: Visit) -> Iterable[tuple[BlockTable, Sequence[int], Sequence[int]]]:
    """What a request that was waiting has got, by table: blocks that the cache had, and new ones."""
    for table, blocks in zip(visit.tracked.tables, visit.block_ids, strict=True):
        known = len(table.blocks)
        cached = max(visit.tracked.local_tokens // table.group.block_size, known)
        yield table, blocks[known:cached], blocks[cached:]


def _settled(tracked: Tracked, num_computed_tokens: int) -> int:
    """How many tokens count as computed for windows: drafts without an output may yet be rejected."""
    return min(num_computed_tokens, tracked.request.num_tokens)
