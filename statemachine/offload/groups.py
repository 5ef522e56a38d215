"""The KV cache groups of a model: how each cuts a request's tokens into blocks, and what a block is kept under."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from interlock.statemachine.errors import UnsupportedGroups
from interlock.statemachine.lookup import ChunkedLocal, FullAttention, LookupGroup, SlidingWindow
from interlock.statemachine.port import Hash

Key = Hash | tuple[int, Hash]
"""What a chunk holds: a prefix, and of which group if there are several. (vLLM's OffloadKey is both, always.)"""


@dataclass(frozen=True, slots=True)
class BlockGroup:
    """A group, with its blocks and their keys.

    Args:
        place: in the model's list of groups.
        kind: its attention: what a hit, or a next token, needs of it.
        block_size: tokens of a block.
        hashes_per_block: hashes of a request to one block of the group; a block is kept under the last.
        named: whether keys name the group, because there are others.
        windowed: whether blocks slide out while their request runs, and tables have null blocks.
    """

    place: int
    kind: LookupGroup
    block_size: int
    hashes_per_block: int
    named: bool
    windowed: bool

    def num_keys(self, hashes: Sequence[Hash]) -> int:
        """How many of a request's blocks have a key."""
        return len(hashes) // self.hashes_per_block

    def key(self, hashes: Sequence[Hash], place: int) -> Key:
        """The key of the block at a place."""
        found = hashes[(place + 1) * self.hashes_per_block - 1]
        return (self.place, found) if self.named else found

    def keys(self, hashes: Sequence[Hash], first: int, last: int) -> Sequence[Key]:
        """The keys of the blocks from place ``first`` to before ``last``."""
        step = self.hashes_per_block
        found = hashes[first:last] if step == 1 else hashes[first * step + step - 1 : last * step : step]
        return [(self.place, h) for h in found] if self.named else found


class BlockGroups(tuple[BlockGroup, ...]):
    """All groups of a model, in its order."""

    @classmethod
    def of(cls, kinds: Sequence[LookupGroup] | None, hash_tokens: int) -> BlockGroups:
        """The groups of these kinds; without any, one of full attention.

        Args:
            hash_tokens: tokens to one hash of a request.

        Raises:
            UnsupportedGroups: there are none, one is no group, or blocks do not end where hashes do.
        """
        if kinds is not None and not isinstance(kinds, Sequence):
            raise UnsupportedGroups(f"groups is {kinds!r}", "give a list of them, as in [FullAttention(16)]")
        kinds = (FullAttention(hash_tokens),) if kinds is None else tuple(kinds)
        if not kinds:
            raise UnsupportedGroups("groups is empty", "leave it out, or name one at least")
        for place, kind in enumerate(kinds):
            if not _is_group(kind):
                raise UnsupportedGroups(
                    f"group {place} is {kind!r}",
                    "give a FullAttention, SlidingWindow, ChunkedLocal or Mamba of whole numbers, each at least 1",
                )
            if kind.chunk_tokens % hash_tokens:
                raise UnsupportedGroups(
                    f"group {place} has blocks of {kind.chunk_tokens} tokens, and hashes are of {hash_tokens}",
                    f"make its blocks a multiple of {hash_tokens}",
                )
        return cls(
            BlockGroup(
                place,
                kind,
                kind.chunk_tokens,
                kind.chunk_tokens // hash_tokens,
                named=len(kinds) > 1,
                windowed=kind.window is not None,
            )
            for place, kind in enumerate(kinds)
        )

    @cached_property
    def windowed(self) -> bool:
        """Whether some group has null blocks in its tables."""
        return any(group.windowed for group in self)

    @cached_property
    def prefix_only(self) -> bool:
        """Whether there is one group, of full attention, with a key to each hash: hits are runs of first blocks."""
        return len(self) == 1 and not self.windowed and self[0].hashes_per_block == 1

    def aligned(self, tokens: int) -> bool:
        """Whether a block of every group ends with so many tokens."""
        return all(tokens % group.block_size == 0 for group in self)


def _is_group(kind: Any) -> bool:
    """Whether it has the sizes of a group: tokens of a chunk, and of a window unless all are seen."""
    sizes = [getattr(kind, "chunk_tokens", None), getattr(kind, "window", 0)]
    if sizes[1] is None and not isinstance(kind, SlidingWindow | ChunkedLocal):
        sizes.pop()
    return all(isinstance(size, int) and size > 0 for size in sizes)
