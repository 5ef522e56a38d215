"""Who has a block, of requests whose blocks may be found before they have a name here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from interlock.statemachine.offload.tracked import BlockTable, Tracked
from interlock.statemachine.port import NULL_BLOCK

_Where = tuple[Tracked, BlockTable, int]
"""A request, and a place of one of its tables."""


class Holders:
    """Of some requests, which has a block. Their tables are gone through once, when somebody asks; few ever do.

    Args:
        places: of a table of a request, where the blocks are that may be asked about.
    """

    def __init__(self, places: Callable[[Tracked, BlockTable], Sequence[int]]) -> None:
        self._places = places
        self._not_seen: dict[str, Tracked] = {}
        """Those whose tables have not been gone through since they were last put in."""
        self._seen: dict[str, list[int]] = {}
        """The blocks of the others."""
        self._where: dict[int, _Where] = {}

    def __bool__(self) -> bool:
        return bool(self._not_seen or self._seen)

    def put(self, tracked: Tracked) -> None:
        """A request is one of them, or has other blocks."""
        self._not_seen[tracked.request.request_id] = tracked

    def drop(self, tracked: Tracked) -> bool:
        """A request is none of them, any more; whether it was one."""
        name = tracked.request.request_id
        new, blocks = self._not_seen.pop(name, None), self._seen.pop(name, None)
        for block in blocks or ():
            if block in self._where and self._where[block][0] is tracked:
                del self._where[block]
        return new is not None or blocks is not None

    def of(self, block: int) -> Tracked | None:
        """The one that has a block.

        Blocks that nobody has named are of one request each; a table may have lost one since it was gone through.
        """
        while self._not_seen:
            _, tracked = self._not_seen.popitem()
            self.drop(tracked)
            self._go_through(tracked)
        if block not in self._where:
            return None
        tracked, table, place = self._where[block]
        return tracked if place < len(table.blocks) and table.blocks[place] == block else None

    def _go_through(self, tracked: Tracked) -> None:
        found = {
            table.blocks[place]: (tracked, table, place)
            for table in tracked.tables
            for place in self._places(tracked, table)
        }
        found.pop(NULL_BLOCK, None)
        self._where.update(found)
        self._seen[tracked.request.request_id] = list(found)
