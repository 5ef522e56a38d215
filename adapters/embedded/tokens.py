"""Prompts, block hashes and contents: all functions of the tokens alone, so that runs repeat."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from functools import lru_cache

VOCABULARY = 1 << 16


@lru_cache(maxsize=4096)
def block_of(symbol: str, block_size: int) -> tuple[int, ...]:
    """The tokens of a prompt symbol; equal symbols give equal blocks."""
    digest = hashlib.shake_128(symbol.encode()).digest(2 * block_size)
    return tuple(digest[i] * 256 + digest[i + 1] for i in range(0, 2 * block_size, 2))


def prompt_of(symbols: Sequence[str], tail: int, block_size: int) -> list[int]:
    """One full block per symbol, then ``tail`` tokens that are the same for every request."""
    tokens = [t for s in symbols for t in block_of(s, block_size)]
    return tokens + list(block_of("", block_size)[:tail])


class Chain:
    """Block hashes, each over its block and the hash before; grows with the tokens."""

    __slots__ = ("_block_size", "_hashes", "_tokens")

    def __init__(self, tokens: array[int], block_size: int) -> None:
        self._tokens = tokens
        self._block_size = block_size
        self._hashes: list[str] = []

    @property
    def hashes(self) -> list[str]:
        """One per full block."""
        hashes, size = self._hashes, self._block_size
        while len(hashes) < len(self._tokens) // size:
            i = len(hashes)
            hashes.append(_digest(hashes[-1] if hashes else "", self._tokens[i * size : (i + 1) * size], 8))
        return hashes

    def next_token(self) -> int:
        """A greedy model: the next token is a function of all tokens, so equal prefixes agree."""
        hashes = self.hashes
        rest = self._tokens[len(hashes) * self._block_size :]
        return int(_digest(f"next {hashes[-1]}" if hashes else "next", rest, 4), 16) % VOCABULARY


class Contents:
    """What blocks hold once tokens are computed; not taken from block hashes, so that it can disagree."""

    __slots__ = ("_block_size", "_full", "_tokens")

    def __init__(self, tokens: array[int], block_size: int) -> None:
        self._tokens = tokens
        self._block_size = block_size
        self._full: list[str] = []

    def of(self, place: int, end: int) -> str:
        """The content of the block at ``place`` when tokens before ``end`` are computed."""
        start = place * self._block_size
        if end - start >= self._block_size:
            return self._block(place)
        before = self._block(place - 1) if place else ""
        return "part:" + _digest(before, self._tokens[start:end], 8)

    def _block(self, place: int) -> str:
        while len(self._full) <= place:
            i = len(self._full)
            block = self._tokens[i * self._block_size : (i + 1) * self._block_size]
            self._full.append(_digest(self._full[-1] if self._full else "kv", block, 8))
        return self._full[place]


def _digest(before: str, tokens: array[int], size: int) -> str:
    digest = hashlib.blake2b(before.encode(), digest_size=size)
    digest.update(tokens.tobytes())
    return digest.hexdigest()
