"""Stores: the scan of what requests have published, and what they leave behind when they end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, repeat
from typing import Any

from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.tracked import Tracked
from interlock.statemachine.port import Hash, TransferJob


class Stores:
    """Plans stores.

    Args:
        behind: requests with published blocks that the scan has not passed.
    """

    def __init__(self, moves: Moves, behind: set[str]) -> None:
        self._moves, self._behind = moves, behind
        self.finished: list[Tracked] = []
        """Requests that have ended since the last metadata."""

    def scan(self, behind: Sequence[Tracked]) -> None:
        """Stores each published block that a cursor has not passed; a request's scan stops where there is no room."""
        rows: list[tuple[str, int]] = []
        ends = []
        for tracked in behind:
            rows += zip(repeat(tracked.request.request_id), tracked.table[tracked.scanned : tracked.published])
            ends.append(len(rows))
        at = 0
        for tracked, end in zip(behind, ends, strict=True):
            stuck = False
            while at < end and not stuck:
                at, full = self._plan("plan_store", rows, at)
                if at < end:
                    skipped = 0 if full else self._moves.do_each("skip_store", self._not_to_be_stored(rows[at:end]))
                    stuck = not skipped
                    at += skipped
            tracked.scanned = tracked.published - max(end - at, 0)
            if stuck:
                at = end
            else:
                self._behind.discard(tracked.request.request_id)

    def store_what_was_kept(self) -> None:
        """What requests have published, and their store scans have not come to, when they ended."""
        rows: list[tuple[str, int, Hash]] = []
        for tracked in self.finished:
            first, last = tracked.scanned, tracked.published
            hashes = tracked.request.block_hashes
            request = tracked.request.request_id
            rows += ((request, tracked.table[place], hashes[place]) for place in range(first, last))
        self.finished.clear()
        at, full = 0, False
        while at < len(rows) and not full:
            at, full = self._plan("plan_finish_store", rows, at)
            at += 1  # one that is refused stays unstored

    def _plan(self, action: str, rows: Sequence[tuple[Any, ...]], first: int) -> tuple[int, bool]:
        """Plans stores of rows, each a request, a block and what else is asked about, from one of them on.

        Returns the first that is left, and whether for want of room, not because it is refused.
        """
        moves = self._moves
        planned = 0
        full = False

        def choose(request: str, block: int, *_: Hash) -> tuple[int, int] | None:
            nonlocal planned, full
            chunk = moves.chunks.take(ahead=planned)
            if chunk is None:
                full = True
                return None
            planned += 1
            job, moves.next_job = moves.next_job, moves.next_job + 1
            moves.jobs[job] = TransferJob(job, request, block, chunk)
            return chunk, job

        return first + moves.do_each(action, islice(rows, first, None), choose), full

    def _not_to_be_stored(self, rows: Iterable[tuple[str, int]]) -> Iterable[tuple[str, int]]:
        for row in rows:
            if self._moves.may("plan_store", row[1]):
                return
            yield row
