"""What stays in the tier although no load reads it: the rest of hits that are being loaded, and what scans are about.

With several KV cache groups a hit is several chunks at each position of a prompt. Of what a hit needs nothing goes
while it is being loaded, also a second slot with the same, or a window that need not be loaded. And while a store scan
is at a position, what it has passed there stays until it is done with that position in every group (I-45).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from interlock.statemachine.offload.groups import BlockGroups, Key
from interlock.statemachine.offload.tracked import Tracked
from interlock.statemachine.port import Hash


class Kept:
    """Keys whose chunks make no room.

    What scans are about is known from step to step: asked is only about requests whose scan has moved since, and only
    once something has to make room.

    Attributes:
        let_go: while it is the same nothing has been let go.
    """

    def __init__(self, groups: BlockGroups) -> None:
        self._groups = groups
        self._loads: dict[str, Sequence[Key]] = {}
        self._held: Counter[Key] = Counter()
        self._moved: dict[str, Tracked] = {}
        """By their names in the ledger, requests whose scan is perhaps elsewhere than when it was last asked about."""
        self._places: dict[str, Sequence[Key]] = {}
        """Where the scan of each request was then, if at any key."""
        self._at_work: Counter[Key] = Counter()
        """The same, of all requests."""
        self._unfilled: dict[str, tuple[Tracked, Hash | None]] = {}
        """Requests with a block there that is yet to be filled, and the last hash of their prompt. Outputs bring more
        hashes, and a turn of a session takes some back, of which nobody tells us."""
        self._scanning = self._hashes_seen = False
        self.let_go = 0

    def __contains__(self, key: object) -> bool:
        if key in self._held:
            return True
        if not self._scanning:
            return False
        if self._moved or not self._hashes_seen:
            self._ask()
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

    def scans_begin(self) -> None:
        """Until they end, what the scan of any request is about is kept."""
        self._scanning, self._hashes_seen = True, False

    def scan_starts(self, tracked: Tracked) -> None:
        """A request has got its blocks."""
        self._moved[tracked.key] = tracked

    def scan_moves(self, tracked: Tracked) -> None:
        """The scan of a request has passed a block, or begins elsewhere."""
        self.let_go += 1
        self._moved[tracked.key] = tracked

    def scan_is_over(self, tracked: Tracked) -> None:
        """A request has ended."""
        self.let_go += 1
        self._moved.pop(tracked.key, None)
        self._unfilled.pop(tracked.key, None)
        _take_out(self._at_work, self._places.pop(tracked.key, ()))

    def scans_end(self) -> None:
        """Nothing is scanned any more."""
        self._scanning = False

    def _ask(self) -> None:
        """Where the scans are that have moved, or whose requests have other hashes now."""
        if not self._hashes_seen:
            self._hashes_seen = True
            others = [tracked for tracked, last in self._unfilled.values() if last != _last_hash(tracked)]
            self._moved.update((tracked.key, tracked) for tracked in others)
        for name, tracked in self._moved.items():
            _take_out(self._at_work, self._places.pop(name, ()))
            keys, filled = self._where_at(tracked)
            if keys:
                self._places[name] = keys
                self._at_work.update(keys)
            if filled:
                self._unfilled.pop(name, None)
            else:
                self._unfilled[name] = tracked, _last_hash(tracked)
        self._moved.clear()

    def _where_at(self, tracked: Tracked) -> tuple[Sequence[Key], bool]:
        """The keys at the position that a request's scan has come to, and not left: none between two of them.

        Returns them, and whether they stay the same until it moves, because all blocks there are filled.
        """
        if not any(table.blocks for table in tracked.tables):
            return (), True
        passed = [table.scanned * table.group.block_size for table in tracked.tables]
        tokens, hashes = min(passed), tracked.request.block_hashes
        if tokens and tokens == max(passed):
            return (), True
        places = [(table, tokens // table.group.block_size) for table in tracked.tables]
        return (
            [table.group.key(hashes, place) for table, place in places if place < table.group.num_keys(hashes)],
            all(place < table.published for table, place in places),
        )


def _last_hash(tracked: Tracked) -> Hash | None:
    """It names the whole prompt, as far as that has hashes."""
    hashes = tracked.request.block_hashes
    return hashes[-1] if hashes else None


def _take_out(counted: Counter[Key], keys: Iterable[Key]) -> None:
    for key in keys:
        counted[key] -= 1
        if not counted[key]:
            del counted[key]
