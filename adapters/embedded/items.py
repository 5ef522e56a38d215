"""Items in prompts, such as images: where they stand, and what computing, fetching and loading them takes."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from interlock.statemachine.encoder import Transfer


class Place(NamedTuple):
    """Where an item stands in a prompt, in tokens."""

    offset: int
    length: int


class Feature(NamedTuple):
    """An item in a prompt. ``data`` is what an encoder would read; here every item can be encoded."""

    identifier: str
    mm_position: Place
    data: object = "pixels"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTiming:
    """How long items take, in seconds of virtual time per token that stands for them.

    Args:
        encode_token_s: on an encoder, here within a step or on the other side beside them.
        fetch_token_s: from the other side into the pool; items follow each other, beside steps.
        load_token_s: from the pool into the encoder cache, before the forward that reads it.

    Raises:
        ValueError: a time is not above 0.
    """

    encode_token_s: float
    fetch_token_s: float
    load_token_s: float

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it is above 0")


class OtherSide:
    """An encoder elsewhere, to which every item goes when its request arrives, and the link from it.

    Items are encoded one after the other, each once, and kept for ever. An item that is fetched before it is encoded
    comes once it is.
    """

    def __init__(self, timing: ItemTiming) -> None:
        self._timing = timing
        self._lengths: dict[str, int] = {}
        self._encoded_s: dict[str, float] = {}
        self._encoder_free_s = self._link_free_s = 0.0
        self._due: list[tuple[float, int]] = []

    def arrive(self, features: Iterable[Feature], now_s: float) -> None:
        """A request arrives, on both sides."""
        for f in features:
            if f.identifier not in self._encoded_s:
                self._lengths[f.identifier] = f.mm_position.length
                begin_s = max(now_s, self._encoder_free_s)
                self._encoder_free_s = begin_s + f.mm_position.length * self._timing.encode_token_s
                self._encoded_s[f.identifier] = self._encoder_free_s

    def fetch(self, transfers: Iterable[Transfer], now_s: float) -> None:
        """Transfers start as soon as their items are encoded and the link is free."""
        for t in transfers:
            begin_s = max(now_s, self._encoded_s[t.identifier], self._link_free_s)
            self._link_free_s = begin_s + self._lengths[t.identifier] * self._timing.fetch_token_s
            heapq.heappush(self._due, (self._link_free_s, t.transfer))

    @property
    def next_s(self) -> float | None:
        """When the next transfer ends."""
        return self._due[0][0] if self._due else None

    def take(self, now_s: float) -> tuple[int, ...]:
        """Transfers that have ended by then; they are not given again."""
        ended = []
        while self._due and self._due[0][0] <= now_s:
            ended.append(heapq.heappop(self._due)[1])
        return tuple(ended)
