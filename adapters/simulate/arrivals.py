"""What a workload is made of: requests with prompts in pieces, and when they arrive."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

from interlock.adapters.embedded.items import Feature, Place


class Piece(NamedTuple):
    """A run of tokens. Pieces of one name and length are the same text, or the same item, wherever they are.

    Args:
        is_item: it is no text, but what an encoder makes of an image, say.
    """

    name: str
    tokens: int
    is_item: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request.

    Args:
        at_s: when it arrives, in seconds; with ``follows``: how long after the end of that request.
        output_tokens: how long its answer is.
        follows: the request whose prompt and answer come before this one's own prompt.
    """

    request: str
    at_s: float
    prompt: tuple[Piece, ...]
    output_tokens: int
    follows: str | None = None

    def __post_init__(self) -> None:
        if not self.prompt or any(p.tokens < 1 for p in self.prompt) or self.output_tokens < 1:
            raise ValueError(f"request {self.request}: a prompt and an answer of at least one token each")


class Workload(Protocol):
    """A kind of traffic."""

    @property
    def name(self) -> str:
        """A word, or the path of a file."""

    @property
    def doc(self) -> str:
        """One line, for the report."""

    @property
    def has_items(self) -> bool:
        """Whether there are items in its prompts."""

    @property
    def requests(self) -> int | None:
        """How many, if nobody says otherwise; ``None``: as many as the file has."""

    @property
    def rate(self) -> float | None:
        """How many per second, if nobody says otherwise; ``None``: when the file says."""

    def arrivals(self, requests: int | None, rate: float | None, seed: int) -> Iterator[Arrival]:
        """Equal arguments give equal arrivals, in the order of ``at_s`` except for those that follow another."""


def features_of(prompt: Sequence[Piece], offset: int) -> tuple[Feature, ...]:
    """The items of a prompt that begins at ``offset``, in its order."""
    features = []
    for piece in prompt:
        if piece.is_item:
            features.append(Feature(piece.name, Place(offset, piece.tokens)))
        offset += piece.tokens
    return tuple(features)


def text_of(prompt: Sequence[Piece]) -> array[int]:
    """The tokens of a prompt."""
    tokens = array("I")
    for piece in prompt:
        tokens += _tokens(piece)
    return tokens


@lru_cache(maxsize=512)
def _tokens(piece: Piece) -> array[int]:
    return array("I", hashlib.shake_128(piece.name.encode()).digest(array("I").itemsize * piece.tokens))
