"""What a connector stores of what it could: prompts only, so many blocks of a request, what is seen again.

What is declined is passed over for good: nobody is owed it.

>>> StoreLimits(sightings=0)
Traceback (most recent call last):
ValueError: sightings is 0; give a whole number of at least 1
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from sys import maxsize

from interlock.statemachine.offload.groups import BlockGroup, BlockGroups, Key
from interlock.statemachine.offload.tracked import BlockTable, Tracked
from interlock.statemachine.port import NULL_BLOCK


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """What is stored; the default is all.

    Args:
        prompt_only: only blocks that hold no token of an answer (vLLM: ``offload_prompt_only``). The prompt is what the
            request has when it arrives. (vLLM asks for its length with each step: a session that goes on under one id
            has a longer prompt there with each turn, and here only once it arrives as a request of its own.)
        blocks_per_request: only the first so many blocks of each request, in each KV cache group; ``None``: all.
        sightings: how many requests have to come to a prefix before it is stored, for the last of them (vLLM:
            ``store_threshold``). Each counts once for each block that could be stored for it, whatever lookups find.
        remembered: of how many prefixes sightings are counted; the one not seen for longest is forgotten. If it is
            fewer than the blocks that come between two requests with the same prompt, nothing is ever seen again.

    Raises:
        ValueError: a number is none, or less than 1.
    """

    prompt_only: bool = False
    blocks_per_request: int | None = None
    sightings: int = 1
    remembered: int = 65536

    def __post_init__(self) -> None:
        numbers = {"sightings": self.sightings, "remembered": self.remembered}
        if self.blocks_per_request is not None:
            numbers["blocks_per_request"] = self.blocks_per_request
        for name, number in numbers.items():
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise ValueError(f"{name} is {number!r}; give a whole number of at least 1")
        if not isinstance(self.prompt_only, bool):
            raise ValueError(f"prompt_only is {self.prompt_only!r}; give True or False")

    @property
    def decline_some(self) -> bool:
        """Whether anything is ever declined."""
        return self.prompt_only or self.blocks_per_request is not None or self.sightings > 1


EVERYTHING = StoreLimits()


class StoreChoice:
    """Says which candidates are declined, and counts sightings.

    A scan's requests are seen one after the other, and each is judged by what had been seen when it was its turn. Only
    what is new is looked at for that; the rest is judged when somebody asks, as of that turn.
    """

    def __init__(self, limits: StoreLimits, groups: BlockGroups) -> None:
        self._limits, self._groups = limits, groups
        self._sightings: OrderedDict[Key, int] = OrderedDict()
        """The one seen last is at the end."""
        self._turns: dict[tuple[str, int], int] = {}
        """Of each request and group that was seen last, how many counts had changed before."""
        self._seen: dict[tuple[str, int, int], bool] = {}
        """Of those, the places that were new, and whether each is in demand."""
        self._changes: dict[Key, list[tuple[int, int]]] = {}
        """Of the counts that have changed since: the number of the change, and the count before it."""
        self._num_changes = 0

    def see(self, requests: Iterable[Tracked]) -> None:
        """A scan comes to requests; :meth:`declines` is asked about these, until it is told of others.

        A request's blocks are seen, in order, when this first comes to them; not again when it returns from a
        preemption, or after a reset.
        """
        if self._limits.sightings == 1:
            return
        self._turns.clear()
        self._seen.clear()
        self._changes.clear()
        self._num_changes = 0
        for tracked in requests:
            request, hashes = tracked.key, tracked.request.block_hashes
            for group, table in zip(self._groups, tracked.tables, strict=True):
                self._turns[request, group.place] = self._num_changes
                last = min(self._limit(group, tracked), table.published)
                for place in range(max(table.scanned, table.observed), last):
                    if table.blocks[place] != NULL_BLOCK:  # else it has slid out of its window
                        self._seen[request, group.place, place] = self._is_seen(group.key(hashes, place))
                table.observed = max(table.observed, table.published)

    def declines(self, tracked: Tracked, table: BlockTable, place: int) -> bool:
        """Whether a block of a request, which no scan has passed and which has not slid out, is not to be stored."""
        group = table.group
        if place >= self._limit(group, tracked):
            return True
        if self._limits.sightings == 1:
            return False
        in_demand = self._seen.get((tracked.key, group.place, place))
        if in_demand is None:
            turn = self._turns[tracked.key, group.place]
            in_demand = self._in_demand(group.key(tracked.request.block_hashes, place), turn)
        return not in_demand

    def _limit(self, group: BlockGroup, tracked: Tracked) -> int:
        """Before which place a request's blocks in a group are candidates."""
        limits = self._limits
        limit = maxsize if limits.blocks_per_request is None else limits.blocks_per_request
        return min(limit, tracked.prompt_tokens // group.block_size) if limits.prompt_only else limit

    def _is_seen(self, key: Key) -> bool:
        """Whether a prefix has been seen often enough, counting now."""
        count = self._sightings.get(key, 0)
        self._change(key, count)
        self._sightings[key] = count + 1
        self._sightings.move_to_end(key)
        if len(self._sightings) > self._limits.remembered:
            self._change(*self._sightings.popitem(last=False))
        return count + 1 >= self._limits.sightings

    def _change(self, key: Key, count: int) -> None:
        self._changes.setdefault(key, []).append((self._num_changes, count))
        self._num_changes += 1

    def _in_demand(self, key: Key, turn: int) -> bool:
        """Whether a prefix had been seen often enough when so many counts had changed."""
        changes = self._changes.get(key, ())
        later = bisect_left(changes, (turn,))
        count = changes[later][1] if later < len(changes) else self._sightings.get(key, 0)
        return count >= self._limits.sightings
