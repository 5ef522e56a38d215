"""What a driver of the conformance suite is: something that plays a trace and says what it saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from interlock.proofs.conformance.observed import Label


@dataclass(frozen=True, slots=True)
class Seen:
    """An observed event, its arguments by the specification's parameters and under the implementation's own names."""

    event: str
    args: dict[str, str] = field(default_factory=dict)


class Inexpressible(Exception):
    """No call says what a trace asks for next, or its answer rules it out.

    Args:
        at: index of the event in the trace; reason: why, for a report.
    """

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at, self.reason = at, reason


class Refused(Exception):
    """The implementation raised; ``told`` is what had been told of the piece at hand until then."""

    def __init__(self, error: Exception, told: list[Seen]) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.told = told


class Driver(Protocol):
    """Plays traces, each on a fresh implementation."""

    def play(self, trace: Sequence[Label]) -> Iterator[list[Seen]]:
        """What is seen, piece by piece (an event, or a whole schedule()); stops where nobody asks for more.

        Raises:
            Inexpressible, Refused: see there.
        """
