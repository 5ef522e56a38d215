"""Prompts, block hashes and contents: all functions of the tokens alone, so that runs repeat."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
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

    def __init__(self, tokens: list[int], block_size: int) -> None:
        self._tokens = tokens
        self._block_size = block_size
        self._hashes: list[str] = []

    @property
    def hashes(self) -> list[str]:
        """One per full block."""
        for i in range(len(self._hashes), len(self._tokens) // self._block_size):
            block = self._tokens[i * self._block_size : (i + 1) * self._block_size]
            before = self._hashes[-1] if self._hashes else ""
            self._hashes.append(_digest(before, block, 6))
        return self._hashes


class Contents:
    """What blocks hold once tokens are computed; not taken from block hashes, so that it can disagree."""

    def __init__(self, tokens: list[int], block_size: int) -> None:
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

    def next_token(self) -> int:
        """A greedy model: the next token is a function of all tokens, so equal prefixes agree."""
        whole = len(self._tokens) // self._block_size
        before = self._block(whole - 1) if whole else ""
        rest = self._tokens[whole * self._block_size :]
        return int(_digest(before, [*rest, -1], 4), 16) % VOCABULARY

    def _block(self, place: int) -> str:
        while len(self._full) <= place:
            i = len(self._full)
            block = self._tokens[i * self._block_size : (i + 1) * self._block_size]
            self._full.append(_digest(self._full[-1] if self._full else "kv", block, 8))
        return self._full[place]


def _digest(before: str, tokens: Iterable[int], size: int) -> str:
    digest = hashlib.blake2b(before.encode(), digest_size=size)
    digest.update(",".join(map(str, tokens)).encode())
    return digest.hexdigest()
