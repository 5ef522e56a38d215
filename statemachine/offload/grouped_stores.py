"""The store scan of a model with several KV cache groups: position by position of a prompt, each in all groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from interlock.statemachine.offload.choice import StoreChoice
from interlock.statemachine.offload.groups import BlockGroups
from interlock.statemachine.offload.kept import Kept
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.recency import Recency
from interlock.statemachine.offload.stores import Stores
from interlock.statemachine.offload.tracked import BlockTable, Tracked
from interlock.statemachine.port import NULL_BLOCK

Record = Callable[..., object]
_Row = tuple[int, int, int]
"""Where a block ends, its group, and its place in the table of that."""


class GroupedStores(Stores):
    """As its base class; what is stored is made recent, and a position is left when every group has been passed there.

    Args:
        tracked: all requests that have not ended.
        record: told of each block that is passed: ``store`` (with ``chunk`` and ``job``), ``skip`` (the tier has it, or
            it is not to be stored) or ``lost`` (it has slid out); with ``request``, ``group``, ``place`` and ``block``.
    """

    def __init__(
        self,
        moves: Moves,
        groups: BlockGroups,
        behind: dict[str, Tracked],
        choice: StoreChoice | None,
        *,
        recency: Recency,
        kept: Kept,
        tracked: Mapping[str, Tracked],
        record: Record | None = None,
    ) -> None:
        super().__init__(moves, groups, behind, choice)
        self._recency, self._kept, self._tracked, self._record = recency, kept, tracked, record
        self._no_room_at: tuple[int, ...] | None = None
        """What :attr:`room_made` was when this scan found none: there is none for the next request either."""

    @property
    def room_made(self) -> tuple[int, ...]:
        """See the base class. With several groups chunks make no room either as long as they are kept."""
        return *self._moves.room_made, self._kept.let_go

    def scan(self, behind: Sequence[Tracked]) -> None:
        """See the base class."""
        if self._choice is not None:
            self._choice.see(behind)
        self._kept.scans_begin()
        self._no_room_at = None
        for tracked in behind:
            if tracked.no_room_at == self.room_made and self._is_candidate(tracked, *self._rows(tracked, 1)[0]):
                continue
            self._scan(tracked)
            if all(t.scanned >= t.published for t in tracked.tables):
                del self._behind[tracked.request.request_id]
        self._kept.scans_end()

    def store_what_was_kept(self) -> None:
        """See the base class. Whoever has come under the id of one that has ended has no part in these jobs."""
        ended = [tracked.request.request_id for tracked in self.finished]
        super().store_what_was_kept()
        for request_id in ended:
            if request_id in self._tracked:
                self._tracked[request_id].first_job = self._moves.next_job

    def _scan(self, tracked: Tracked) -> None:
        rows, at = self._next(tracked), 0
        while rows:
            _, group, place = rows[at]
            table = tracked.tables[group]
            if table.blocks[place] == NULL_BLOCK:
                self._pass("lost", tracked, table, place)
                at += 1
            else:
                known_full = self._no_room_at == self.room_made and self._could_store(tracked, table, place)
                stored, full = (0, True) if known_full else self._store(tracked, rows, at)
                if full:
                    tracked.no_room_at = self._no_room_at = self.room_made
                    return
                at += stored
                if not stored:
                    if not self._moves.do_each("skip_store", self._not_to_be_stored(tracked, table, (place,))):
                        return
                    self._pass("skip", tracked, table, place)
                    at += 1
            if at == len(rows):
                rows, at = self._next(tracked), 0

    def _next(self, tracked: Tracked) -> Sequence[_Row]:
        """What the scan of a request has come to: all the rest if there is plain room for it.

        Otherwise one block: what makes room depends on what has been stored before, so that is done first.
        """
        left = sum([len(self._to_pass(table)) for table in tracked.tables])
        return self._rows(tracked, left if self._moves.chunks.num_absent >= left else 1)

    def _rows(self, tracked: Tracked, most: int) -> Sequence[_Row]:
        """So many blocks at most that no scan has passed, the first of them, position by position."""
        rows = sorted(
            ((place + 1) * table.group.block_size, table.group.place, place)
            for table in tracked.tables
            for place in self._to_pass(table)[:most]
        )
        return rows[:most]

    def _to_pass(self, table: BlockTable) -> Sequence[int]:
        """Where a table has published blocks that no scan has passed, also where they have slid out since."""
        return range(table.scanned, table.published)

    def _is_candidate(self, tracked: Tracked, _: int, group: int, place: int) -> bool:
        """Whether a block has not slid out, and is to be stored."""
        table = tracked.tables[group]
        return table.blocks[place] != NULL_BLOCK and not self._declines(tracked, table, place)

    def _store(self, tracked: Tracked, rows: Sequence[_Row], at: int) -> tuple[int, bool]:
        """Stores rows from one on, up to the first that has slid out, or is not to be stored.

        Returns how many, and whether the others were not for want of room.
        """
        first, left = self._moves.next_job, map(rows.__getitem__, range(at, len(rows)))
        candidates = takewhile(lambda row: self._is_candidate(tracked, *row), left)
        blocks = ((tracked.key, tracked.tables[group].blocks[place]) for _, group, place in candidates)
        stored, full = self._moves.plan_each("plan_store", blocks, len(rows) - at)
        if stored:
            self._recency.stored(tracked, (end for end, _, _ in rows[at : at + stored]))
        for done in range(stored):
            _, group, place = rows[at + done]
            table, job = tracked.tables[group], first + done
            chunk = self._moves.jobs[job].chunk
            self._pass("store", tracked, table, place, chunk=chunk, job=job)
        return stored, full

    def _pass(self, event: str, tracked: Tracked, table: BlockTable, place: int, **more: Any) -> None:
        table.scanned = place + 1
        self._kept.scan_moves(tracked)
        if self._record is not None:
            where = {"request": tracked.request.request_id, "group": table.group.place, "place": place}
            self._record(event, **where, block=table.blocks[place], **more)
