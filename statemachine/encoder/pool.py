"""The connector's pool: places for items, and the transfers that fill them. What may happen the specification says.

An entry that was given up keeps its place until its transfer ends: what arrives late is written where
nobody looks, and the place is free only then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from interlock.statemachine.encoder.port import Transfer
from interlock.statemachine.errors import UnknownTransfer
from interlock.statemachine.pool import ChunkPool, EvictionPolicy

_AS_A_CHUNK = {
    "absent": "absent", "in_transit": "pending", "unavailable": "pending", "ready": "ready", "pinned": "ready",
}  # fmt: skip
"""What a state of an entry is to the pool of chunks, which knows no tombstones."""


class ItemPool:
    """Cells, which item is in which, and which transfer brings it.

    Args:
        policy: which ready entry goes first.
        may_evict: whether the entry of an item may go now.
        evict: makes the entry of an item absent; the pool hears of it through :meth:`moved`.
    """

    def __init__(
        self,
        size: int,
        policy: EvictionPolicy,
        *,
        may_evict: Callable[[str], bool],
        evict: Callable[[str], None],
    ) -> None:
        self._items: dict[int, str] = {}
        self._cells: dict[str, int] = {}
        self._transfers: dict[int, str] = {}
        self._next_transfer = 0
        self._wanted: Collection[str] = ()
        self._chunks = ChunkPool(
            size,
            policy,
            hash_of=self._items.__getitem__,
            may_evict=lambda cell: self._items[cell] not in self._wanted and may_evict(self._items[cell]),
            evict=lambda cell: evict(self._items[cell]),
        )

    @property
    def moves(self) -> int:
        """How often an entry has moved: an answer holds while this is the same."""
        return self._chunks.moves

    @property
    def has_free_cell(self) -> bool:
        """Whether there is room for one more item without an eviction."""
        return bool(self._chunks.num_absent)

    def make_room(self, wanted: Collection[str]) -> int | None:
        """A cell for one more item, after an eviction if need be; ``None`` where nothing may go.

        Args:
            wanted: items that are not evicted for it: of the request that it is for, and of those that wait for longer.
        """
        self._wanted = wanted
        try:
            return self._chunks.take()
        finally:
            self._wanted = ()

    def start(self, item: str, cell: int, in_transit: Callable[[], None]) -> Transfer:
        """A transfer into the cell that :meth:`make_room` has found; ``in_transit`` moves the entry.

        Transfers count up: a report on one that has ended is never taken for one on the next.
        """
        self._items[cell], self._cells[item] = item, cell
        try:
            in_transit()
        except Exception:
            del self._items[cell], self._cells[item]
            raise
        transfer, self._next_transfer = self._next_transfer, self._next_transfer + 1
        self._transfers[transfer] = item
        return Transfer(transfer, item, cell)

    def ended(self, transfer: int) -> str:
        """The item of a transfer that has ended.

        Raises:
            UnknownTransfer: it has ended before, or there never was one.
        """
        if transfer not in self._transfers:
            raise UnknownTransfer(transfer, self._next_transfer)
        return self._transfers.pop(transfer)

    def moved(self, item: str, source: str, target: str) -> None:
        """The entry of an item has gone from one state of its lifecycle to another, or to the same by a row."""
        cell = self._cells[item]
        before, after = _AS_A_CHUNK[source], _AS_A_CHUNK[target]
        if before == after == "pending":
            self._chunks.moves += 1
        else:
            self._chunks.moved(cell, after)
        if target == "absent":
            del self._items[cell], self._cells[item]

    def cell_of(self, item: str) -> int:
        """Where an item is, or will be."""
        return self._cells[item]

    @property
    def under_way(self) -> tuple[int, ...]:
        """Transfers that have not ended, oldest first."""
        return tuple(self._transfers)
