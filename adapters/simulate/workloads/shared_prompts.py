"""Many users of a few applications: each request has one of some system prompts and a question of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from interlock.adapters.simulate.arrivals import Arrival, Piece
from interlock.adapters.simulate.workloads.poisson import poisson


@dataclass(frozen=True, slots=True)
class SharedPrompts:
    """A :class:`Workload`. As it ships, all system prompts take half as much again as the GPU has by default."""

    has_items: ClassVar[bool] = False
    name: str = "shared-prompts"
    requests: int = 500
    rate: float = 6.0
    prompts: int = 32
    prompt_tokens: int = 3072
    question_tokens: tuple[int, int] = (64, 512)
    answer_tokens: tuple[int, int] = (32, 256)

    @property
    def doc(self) -> str:
        """One line."""
        return f"{self.prompts} system prompts of {self.prompt_tokens:,} tokens, each request with its own question"

    def arrivals(self, requests: int | None, rate: float | None, seed: int) -> Iterator[Arrival]:
        """See :class:`Workload`."""
        random = Random(seed)
        times = poisson(rate or self.rate, random)
        for number in range(requests or self.requests):
            prompt = random.randrange(self.prompts)
            yield Arrival(
                request=f"r{number}",
                at_s=next(times),
                prompt=(
                    Piece(f"system {prompt}", self.prompt_tokens),
                    Piece(f"question {seed}/{number}", random.randint(*self.question_tokens)),
                ),
                output_tokens=random.randint(*self.answer_tokens),
            )
