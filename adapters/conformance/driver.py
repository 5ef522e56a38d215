"""What a driver of the conformance suite is: something that plays a trace and says what it saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    """The implementation raised, as ``TYPE: message``.

    Args:
        told: what had been told of the piece at hand until then.
    """

    def __init__(self, error: str, told: list[Seen]) -> None:
        super().__init__(error)
        self.told = told


class Driver(Protocol):
    """Plays traces, each on a fresh implementation.

    Attributes:
        chooses: sorts whose elements the implementation chooses; the others are what the trace calls them.
        attempts: how often an edge is asked for in vain, before no trace asks for it again.
        length: events after which a trace is not extended.
        never: events that it cannot bring about, with the reason.
    """

    @property
    def chooses(self) -> frozenset[str]: ...

    @property
    def attempts(self) -> int: ...

    @property
    def length(self) -> int: ...

    @property
    def never(self) -> Mapping[str, str]: ...

    def play(self, trace: Sequence[Label]) -> Iterator[list[Seen]]:
        """What is seen, piece by piece (an event, or a whole schedule()); stops where nobody asks for more.

        Raises:
            Inexpressible, Refused: see there.
        """
