"""Stores: the scan of what requests have published, and what they leave behind when they end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import islice
from typing import Any

from interlock.statemachine.offload.choice import StoreChoice
from interlock.statemachine.offload.groups import BlockGroups, Key
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.tracked import BlockTable, Tracked
from interlock.statemachine.port import NULL_BLOCK, TransferJob


class Stores:
    """Plans stores.

    Args:
        behind: requests with published blocks that the scan has not passed.
        choice: which of them are not to be stored; ``None``: all are.
    """

    def __init__(self, moves: Moves, groups: BlockGroups, behind: set[str], choice: StoreChoice | None = None) -> None:
        self._moves, self._groups, self._behind, self._choice = moves, groups, behind, choice
        self._declined: Set[tuple[str, int]] = frozenset()
        self.finished: list[Tracked] = []
        """Requests that have ended since the last metadata."""

    def scan(self, behind: Sequence[Tracked]) -> None:
        """Stores each published block that a cursor has not passed; a request's scan stops where there is no room."""
        if self._choice is not None:
            self._declined = self._choice.declined(behind)
        rows: list[tuple[str, int]] = []
        pieces: list[tuple[str, BlockTable, Sequence[int], int]] = []
        for tracked in behind:
            request = tracked.request.request_id
            for table in tracked.tables:
                places = self._places(table)
                blocks = table.blocks
                rows += [(request, blocks[place]) for place in places]
                pieces.append((request, table, places, len(rows)))
        at = 0
        waiting = set()
        for request, table, places, end in pieces:
            stuck = False
            while at < end and not stuck:
                at, full = self._plan("plan_store", rows, at)
                if at < end:
                    skipped = 0 if full else self._moves.do_each("skip_store", self._not_to_be_stored(rows[at:end]))
                    stuck = not skipped
                    at += skipped
            left = max(end - at, 0)
            table.scanned = places[-left] if left else table.published
            if stuck:
                at = end
                waiting.add(request)
        self._behind.difference_update({request for request, *_ in pieces} - waiting)

    def store_what_was_kept(self) -> None:
        """What requests have published, and their store scans have not come to, when they ended."""
        if self._choice is not None:
            self._declined = self._choice.declined(self.finished)
        rows: list[tuple[str, int, Key]] = []
        for tracked in self.finished:
            request, hashes = tracked.request.request_id, tracked.request.block_hashes
            for group, table in zip(self._groups, tracked.tables, strict=True):
                first = table.scanned
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
        if not self._groups.windowed:
            return places
        return [place for place in places if table.blocks[place] != NULL_BLOCK]

    def _plan(self, action: str, rows: Sequence[tuple[Any, ...]], first: int) -> tuple[int, bool]:
        """Plans stores of rows, each a request, a block and what else is asked about, from one of them on.

        Returns the first that is left, and whether for want of room, not because it is refused.
        """
        moves = self._moves
        planned = 0
        full = False

        def choose(request: str, block: int, *_: Key) -> tuple[int, int] | None:
            nonlocal planned, full
            chunk = moves.chunks.take(ahead=planned)
            if chunk is None:
                full = True
                return None
            planned += 1
            job, moves.next_job = moves.next_job, moves.next_job + 1
            moves.jobs[job] = TransferJob(job, request, block, chunk)
            return chunk, job

        def choose_wanted(request: str, block: int, *_: Key) -> tuple[int, int] | None:
            return None if (request, block) in self._declined else choose(request, block)

        choosing = choose if self._choice is None else choose_wanted
        return first + moves.do_each(action, islice(rows, first, None), choosing), full

    def _not_to_be_stored(self, rows: Iterable[tuple[str, int]]) -> Iterable[tuple[str, int]]:
        for row in rows:
            if self._moves.may("plan_store", row[1]) and row not in self._declined:
                return
            yield row
