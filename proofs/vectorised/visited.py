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


def mixed(words: Sequence[Array], seed: int) -> Array:
    """A fingerprint of 63 bits, int64 [N], of states [W, N]; two seeds give independent ones."""
    h = words[0] * MIX[seed] + (seed + 1)
    for w in words[1:]:
        h = (h ^ ((h >> 31) & 0x1FFFFFFFF)) * MIX[1 - seed] + w
    for multiplier in MIX[2:]:
        h = (h ^ ((h >> 32) & 0xFFFFFFFF)) * multiplier
    return (h ^ ((h >> 29) & 0x7FFFFFFFF)) & POSITIVE


class Visited:
    """A set of states.

    Args:
        words: how many words a state takes.
        key_words: 1 or 2 words of key per state. A state that fits is its own key; otherwise the
            key is a fingerprint, and ``collision_bound`` says how likely one error is.
    """

    def __init__(self, ops: Backend, words: int, key_words: int = 1, capacity: int = _SMALLEST) -> None:
        self._ops = ops
        self._columns = min(words, key_words)
        self.exact = words <= key_words
        self.count = 0
        self.table = self._empty(capacity)
        self._rehash: Callable[[Array], None] | None = None

    @property
    def capacity(self) -> int:
        return int(self.table[0].shape[0])

    @property
    def bytes(self) -> int:
        """Size of the table."""
        return self.capacity * self._columns * 8

    @property
    def collision_bound(self) -> float:
        """Upper bound on the probability that two of the states shared a key: n² / 2 / 2^(key bits)."""
        return 0.0 if self.exact else min(1.0, self.count**2 / 2.0 ** (63 * self._columns + 1))

    def bytes_after(self, more: int) -> int:
        """Size of the table, while it grows too, if ``more`` states are to fit."""
        capacity = self._capacity_for(more)
        return self.bytes if capacity == self.capacity else (capacity + self.capacity) * self._columns * 8

    def insert(self, words: Sequence[Array]) -> Array:
        """Add states [W, N]; the rows, int64 [M], of those that are new, each once."""
        self.reserve(int(words[0].shape[0]))
        new = self._insert(self._keys(words))
        self.count += int(new.shape[0])
        return new

    def reserve(self, more: int) -> None:
        """Make room for so many further states."""
        capacity = self._capacity_for(more)
        if capacity != self.capacity:
            self._grow(capacity)

    def use_rehash(self, rehash: Callable[[Array], None]) -> None:
        """Let a kernel move the keys of an old table [C] into ``table`` when it grows; one key word only."""
        self._rehash = rehash

    def _keys(self, words: Sequence[Array]) -> list[Array]:
        if self.exact:
            return list(words)
        return [mixed(words, seed) for seed in range(self._columns)]

    def _capacity_for(self, more: int) -> int:
        capacity = self.capacity
        if self.count + more <= capacity * _LOAD_MAX:
            return capacity
        while self.count + more > capacity * _LOAD_MAX:
            capacity *= 2
        # A small table grows by more at once, because growing moves every key.
        return capacity * 2 if capacity < _LARGE else capacity

    def _empty(self, capacity: int) -> list[Array]:
        return [self._ops.full(capacity, EMPTY) for _ in range(self._columns)]

    def _grow(self, capacity: int) -> None:
        old = self.table
        self.table = self._empty(capacity)
        if self._rehash is not None:
            self._rehash(old[0])
            return
        kept = self._ops.rows(old[0] != EMPTY)
        step = max(self._ops.chunk_rows, 1 << 20)
        for start in range(0, int(kept.shape[0]), step):
            rows = kept[start : start + step]
            self._insert([column[rows] for column in old])

    def _home(self, keys: list[Array]) -> Array:
        capacity = self.capacity
        shift = 64 - (capacity.bit_length() - 1)
        x = keys[0]
        h = (x ^ (x >> 32)) * MIX[0]
        if len(keys) > 1:
            h = (h ^ ((h >> 32) & 0xFFFFFFFF)) + keys[1] * MIX[1]
            h = (h ^ ((h >> 32) & 0xFFFFFFFF)) * MIX[2]
        return (h >> shift) & (capacity - 1)

    def _insert(self, keys: list[Array]) -> Array:
        ops, table, last = self._ops, self.table, self.capacity - 1
        first = table[0]
        position = self._home(keys)
        rows: Array | None = None
        won_rows: list[Array] = []
        while True:
            here = first[position]
            differs = here != keys[0]
            for column, key in zip(table[1:], keys[1:], strict=True):
                differs |= column[position] != key
            open_ = ops.rows(differs)
            if not open_.shape[0]:
                break
            rows = open_ if rows is None else rows[open_]
            position, keys = position[open_], [key[open_] for key in keys]
            empty = here[open_] == EMPTY
            at_empty = ops.rows(empty)
            advance = ops.as_int64(~empty)
            if at_empty.shape[0]:
                cells = position[at_empty]
                first[cells] = at_empty
                won = ops.rows(first[cells] == at_empty)
                winners = at_empty[won]
                cells = cells[won]
                for column, key in zip(table, keys, strict=True):
                    column[cells] = key[winners]
                won_rows.append(rows[winners])
                # Winners find their own state in the next round; losers look again at who won.
            position = (position + advance) & last
        if not won_rows:
            return ops.arange(0)
        return won_rows[0] if len(won_rows) == 1 else ops.concat(won_rows)
