"""Many small choices from one draw: a tape of bytes, read one per choice.

Hypothesis limits how much one example may draw, and every draw costs time; an engine chooses a hundred times in an
example. Where the tape ends the choice is the first, which is the simplest, so a tape also shrinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Tape:
    """A ``choose`` of engines: ``tape(low, high)`` is one of these or between them."""

    def __init__(self, choices: bytes) -> None:
        self._choices = choices
        self._left = iter(choices)

    def __call__(self, low: int, high: int) -> int:
        return low if low == high else low + next(self._left, 0) % (high - low + 1)

    def pick(self, things: Sequence[T]) -> T:
        """One of them."""
        return things[self(0, len(things) - 1)]

    def some(self, things: Sequence[T]) -> list[T]:
        """At least one of them, mostly all, in any order."""
        left = list(things)
        count = len(left) if self(0, 2) else self(1, len(left))
        return [left.pop(self(0, len(left) - 1)) for _ in range(count)]

    def __repr__(self) -> str:
        return f"Tape({self._choices!r})"


tapes = st.binary(min_size=64, max_size=64).map(Tape)
