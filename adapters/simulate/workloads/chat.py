"""Conversations: each turn repeats everything said before it, and comes some time after the last answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from interlock.adapters.simulate.arrivals import Arrival, Piece
from interlock.adapters.simulate.workloads.poisson import poisson


@dataclass(frozen=True, slots=True)
class Chat:
    """A :class:`Workload`; conversations begin so often that their turns arrive at ``rate``.

    Args:
        turns: at least and at most; so are the tokens.
        thinking_s: from an answer to the next message, on average.
    """

    has_items: ClassVar[bool] = False
    name: str = "chat"
    requests: int = 500
    rate: float = 6.0
    system_tokens: int = 512
    turns: tuple[int, int] = (4, 8)
    message_tokens: tuple[int, int] = (32, 512)
    answer_tokens: tuple[int, int] = (64, 384)
    thinking_s: float = 20.0

    @property
    def doc(self) -> str:
        """One line."""
        few, many = self.turns
        return f"conversations of {few} to {many} turns, each repeating all before it, {self.thinking_s:g} s apart"

    def arrivals(self, requests: int | None, rate: float | None, seed: int) -> Iterator[Arrival]:
        """See :class:`Workload`."""
        random = Random(seed)
        times = poisson((rate or self.rate) / (sum(self.turns) / 2), random)
        number, left = 0, requests or self.requests
        while left:
            at_s, before = next(times), None
            for turn in range(min(random.randint(*self.turns), left)):
                message = Piece(f"message {seed}/{number}", random.randint(*self.message_tokens))
                yield Arrival(
                    request=f"r{number}",
                    at_s=random.expovariate(1 / self.thinking_s) if turn else at_s,
                    prompt=(message,) if turn else (Piece("chat system prompt", self.system_tokens), message),
                    output_tokens=random.randint(*self.answer_tokens),
                    follows=before,
                )
                before = f"r{number}"
                number, left = number + 1, left - 1
