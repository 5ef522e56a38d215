"""Ghost content: what each GPU block and CPU chunk would hold, and the oracle over it.

A content is a hash of a token prefix, a partial one (a prefix that ends inside the block), or None
for nothing. It is computed here from the tokens, not taken from vLLM's block hashes, so that it can
disagree with them. Forward passes write it, stores and loads copy it.

Two points that an oracle gets wrong easily (gate-targets, head): a request may legitimately share a
block that a sibling computes in the same step, so full blocks are checked after the step's writes;
and the block that a request is in the middle of is checked before it writes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

Content = str | None


def _chain(previous: str, tokens: Iterable[int]) -> str:
    digest = hashlib.blake2b(previous.encode(), digest_size=8)
    digest.update(",".join(map(str, tokens)).encode())
    return digest.hexdigest()


class Prefix:
    """The contents that one request's tokens call for, block by block; also its greedy model."""

    def __init__(self, tokens: list[int], block_size: int, vocabulary: int) -> None:
        self._block_size = block_size
        self._vocabulary = vocabulary
        self.tokens = list(tokens)
        self._full: list[str] = []
        self._weights = ""

    def content(self, index: int, end: int) -> str:
        """What block `index` holds once tokens [0, end) are computed."""
        start = index * self._block_size
        if not start < end <= len(self.tokens):
            raise ValueError(f"block {index} holds no token of [0, {end}) of {len(self.tokens)}")
        if end - start >= self._block_size:
            return self._full_block(index)
        return "partial:" + _chain(self._before(index), self.tokens[start:end])

    def next_token(self) -> int:
        """A greedy model: the next token is a function of all tokens, so equal prefixes agree."""
        whole = len(self.tokens) // self._block_size
        tail = self.tokens[whole * self._block_size :]
        return 3 + int(_chain(self._before(whole), [*tail, -1]), 16) % (self._vocabulary - 3)

    def computed_with(self, weights: str) -> None:
        """From now on the contents are what other weights make of the tokens."""
        self._weights, self._full = weights, []

    def _before(self, index: int) -> str:
        return self._full_block(index - 1) if index else self._weights

    def _full_block(self, index: int) -> str:
        while len(self._full) <= index:
            i = len(self._full)
            block = self.tokens[i * self._block_size : (i + 1) * self._block_size]
            self._full.append(_chain(self._full[-1] if self._full else self._weights, block))
        return self._full[index]


@dataclass(frozen=True)
class Fault:
    """A reader that saw, or a store that left, other content than the prefix calls for."""

    kind: str  # "read" or "store"; "answer": what the connector says that it has
    event: int  # how many events were recorded before it
    step: int
    expected: Content
    found: Content
    block: int | None = None
    chunk: int | None = None
    request: str | None = None
    job: str | None = None

    def to_json(self) -> dict[str, Any]:
        """For the result document."""
        return {k: v for k, v in asdict(self).items() if v is not None or k == "found"}


class Ghost:
    """The contents of all blocks and chunks."""

    def __init__(self) -> None:
        self.blocks: dict[int, str] = {}
        self.chunks: dict[int, str] = {}

    def copy(self, kind: str, pairs: Iterable[tuple[int, int]]) -> None:
        """The bytes of a job move now, whatever they are."""
        for block, chunk in pairs:
            if kind == "store":
                _move(self.blocks.get(block), chunk, self.chunks)
            else:
                _move(self.chunks.get(chunk), block, self.blocks)

    def spoil(self, kind: str, pairs: Iterable[tuple[int, int]]) -> None:
        """A job has failed: nobody knows what its target holds."""
        for block, chunk in pairs:
            if kind == "store":
                self.chunks.pop(chunk, None)
            else:
                self.blocks.pop(block, None)


def _move(content: Content, to: int, where: dict[int, str]) -> None:
    if content is None:
        where.pop(to, None)
    else:
        where[to] = content
