"""Many users of a few applications: each request has one of 32 system prompts and a question of its own."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from interlock.adapters.simulate.arrivals import Arrival, Generated, Piece
from interlock.adapters.simulate.workloads.poisson import poisson

PROMPTS = 32
PROMPT_TOKENS = 3072
QUESTION_TOKENS = (64, 512)
ANSWER_TOKENS = (32, 256)


def arrivals(requests: int, rate: float, seed: int) -> Iterator[Arrival]:
    """All system prompts together take more than the GPU's 65,536 tokens at the default sizes."""
    random = Random(seed)
    times = poisson(rate, random)
    for number in range(requests):
        prompt = random.randrange(PROMPTS)
        yield Arrival(
            request=f"r{number}",
            at_s=next(times),
            prompt=(
                Piece(f"system {prompt}", PROMPT_TOKENS),
                Piece(f"question {seed}/{number}", random.randint(*QUESTION_TOKENS)),
            ),
            output_tokens=random.randint(*ANSWER_TOKENS),
        )


SHARED_PROMPTS = Generated(
    name="shared-prompts",
    doc=f"{PROMPTS} system prompts of {PROMPT_TOKENS:,} tokens, each request with a question of its own",
    requests=500,
    rate=8.0,
    make=arrivals,
)
