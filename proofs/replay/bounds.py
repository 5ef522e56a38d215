"""How long replay searches before it gives up; what it gave up on is inconclusive, never "no behaviour"."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields

from interlock.spec.language.specification import UnknownName


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds of one search; the names are those of ``interlock replay --bound NAME=N``.

    Args:
        candidates: states kept that fit the log; a failure after some were dropped is inconclusive.
        depth: hidden steps that wait for each other.
        tries: hidden steps tried for one event.
        choices: instances of one hidden action tried for one need, where nothing says which.
        ways: ways of explaining one event from one state that are kept.
        revisions: earlier moments tried for hidden steps that come too late otherwise.
        back: events that are taken back at most, to put a hidden step before them.
    """

    candidates: int = 32
    depth: int = 8
    tries: int = 20_000
    choices: int = 64
    ways: int = 16
    revisions: int = 64
    back: int = 256

    def met(self, name: str) -> str:
        """That a search met one of them, and how to search on."""
        return f"the search was given up at {name}={getattr(self, name)} (--bound {name}=N searches on)"

    @classmethod
    def of(cls, values: dict[str, int]) -> Bounds:
        """The usual ones with some replaced.

        Raises:
            UnknownName: there is no such bound.
        """
        names = [f.name for f in fields(cls)]
        for name in values:
            if name not in names:
                raise UnknownName("bound", name, names)
        return cls(**values)


class GaveUpError(Exception):
    """The search for hidden steps was given up: at a bound, or because its time is over."""


class OutOfTimeError(GaveUpError):
    """The time for the whole replay is over."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Time for a replay, all its searches together.

    Args:
        seconds: how long, for the message; ends: when, on the monotonic clock.
    """

    seconds: float = float("inf")
    ends: float = float("inf")

    @classmethod
    def of(cls, seconds: float) -> Budget:
        """So many seconds from now on."""
        return cls(seconds, time.monotonic() + seconds)

    def check(self) -> None:
        """Raises OutOfTimeError once the time is over."""
        if time.monotonic() > self.ends:
            raise OutOfTimeError(f"the search was given up after {self.seconds:g} s (--budget searches on)")


BOUNDS = Bounds()
