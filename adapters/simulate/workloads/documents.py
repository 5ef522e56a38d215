"""Long documents, asked about in turn: more of them than the GPU has room for, so it has always forgotten the next."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from interlock.adapters.simulate.arrivals import Arrival, Generated, Piece
from interlock.adapters.simulate.workloads.poisson import poisson

DOCUMENTS_ASKED = 40
DOCUMENT_TOKENS = 6000
QUESTION_TOKENS = (16, 64)
ANSWER_TOKENS = (16, 64)


def arrivals(requests: int, rate: float, seed: int) -> Iterator[Arrival]:
    """Least recently used first is the worst order for this, and what every engine has."""
    random = Random(seed)
    times = poisson(rate, random)
    for number in range(requests):
        yield Arrival(
            request=f"r{number}",
            at_s=next(times),
            prompt=(
                Piece(f"document {number % DOCUMENTS_ASKED}", DOCUMENT_TOKENS),
                Piece(f"question {seed}/{number}", random.randint(*QUESTION_TOKENS)),
            ),
            output_tokens=random.randint(*ANSWER_TOKENS),
        )


DOCUMENTS = Generated(
    name="documents",
    doc=f"{DOCUMENTS_ASKED} documents of {DOCUMENT_TOKENS:,} tokens, asked about in turn",
    requests=200,
    rate=4.0,
    make=arrivals,
)
