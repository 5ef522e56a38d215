"""Blocks of windowed groups that go back while their request runs, of which no connector is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sys import maxsize

from interlock.statemachine.offload.groups import BlockGroups
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.tracked import Tracked
from interlock.statemachine.port import NULL_BLOCK


class Slides:
    """Gives up what has slid out of a window: as soon as the window has passed it, or when it is given away again.

    Args:
        tracked: all requests that have not ended, by id.
        nameless: gets those of which the engine has not told, as yet, that they are full: with an output they may have
            got a hash since.
        unnamed: of requests with full blocks that had no hash when last looked at, how many tokens they had then.
    """

    def __init__(
        self,
        moves: Moves,
        groups: BlockGroups,
        tracked: Mapping[str, Tracked],
        nameless: set[int],
        unnamed: Mapping[str, int],
    ) -> None:
        self._moves, self._groups, self._tracked = moves, groups, tracked
        self._nameless, self._unnamed = nameless, unnamed
        self._block_state = moves.ledger.function("block_state")

    def slide(self, looked_at: Iterable[tuple[Tracked, int]], given: Iterable[int]) -> None:
        """When a schedule begins.

        Args:
            looked_at: requests, each with how many tokens it has computed.
            given: blocks that this schedule has given away.
        """
        rows = [row for tracked, computed in looked_at for row in self._passed(tracked, computed)]
        if rows:
            self._moves.do_each("slide_out", rows)
        held = {block for block in given if self._block_state.get(block) == "used"}
        if held:
            self._give_up(held)

    def next_look(self, tracked: Tracked) -> int:
        """With how many tokens a request has computed one more than those with which a window passes a block."""
        windowed = (table for table in tracked.tables if table.group.windowed)
        gone = (table.group.kind.gone_with(table.slid) for table in windowed)
        return min((tokens + 1 for tokens in gone if tokens is not None), default=maxsize)

    def _passed(self, tracked: Tracked, computed: int) -> Iterable[tuple[str, int]]:
        """What a window has passed with so many tokens."""
        for group, table in zip(self._groups, tracked.tables, strict=True):
            if not group.windowed:
                continue
            first, last = table.slid, min(group.kind.first_kept(computed), len(table.blocks))
            for place in range(first, last):
                block, table.blocks[place] = table.blocks[place], NULL_BLOCK
                if block != NULL_BLOCK:
                    if place >= table.published:
                        self._nameless.add(block)
                    yield tracked.key, block
            table.slid = max(first, last)

    def _give_up(self, blocks: set[int]) -> None:
        """Blocks that were given away come from windows: of requests, say, that were visited and got no tokens.

        How far those have computed we cannot know better than by what they would publish next, or, where hashes come
        late, by what an output may have settled since. What is held for any other reason stays held, and the table of
        blocks says that it was given away twice.
        """
        rows = []
        for tracked in self._tracked.values():
            settled = min(self._unnamed.get(tracked.request.request_id, 0), tracked.request.num_tokens)
            for group, table in zip(self._groups, tracked.tables, strict=True):
                if group.windowed:
                    most = max((table.published + 1) * group.block_size - 1, settled)
                    last = group.kind.first_kept(most)
                    for place, block in enumerate(table.blocks[table.slid : last], table.slid):
                        if block in blocks:
                            table.blocks[place] = NULL_BLOCK
                            rows.append((tracked.key, block))
        self._moves.do_each("slide_out", rows)
