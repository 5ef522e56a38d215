"""The states that have been seen: a hash table in arrays, filled a batch at a time.

Open addressing with linear probing. A batch claims the empty cells that it needs by writing row
numbers into them and reading back which row is there: of several rows that want one cell, or that
hold one state, exactly one wins. The same on CPU and CUDA, because of concurrent writes of whole
words some one wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from interlock.proofs.vectorised.backend import Array, Backend

EMPTY = -1
"""No key: keys have 63 bits."""
_LOAD_MAX = 0.5
_SMALLEST = 1 << 16
_LARGE = 1 << 24

MIX = (-7046029254386353131, -4658895280553007687, -7723592293110705685, -6534734903820487823)
"""Odd multipliers of good mixing: 2^64/φ, and those of splitmix64 and of murmur3."""
POSITIVE = (1 << 63) - 1


def mixed(words: Sequence[Array]) -> Array:
    """A fingerprint of 63 bits, int64 [N], of states [W, N]."""
    h = words[0] * MIX[0] + 1
    for w in words[1:]:
        h = (h ^ ((h >> 31) & 0x1FFFFFFFF)) * MIX[1] + w
    for multiplier in MIX[2:]:
        h = (h ^ ((h >> 32) & 0xFFFFFFFF)) * multiplier
    return (h ^ ((h >> 29) & 0x7FFFFFFFF)) & POSITIVE


class Visited:
    """A set of states.

    A state of one word is its own key; otherwise the key is a fingerprint, and ``collision_bound``
    says how likely one error is.

    Args:
        words: how many words a state takes.
    """

    def __init__(self, ops: Backend, words: int) -> None:
        self._ops = ops
        self.exact = words == 1
        self.count = 0
        self.table = ops.full(_SMALLEST, EMPTY)
        self._rehash: Callable[[Array], None] | None = None

    @property
    def capacity(self) -> int:
        return int(self.table.shape[0])

    @property
    def bytes(self) -> int:
        """Size of the table."""
        return self.capacity * 8

    @property
    def collision_bound(self) -> float:
        """Upper bound on the probability that two of the states shared a key: n² / 2 / 2^63."""
        return 0.0 if self.exact else min(1.0, self.count**2 / 2.0**64)

    def bytes_after(self, more: int) -> int:
        """Size of the table, while it grows too, if ``more`` states are to fit."""
        capacity = self._capacity_for(more)
        return self.bytes if capacity == self.capacity else (capacity + self.capacity) * 8

    def insert(self, words: Sequence[Array]) -> Array:
        """Add states [W, N]; the rows, int64 [M], of those that are new, each once."""
        self.reserve(int(words[0].shape[0]))
        new = self._insert(words[0] if self.exact else mixed(words))
        self.count += int(new.shape[0])
        return new

    def reserve(self, more: int) -> None:
        """Make room for so many further states."""
        capacity = self._capacity_for(more)
        if capacity != self.capacity:
            self._grow(capacity)

    def use_rehash(self, rehash: Callable[[Array], None]) -> None:
        """Let a kernel move the keys of an old table [C] into ``table`` when it grows."""
        self._rehash = rehash

    def _capacity_for(self, more: int) -> int:
        capacity = self.capacity
        if self.count + more <= capacity * _LOAD_MAX:
            return capacity
        while self.count + more > capacity * _LOAD_MAX:
            capacity *= 2
        # A small table grows by more at once, because growing moves every key.
        return capacity * 2 if capacity < _LARGE else capacity

    def _grow(self, capacity: int) -> None:
        old = self.table
        self.table = self._ops.full(capacity, EMPTY)
        if self._rehash is not None:
            self._rehash(old)
            return
        kept = self._ops.rows(old != EMPTY)
        step = max(self._ops.chunk_rows, 1 << 20)
        for start in range(0, int(kept.shape[0]), step):
            self._insert(old[kept[start : start + step]])

    def _home(self, keys: Array) -> Array:
        capacity = self.capacity
        shift = 64 - (capacity.bit_length() - 1)
        return ((keys ^ (keys >> 32)) * MIX[0] >> shift) & (capacity - 1)

    def _insert(self, keys: Array) -> Array:
        ops, table, last = self._ops, self.table, self.capacity - 1
        position = self._home(keys)
        rows: Array | None = None
        won_rows: list[Array] = []
        while True:
            here = table[position]
            open_ = ops.rows(here != keys)
            if not open_.shape[0]:
                break
            rows = open_ if rows is None else rows[open_]
            position, keys = position[open_], keys[open_]
            empty = here[open_] == EMPTY
            at_empty = ops.rows(empty)
            advance = ops.as_int64(~empty)
            if at_empty.shape[0]:
                cells = position[at_empty]
                table[cells] = at_empty
                won = ops.rows(table[cells] == at_empty)
                winners = at_empty[won]
                table[cells[won]] = keys[winners]
                won_rows.append(rows[winners])
                # Winners find their own state in the next round; losers look again at who won.
            position = (position + advance) & last
        if not won_rows:
            return ops.arange(0)
        return won_rows[0] if len(won_rows) == 1 else ops.concat(won_rows)
