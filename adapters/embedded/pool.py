"""GPU blocks: a free queue (least recently used first), reference counts, and the prefix cache.

One hash may name several blocks, as in vLLM: a fully cached, aligned prompt computes its last block
again, and nobody merges the two.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence


class BlockPool:
    """Blocks 1 to ``num_blocks``."""

    def __init__(self, num_blocks: int) -> None:
        self.num_blocks = num_blocks
        self._references = [0] * (num_blocks + 1)
        self._free: OrderedDict[int, None] = OrderedDict.fromkeys(range(1, num_blocks + 1))
        self._hash: dict[int, str] = {}
        self._blocks: dict[str, dict[int, None]] = {}

    @property
    def num_free(self) -> int:
        """Blocks in the free queue, addressable ones included."""
        return len(self._free)

    def references(self, block: int) -> int:
        """How many users a block has."""
        return self._references[block]

    def find(self, hash_: str) -> int | None:
        """The block that a prefix hit uses: the first published among those with the hash."""
        return next(iter(self._blocks.get(hash_, ())), None)

    def allocate(self, count: int) -> list[int]:
        """Blocks from the head of the free queue; they are no longer addressable."""
        if count > len(self._free):
            raise ValueError(f"{count} blocks asked for, {len(self._free)} free")
        taken = [self._free.popitem(last=False)[0] for _ in range(count)]
        for block in taken:
            self._references[block] = 1
            self._forget(block)
        return taken

    def touch(self, block_ids: Sequence[int]) -> None:
        """One more user for each."""
        for block in block_ids:
            self._free.pop(block, None)
            self._references[block] += 1

    def free_blocks(self, block_ids: Sequence[int]) -> None:
        """One user less for each; the last one puts an addressable block at the tail, another at the head."""
        for block in block_ids:
            if self._references[block] < 1:
                raise ValueError(f"block {block} is freed more often than it was taken")
            self._references[block] -= 1
            if not self._references[block]:
                self._free[block] = None
                self._free.move_to_end(block, last=block in self._hash)

    def publish(self, block: int, hash_: str) -> None:
        """Make a block addressable."""
        self._hash[block] = hash_
        self._blocks.setdefault(hash_, {})[block] = None

    def _forget(self, block: int) -> None:
        hash_ = self._hash.pop(block, None)
        if hash_ is not None:
            del self._blocks[hash_][block]
            if not self._blocks[hash_]:
                del self._blocks[hash_]
