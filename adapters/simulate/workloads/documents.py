"""Long documents, asked about in turn: more of them than the GPU has room for, so it has always forgotten the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from interlock.adapters.simulate.arrivals import Arrival, Piece
from interlock.adapters.simulate.workloads.poisson import poisson


@dataclass(frozen=True, slots=True)
class Documents:
    """A :class:`Workload`. Taking turns is the worst order for a cache that evicts the least recently used."""

    has_items: ClassVar[bool] = False
    name: str = "documents"
    requests: int = 200
    rate: float = 4.0
    documents: int = 48
    document_tokens: int = 4064
    question_tokens: tuple[int, int] = (16, 64)
    answer_tokens: tuple[int, int] = (16, 64)

    @property
    def doc(self) -> str:
        """One line."""
        return f"{self.documents} documents of {self.document_tokens:,} tokens, asked about in turn"

    def arrivals(self, requests: int | None, rate: float | None, seed: int) -> Iterator[Arrival]:
        """See :class:`Workload`."""
        random = Random(seed)
        times = poisson(rate or self.rate, random)
        for number in range(requests or self.requests):
            yield Arrival(
                request=f"r{number}",
                at_s=next(times),
                prompt=(
                    Piece(f"document {number % self.documents}", self.document_tokens),
                    Piece(f"question {seed}/{number}", random.randint(*self.question_tokens)),
                ),
                output_tokens=random.randint(*self.answer_tokens),
            )
