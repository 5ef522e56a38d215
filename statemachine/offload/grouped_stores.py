"""The store scan of a model with several KV cache groups: position by position of a prompt, each in all groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
_Row = tuple[int, BlockTable, int]
"""Where a block ends, its table, and its place in it."""


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

    def scan(self, behind: Sequence[Tracked]) -> None:
        """See the base class."""
        if self._choice is not None:
            self._declined = self._choice.declined(behind)
        for tracked in behind:
            self._kept.scan_begins(tracked, self._tracked.values())
            self._scan(tracked)
            if all(t.scanned >= t.published for t in tracked.tables):
                del self._behind[tracked.request.request_id]
        self._kept.scan_ends()

    def store_what_was_kept(self) -> None:
        """See the base class. Whoever has come under the id of one that has ended has no part in these jobs."""
        ended = [tracked.request.request_id for tracked in self.finished]
        super().store_what_was_kept()
        for request_id in ended:
            if request_id in self._tracked:
                self._tracked[request_id].first_job = self._moves.next_job

    def _scan(self, tracked: Tracked) -> None:
        rows: list[_Row] = sorted(
            (
                ((place + 1) * table.group.block_size, table, place)
                for table in tracked.tables
                for place in self._to_pass(table)
            ),
            key=lambda row: (row[0], row[1].group.place),
        )
        request, at = tracked.key, 0
        while at < len(rows):
            _, table, place = rows[at]
            block = table.blocks[place]
            if block == NULL_BLOCK:
                self._pass("lost", tracked, table, place)
                at += 1
                continue
            # What makes room depends on what has been stored before, so that is done first.
            several = self._moves.chunks.num_absent >= len(rows) - at
            if not several:
                self._kept.scan_goes_on(tracked)
            stored = self._store(tracked, rows[at:] if several else rows[at : at + 1])
            if stored:
                at += stored
            elif self._full or not self._moves.do_each("skip_store", self._not_to_be_stored([(request, block)])):
                return
            else:
                self._pass("skip", tracked, table, place)
                at += 1

    def _to_pass(self, table: BlockTable) -> Sequence[int]:
        """Where a table has published blocks that no scan has passed, also where they have slid out since."""
        return range(table.scanned, table.published)

    def _store(self, tracked: Tracked, rows: Sequence[_Row]) -> int:
        """Stores rows up to the first that has slid out, or is not to be stored; how many."""
        request = tracked.key
        blocks = [(request, table.blocks[place]) for _, table, place in rows]
        last = next((n for n, (_, block) in enumerate(blocks) if block == NULL_BLOCK), len(blocks))
        first = self._moves.next_job
        stored, self._full = self._plan("plan_store", blocks[:last], 0)
        if stored:
            self._recency.stored(tracked, (end for end, _, _ in rows[:stored]))
        for job, (_, table, place) in zip(range(first, first + stored), rows[:stored], strict=True):
            chunk = self._moves.jobs[job].chunk
            self._pass("store", tracked, table, place, chunk=chunk, job=job)
        return stored

    def _pass(self, event: str, tracked: Tracked, table: BlockTable, place: int, **more: Any) -> None:
        table.scanned = place + 1
        if self._record is not None:
            where = {"request": tracked.request.request_id, "group": table.group.place, "place": place}
            self._record(event, **where, block=table.blocks[place], **more)
