"""Stores: the scan of what requests have published, and what they leave behind when they end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import repeat
from typing import Any

from interlock.statemachine.offload.choice import StoreChoice
from interlock.statemachine.offload.groups import BlockGroups, Key
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.tracked import BlockTable, Tracked
from interlock.statemachine.port import NULL_BLOCK


class Stores:
    """Plans stores.

    Args:
        behind: requests with published blocks that the scan has not passed.
        choice: which of them are not to be stored; ``None``: all are.
    """

    def __init__(
        self, moves: Moves, groups: BlockGroups, behind: dict[str, Tracked], choice: StoreChoice | None = None
    ) -> None:
        self._moves, self._groups, self._behind, self._choice = moves, groups, behind, choice
        self._windowed = groups.windowed
        self._skips_say_why = moves.ledger.may_refuse("skip_store", "has-a-reason")
        self._declined: Set[tuple[str, int]] = frozenset()
        self.finished: list[Tracked] = []
        """Requests that have ended since the last metadata, with something left to store."""

    def scan(self, behind: Sequence[Tracked]) -> None:
        """Stores each published block that a cursor has not passed; a request's scan stops where there is no room.

        There it stays until there may be some: or each step would go through all that nobody has stored.
        """
        if self._choice is not None:
            self._declined = self._choice.declined(behind)  # all are seen, so all are gone through
        else:
            room_made = self._moves.room_made
            behind = [tracked for tracked in behind if tracked.tables[0].no_room_at != room_made]
        rows: list[tuple[str, int]] = []
        for tracked in behind:
            (table,) = tracked.tables
            first, last = table.scanned, table.published
            if last == first + 1:
                rows.append((tracked.key, table.blocks[first]))
            else:
                rows += zip(repeat(tracked.key), table.blocks[first:last], strict=False)
        at, full = self._plan("plan_store", rows, 0) if rows else (0, False)
        if at < len(rows):
            self._scan_the_rest(rows, behind, at, full)
            return
        for tracked in behind:  # as nearly always, all are stored
            (table,) = tracked.tables
            table.scanned = table.published
            del self._behind[tracked.request.request_id]

    def _scan_the_rest(self, rows: Sequence[tuple[str, int]], behind: Iterable[Tracked], at: int, full: bool) -> None:
        """From a block on that is not to be stored, or for which there is no room."""
        end = 0
        for tracked in behind:
            (table,) = tracked.tables
            end += table.published - table.scanned  # where the rows of the next request begin
            stuck = False
            while at < end and not stuck:
                if full:
                    table.no_room_at = self._moves.room_made
                skipped = 0 if full else self._moves.do_each("skip_store", self._passed_over(rows[at:end]))
                stuck = not skipped
                at += skipped
                if not stuck and at < len(rows):
                    at, full = self._plan("plan_store", rows, at)
            table.scanned = table.published - max(end - at, 0)
            if stuck:
                at, full = self._plan("plan_store", rows, end) if end < len(rows) else (end, False)
            if table.scanned == table.published:
                del self._behind[tracked.request.request_id]

    def ends(self, tracked: Tracked) -> None:
        """A request has ended; one that has nothing left to store need not live on for our sake."""
        for table in tracked.tables:
            if table.scanned < table.published:
                self.finished.append(tracked)
                return

    def store_what_was_kept(self) -> None:
        """What requests have published, and their store scans have not come to, when they ended."""
        if self._choice is not None:
            self._declined = self._choice.declined(self.finished)
        rows: list[tuple[str, int, Key]] = []
        for tracked in self.finished:
            request, hashes = tracked.key, tracked.request.block_hashes
            for group, table in zip(self._groups, tracked.tables, strict=True):
                first = table.scanned
                if first == table.published:
                    continue
                keys = group.keys(hashes, first, table.published)
                rows += ((request, table.blocks[place], keys[place - first]) for place in self._places(table))
        self.finished.clear()
        at, full = 0, False
        while at < len(rows) and not full:
            at, full = self._plan("plan_finish_store", rows, at)
            at += 1  # one that is refused stays unstored

    def _places(self, table: BlockTable) -> Sequence[int]:
        """Where a table has published blocks that no scan has passed, those left out that have slid out since."""
        places = range(table.scanned, table.published)
        if not self._windowed:
            return places
        return [place for place in places if table.blocks[place] != NULL_BLOCK]

    def _plan(self, action: str, rows: Sequence[tuple[Any, ...]], first: int) -> tuple[int, bool]:
        """Plans stores of rows, each a request, a block and what else is asked about, from one of them on.

        Returns the first that is left, and whether for want of room, not because it is refused.
        """
        last = len(rows)
        if self._declined:
            last = next((at for at in range(first, last) if rows[at][:2] in self._declined), last)
        planned, full = self._moves.plan_each(action, rows if last - first == len(rows) else rows[first:last])
        return first + planned, full

    def _passed_over(self, rows: Sequence[tuple[str, int]]) -> Iterable[tuple[str, int]]:
        """Of rows the first ones that may be passed over; or all, where the specification says which those are.

        It does where it wants a reason, and want of room is none.
        """
        return rows if self._skips_say_why and self._moves.chunks.num_absent else self._not_to_be_stored(rows)

    def _not_to_be_stored(self, rows: Iterable[tuple[str, int]]) -> Iterable[tuple[str, int]]:
        for row in rows:
            if self._moves.may("plan_store", row[1]) and row not in self._declined:
                return
            yield row
