"""Stores: the scan of what requests have published, and what they leave behind when they end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, repeat, takewhile

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
        self.finished: list[Tracked] = []
        """Requests that have ended since the last metadata, with something left to store."""

    @property
    def room_made(self) -> tuple[int, ...]:
        """While it is the same there is no more room than there was."""
        return self._moves.room_made

    def scan(self, behind: Sequence[Tracked]) -> None:
        """Stores each published block that a cursor has not passed; a request's scan stops where there is no room.

        There it stays until there may be some, or what it has come to is not to be stored any more: or each step would
        go through all that nobody has stored.
        """
        if self._choice is not None:
            self._choice.see(behind)
        room_made = self.room_made
        behind = [t for t in behind if t.no_room_at != room_made or self._declines(t, t.tables[0], t.tables[0].scanned)]
        most = sum([t.tables[0].published - t.tables[0].scanned for t in behind])
        at, full = 0, False
        while at < len(behind):
            if not full:
                stored, full = self._moves.plan_each("plan_store", self._candidates(behind, at), most)
                at = self._are_stored(behind, at, stored)
                if at == len(behind):
                    return  # as nearly always, all are stored
            tracked = behind[at]
            (table,) = tracked.tables
            skipped = self._moves.do_each("skip_store", self._passed_over(tracked, table))
            table.scanned += skipped
            if table.scanned == table.published:
                del self._behind[tracked.request.request_id]
                at += 1
            elif full or not skipped:  # it is stuck
                if full and self._could_store(tracked, table, table.scanned):
                    tracked.no_room_at = self.room_made
                at += 1

    def _candidates(self, behind: Sequence[Tracked], first: int) -> Iterable[tuple[str, int]]:
        """What scans have not passed, from that of a request on, up to the first block that is not to be stored."""
        requests = map(behind.__getitem__, range(first, len(behind)))
        if self._choice is None:
            return chain.from_iterable(map(_to_come, requests))
        tables = ((t, t.tables[0]) for t in requests)
        places = ((t, table, place) for t, table in tables for place in range(table.scanned, table.published))
        chosen = takewhile(lambda at: not self._declines(*at), places)
        return ((t.key, table.blocks[place]) for t, table, place in chosen)

    def _are_stored(self, behind: Sequence[Tracked], at: int, stored: int) -> int:
        """Cursors pass so many blocks, from that of a request on; which of them comes to stand."""
        for here in range(at, len(behind)):
            (table,) = behind[here].tables
            left = table.published - table.scanned
            if stored < left:
                table.scanned += stored
                return here
            stored -= left
            table.scanned = table.published
            del self._behind[behind[here].request.request_id]
        return len(behind)

    def ends(self, tracked: Tracked) -> None:
        """A request has ended; one that has nothing left to store need not live on for our sake."""
        for table in tracked.tables:
            if table.scanned < table.published:
                self.finished.append(tracked)
                return

    def store_what_was_kept(self) -> None:
        """What requests have published, and their store scans have not come to, when they ended."""
        if self._choice is not None:
            self._choice.see(self.finished)
        rows: list[tuple[str, int, Key] | tuple[()]] = []
        for tracked in self.finished:
            request, hashes = tracked.key, tracked.request.block_hashes
            for group, table in zip(self._groups, tracked.tables, strict=True):
                first = table.scanned
                if first == table.published:
                    continue
                keys = group.keys(hashes, first, table.published)
                # What is declined stays in, as nothing: it ends a batch, and the policy hears of a batch at its end.
                rows += (
                    () if self._declines(tracked, table, place) else (request, table.blocks[place], keys[place - first])
                    for place in self._places(table)
                )
        self.finished.clear()
        at, full = 0, False
        while at < len(rows) and not full:
            left = takewhile(bool, map(rows.__getitem__, range(at, len(rows))))
            stored, full = self._moves.plan_each("plan_finish_store", left, len(rows) - at)
            at += stored + 1  # one that is refused stays unstored, and one that is declined

    def _places(self, table: BlockTable) -> Sequence[int]:
        """Where a table has published blocks that no scan has passed, those left out that have slid out since."""
        places = range(table.scanned, table.published)
        if not self._windowed:
            return places
        return [place for place in places if table.blocks[place] != NULL_BLOCK]

    def _declines(self, tracked: Tracked, table: BlockTable, place: int) -> bool:
        """Whether what a scan has not passed is not to be stored, by choice."""
        return self._choice is not None and self._choice.declines(tracked, table, place)

    def _could_store(self, tracked: Tracked, table: BlockTable, place: int) -> bool:
        """Whether nothing but want of room speaks against a store."""
        return self._moves.may("plan_store", table.blocks[place]) and not self._declines(tracked, table, place)

    def _passed_over(self, tracked: Tracked, table: BlockTable) -> Iterable[tuple[str, int]]:
        """Of what a scan has not passed the first blocks that may be passed over.

        Or all, where the specification says which those are: it does where it wants a reason, and want of room is none.
        """
        if self._skips_say_why and self._moves.chunks.num_absent:
            return _to_come(tracked)
        return self._not_to_be_stored(tracked, table, range(table.scanned, table.published))

    def _not_to_be_stored(
        self, tracked: Tracked, table: BlockTable, places: Iterable[int]
    ) -> Iterable[tuple[str, int]]:
        for place in places:
            if self._could_store(tracked, table, place):
                return
            yield tracked.key, table.blocks[place]


def _to_come(tracked: Tracked) -> Iterable[tuple[str, int]]:
    """What the scan of a request has not passed, made as it is drawn."""
    (table,) = tracked.tables
    first, last = table.scanned, table.published
    if last == first + 1:  # as nearly always
        return ((tracked.key, table.blocks[first]),)
    return zip(repeat(tracked.key), map(table.blocks.__getitem__, range(first, last)))
