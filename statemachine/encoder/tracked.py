"""A request, and the visit that schedule() is in, as the machine knows them."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.statemachine.encoder.features import Placed
from interlock.statemachine.encoder.port import RequestLike


@dataclass(slots=True)
class Tracked:
    """A request that has not ended.

    Args:
        key: its name in the specification: its id and the number of its arrival, so an id that comes again is
            another request.
        items: what stands in its prompt, each item once, in the order of the prompt.
        refused: the computed tokens, and the pool's moves, for which the last answer was no; it stays no while
            they are the same.
        end: the first token after its last feature.
        held, unsettled: places whose item it has taken and not given back, and those counted as computed before
            it is settled that they are.
    """

    request: RequestLike
    key: str
    items: tuple[str, ...]
    end: int
    refused: tuple[int, int] | None = None
    held: set[int] = field(default_factory=set)
    unsettled: set[int] = field(default_factory=set)

    def can_encode(self, item: str) -> bool:
        """Whether an item can be encoded here wherever it stands."""
        return all(f.data is not None for f in self.request.mm_features if f.identifier == item)


@dataclass(slots=True)
class Visit:
    """A visit that goes on.

    Args:
        found: items that the encoder cache has, and that the request has not taken yet.
        planned: items for which it was told that there is room.
        reads: the features that the step's forward reads something of; known once the request is scheduled.
        end: the first token after those that are scheduled.
    """

    tracked: Tracked
    found: set[str] = field(default_factory=set)
    planned: set[str] = field(default_factory=set)
    reads: list[Placed] = field(default_factory=list)
    end: int = 0
