"""Questions about images, some of which many ask about: each image is encoded, or fetched from where it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from interlock.adapters.simulate.arrivals import Arrival, Piece
from interlock.adapters.simulate.workloads.poisson import poisson


@dataclass(frozen=True, slots=True)
class Multimodal:
    """A :class:`Workload`. A question follows its images, so that the same images in the same order share their KV.

    Args:
        images: in a request, at least and at most; so are the tokens.
        popular: images that are asked about again and again; share: of images that are one of these.
    """

    has_items: ClassVar[bool] = True
    name: str = "multimodal"
    requests: int = 500
    rate: float = 4.0
    system_tokens: int = 64
    image_tokens: int = 1024
    images: tuple[int, int] = (1, 3)
    popular: int = 50
    share: float = 0.5
    question_tokens: tuple[int, int] = (16, 128)
    answer_tokens: tuple[int, int] = (32, 256)

    @property
    def doc(self) -> str:
        """One line."""
        few, many = self.images
        return (
            f"questions about {few} to {many} images of {self.image_tokens:,} tokens; "
            f"{self.share:.0%} of the images are among {self.popular} popular ones"
        )

    def arrivals(self, requests: int | None, rate: float | None, seed: int) -> Iterator[Arrival]:
        """See :class:`Workload`."""
        random = Random(seed)
        times = poisson(rate or self.rate, random)
        for number in range(requests or self.requests):
            prompt = [Piece("multimodal system prompt", self.system_tokens)]
            for place in range(random.randint(*self.images)):
                popular = random.random() < self.share
                image = f"popular {random.randrange(self.popular)}" if popular else f"{number}/{place}"
                prompt.append(Piece(f"image {seed}/{image}", self.image_tokens, is_item=True))
            prompt.append(Piece(f"question {seed}/{number}", random.randint(*self.question_tokens)))
            yield Arrival(
                request=f"r{number}",
                at_s=next(times),
                prompt=tuple(prompt),
                output_tokens=random.randint(*self.answer_tokens),
            )
