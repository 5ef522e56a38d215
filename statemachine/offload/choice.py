"""What a connector stores of what it could: prompts only, so many blocks of a request, what is seen again.

What is declined is passed over for good: nobody is owed it.

>>> StoreLimits(sightings=0)
Traceback (most recent call last):
ValueError: sightings is 0; give a whole number of at least 1
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Set
from dataclasses import dataclass
from sys import maxsize

from interlock.statemachine.offload.groups import BlockGroup, BlockGroups, Key
from interlock.statemachine.offload.tracked import Tracked
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
    """Says which candidates are declined, and counts sightings."""

    def __init__(self, limits: StoreLimits, groups: BlockGroups) -> None:
        self._limits, self._groups = limits, groups
        self._sightings: OrderedDict[Key, int] = OrderedDict()
        """The one seen last is at the end."""

    def declined(self, requests: Iterable[Tracked]) -> Set[tuple[str, int]]:
        """What is not to be stored of what scans have not passed, as pairs of request and block.

        A request's blocks are seen, in order, when this first comes to them; not again when it returns from a
        preemption, or after a reset.
        """
        declined: set[tuple[str, int]] = set()
        for tracked in requests:
            request, hashes = tracked.key, tracked.request.block_hashes
            for group, table in zip(self._groups, tracked.tables, strict=True):
                limit = self._limit(group, tracked)
                for place in range(table.scanned, table.published):
                    block = table.blocks[place]
                    if block == NULL_BLOCK:
                        continue  # it has slid out of its window
                    new = place >= table.observed
                    if place >= limit or not self._in_demand(group.key(hashes, place), seen_now=new):
                        declined.add((request, block))
                table.observed = max(table.observed, table.published)
        return declined

    def _limit(self, group: BlockGroup, tracked: Tracked) -> int:
        """Before which place a request's blocks in a group are candidates."""
        limits = self._limits
        limit = maxsize if limits.blocks_per_request is None else limits.blocks_per_request
        return min(limit, tracked.prompt_tokens // group.block_size) if limits.prompt_only else limit

    def _in_demand(self, key: Key, *, seen_now: bool) -> bool:
        """Whether a prefix has been seen often enough, counting now."""
        if self._limits.sightings == 1:
            return True
        count = self._sightings.get(key, 0)
        if seen_now:
            count += 1
            self._sightings[key] = count
            self._sightings.move_to_end(key)
            if len(self._sightings) > self._limits.remembered:
                self._sightings.popitem(last=False)
        return count >= self._limits.sightings
