"""Conversations: each turn repeats everything said before it, and comes some time after the last answer."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from interlock.adapters.simulate.arrivals import Arrival, Generated, Piece
from interlock.adapters.simulate.workloads.poisson import poisson

SYSTEM = Piece("chat system prompt", 512)
TURNS = (4, 8)
MESSAGE_TOKENS = (32, 512)
ANSWER_TOKENS = (64, 384)
THINKING_S = 20.0


def arrivals(requests: int, rate: float, seed: int) -> Iterator[Arrival]:
    """Conversations begin so often that their turns arrive at ``rate``."""
    random = Random(seed)
    times = poisson(rate / (sum(TURNS) / 2), random)
    number = 0
    while number < requests:
        at_s, before = next(times), None
        for turn in range(min(random.randint(*TURNS), requests - number)):
            message = Piece(f"message {seed}/{number}", random.randint(*MESSAGE_TOKENS))
            yield Arrival(
                request=f"r{number}",
                at_s=random.expovariate(1 / THINKING_S) if turn else at_s,
                prompt=(message,) if turn else (SYSTEM, message),
                output_tokens=random.randint(*ANSWER_TOKENS),
                follows=before,
            )
            before = f"r{number}"
            number += 1


CHAT = Generated(
    name="chat",
    doc=f"conversations of {TURNS[0]} to {TURNS[1]} turns, each repeating all before it, {THINKING_S:.0f} s apart",
    requests=500,
    rate=6.0,
    make=arrivals,
)
