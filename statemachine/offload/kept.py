"""What stays in the tier although no load reads it: the rest of hits that are being loaded, and what scans are about.

With several KV cache groups a hit is several chunks at each position of a prompt. Of what a hit needs nothing goes
while it is being loaded, also a second slot with the same, or a window that need not be loaded. And while a store scan
is at a position, what it has passed there stays until it is done with that position in every group (I-45).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from interlock.statemachine.offload.groups import BlockGroups, Key
from interlock.statemachine.offload.tracked import Tracked


class Kept:
    """Keys whose chunks make no room.

    Attributes:
        let_go: while it is the same nothing has been let go.
    """

    def __init__(self, groups: BlockGroups) -> None:
        self._groups = groups
        self._loads: dict[str, Sequence[Key]] = {}
        self._held: Counter[Key] = Counter()
        self._all_tracked: Iterable[Tracked] = ()
        self._places: dict[str, Sequence[Key]] | None = {}
        """Where the scan of each request is; ``None``: not asked about yet, as most scans need no room to be made."""
        self._at_work: Counter[Key] = Counter()
        """The same, of all requests."""
        self.let_go = 0

    def __contains__(self, key: object) -> bool:
        if key in self._held:
            return True
        if self._places is None:
            self._places = {tracked.key: self._where_at(tracked) for tracked in self._all_tracked}
            self._at_work.update(chain.from_iterable(self._places.values()))
        return key in self._at_work

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
        self.let_go += 1
        _take_out(self._held, self._loads.pop(request_id, ()))

    def scan_begins(self, all_tracked: Iterable[Tracked]) -> None:
        """Until it ends, what the scan of any request is about is kept."""
        self._all_tracked, self._places = all_tracked, None

    def scan_moves(self, tracked: Tracked) -> None:
        """The scan of a request has passed a block, or begins elsewhere, or the request has ended."""
        self.let_go += 1
        if self._places:
            _take_out(self._at_work, self._places[tracked.key])
            self._places[tracked.key] = keys = self._where_at(tracked)
            self._at_work.update(keys)

    def scan_ends(self) -> None:
        """Nothing is scanned any more."""
        self._all_tracked, self._places = (), {}
        self._at_work.clear()

    def _where_at(self, tracked: Tracked) -> Sequence[Key]:
        """The keys at the position that a request's scan has come to, and not left: none between two of them."""
        if not any(table.blocks for table in tracked.tables):
            return ()
        passed = [table.scanned * table.group.block_size for table in tracked.tables]
        tokens, hashes = min(passed), tracked.request.block_hashes
        if tokens and tokens == max(passed):
            return ()
        places = [(group, tokens // group.block_size) for group in self._groups]
        return [group.key(hashes, place) for group, place in places if place < group.num_keys(hashes)]


def _take_out(counted: Counter[Key], keys: Iterable[Key]) -> None:
    for key in keys:
        counted[key] -= 1
        if not counted[key]:
            del counted[key]
