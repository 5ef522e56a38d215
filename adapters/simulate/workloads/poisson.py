"""When requests arrive that know nothing of each other."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random


def poisson(rate: float, random: Random) -> Iterator[float]:
    """Times in seconds, ``rate`` of them per second on average, for ever."""
    at_s = 0.0
    while True:
        at_s += random.expovariate(rate)
        yield at_s
