"""What a hit needs of a KV cache group, by its kind of attention.

A group's prompt is cut into chunks of ``chunk_tokens``, numbered from 0. A hit of ``tokens`` that a group
accepts needs its chunks from ``first_needed(tokens)`` up to the one with the hit's last token.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Answer(Enum):
    """What a tier says of one chunk of a group."""

    MISS = "miss"
    PENDING = "pending"
    """HIT_PENDING: it is being stored, or promoted from a further tier. Ask later."""
    RETRY = "retry"
    """Whether a further tier has it is being found out. Ask later, but not for ever: see ``Tier``."""
    HIT = "hit"


class LookupGroup(Protocol):
    """A group, as far as lookups are concerned."""

    @property
    def chunk_tokens(self) -> int:
        """Tokens of a chunk."""

    @property
    def window(self) -> int | None:
        """How many tokens a hit needs at most; ``None``: all (full attention)."""

    def fits(self, tokens: int) -> int:
        """The longest hit of at most so many tokens with which a hit of this group may end."""

    def first_needed(self, tokens: int) -> int:
        """The first chunk that a hit of so many tokens needs."""

    def first_kept(self, tokens: int) -> int:
        """The first chunk that a request needs that has computed so many tokens and goes on."""

    def gone_with(self, chunk: int) -> int | None:
        """The fewest computed tokens with which no chunk up to this one is kept; ``None``: it stays for good."""


@dataclass(frozen=True, slots=True)
class FullAttention:
    """Every token sees all before it."""

    chunk_tokens: int
    window: None = None

    def fits(self, tokens: int) -> int:
        """Any."""
        return tokens

    def first_needed(self, tokens: int) -> int:
        """All are needed."""
        return 0

    def first_kept(self, tokens: int) -> int:
        """All are kept."""
        return 0

    def gone_with(self, chunk: int) -> None:
        """Never."""


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """A token sees the ``window`` tokens before it."""

    chunk_tokens: int
    window: int

    def fits(self, tokens: int) -> int:
        """Any."""
        return tokens

    def first_needed(self, tokens: int) -> int:
        """The chunk with the first token of the last window."""
        return max(0, tokens - self.window) // self.chunk_tokens

    def first_kept(self, tokens: int) -> int:
        """The next token sees what a hit needs."""
        return self.first_needed(tokens)

    def gone_with(self, chunk: int) -> int:
        """The window begins with the next chunk."""
        return (chunk + 1) * self.chunk_tokens + self.window


@dataclass(frozen=True, slots=True)
class ChunkedLocal:
    """A token sees its own stretch of ``window`` tokens, up to itself.

    A hit that ends with a stretch would need nothing; it needs that stretch here, as a shorter hit in it does.
    """

    chunk_tokens: int
    window: int

    def fits(self, tokens: int) -> int:
        """Any."""
        return tokens

    def first_needed(self, tokens: int) -> int:
        """The chunk with the start of the stretch of the last token."""
        return max(0, tokens - 1) // self.window * self.window // self.chunk_tokens

    def first_kept(self, tokens: int) -> int:
        """The chunk with the start of the stretch of the next token."""
        return tokens // self.window * self.window // self.chunk_tokens

    def gone_with(self, chunk: int) -> int:
        """The first stretch begins that lies behind the chunk."""
        return -(-(chunk + 1) * self.chunk_tokens // self.window) * self.window


@dataclass(frozen=True, slots=True)
class Mamba:
    """A state per chunk: what was computed up to its end. A hit ends where a state does, and needs that one."""

    chunk_tokens: int

    @property
    def window(self) -> int:
        """One chunk."""
        return self.chunk_tokens

    def fits(self, tokens: int) -> int:
        """Up to the end of a chunk."""
        return tokens // self.chunk_tokens * self.chunk_tokens

    def first_needed(self, tokens: int) -> int:
        """The last chunk."""
        return max(0, tokens - 1) // self.chunk_tokens

    def first_kept(self, tokens: int) -> int:
        """The last chunk: the next token goes on from its state."""
        return self.first_needed(tokens)

    def gone_with(self, chunk: int) -> int:
        """A token behind the chunk."""
        return (chunk + 1) * self.chunk_tokens + 1


Tier = Callable[[int, int], Answer]
"""``tier(group, chunk)``: what is known of a chunk; groups by their place in the model's list.

Of one chunk it answers RETRY for a bounded time, and MISS from then on (`check_deadline`): searches have no clock.
"""
