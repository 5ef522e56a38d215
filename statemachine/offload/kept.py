"""What stays in the tier although no load reads it: the rest of hits that are being loaded, and what scans are about.

With several KV cache groups a hit is several chunks at each position of a prompt. Of what a hit needs nothing goes
while it is being loaded, also a second slot with the same, or a window that need not be loaded. And while a store scan
is at a position, what it has passed there stays until it is done with that position in every group (I-45).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from interlock.statemachine.offload.groups import BlockGroups, Key
from interlock.statemachine.offload.tracked import Tracked


class Kept:
    """Keys whose chunks make no room."""

    def __init__(self, groups: BlockGroups) -> None:
        self._groups = groups
        self._loads: dict[str, list[Key]] = {}
        self._held: Counter[Key] = Counter()
        self._scanned: Tracked | None = None
        self._all_tracked: Iterable[Tracked] = ()
        self._others: set[Key] | None = set()
        """Where the scans of others are; ``None``: not asked about yet, as most scans need no room to be made."""
        self._at_work: set[Key] = set()

    def __contains__(self, key: object) -> bool:
        if key in self._held or key in self._at_work:
            return True
        if self._others is None:
            others = (other for other in self._all_tracked if other is not self._scanned)
            self._others = {key for other in others for key in self._where_at(other)}
        return key in self._others

    def load_planned(self, tracked: Tracked, tokens: int) -> None:
        """A hit of so many tokens is being loaded for a request."""
        keys: list[Key] = []
        for group in self._groups:
            last = min(-(-tokens // group.block_size), group.num_keys(tracked.request.block_hashes))
            keys += group.keys(tracked.request.block_hashes, group.kind.first_needed(tokens), last)
        self._loads[tracked.request.request_id] = keys
        self._held.update(keys)

    def load_ended(self, request_id: str) -> None:
        """All loads of a request have ended."""
        for key in self._loads.pop(request_id, ()):
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]

    def scan_begins(self, tracked: Tracked, all_tracked: Iterable[Tracked]) -> None:
        """The scan comes to a request; those of others stay where they are until it comes to the next."""
        self._scanned, self._all_tracked, self._others = tracked, all_tracked, None
        self.scan_goes_on(tracked)

    def scan_goes_on(self, tracked: Tracked) -> None:
        """Blocks of the request have been passed since."""
        self._at_work = set(self._where_at(tracked))

    def scan_ends(self) -> None:
        """Nothing is scanned any more."""
        self._scanned, self._all_tracked, self._others, self._at_work = None, (), set(), set()

    def _where_at(self, tracked: Tracked) -> Iterable[Key]:
        """The keys at the position that a request's scan has come to, and not left: none between two of them."""
        if not any(table.blocks for table in tracked.tables):
            return
        passed = [table.scanned * table.group.block_size for table in tracked.tables]
        tokens, hashes = min(passed), tracked.request.block_hashes
        if tokens and tokens == max(passed):
            return
        for group in self._groups:
            place = tokens // group.block_size
            if place < group.num_keys(hashes):
                yield group.key(hashes, place)
