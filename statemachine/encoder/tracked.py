"""A request, and the visit that schedule() is in, as the machine knows them."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.statemachine.encoder.features import Placed
from interlock.statemachine.encoder.port import MultiModalFeature


@dataclass(slots=True)
class Tracked:
    """A request that has not ended.

    Args:
        key: its name in the specification: its id and the number of its arrival, so an id that comes again is
            another request.
        mm_features: as they were when it arrived; end: the first token after the last of them.
        places: by item, where it stands, in the order of the prompt.
        refused: the computed tokens, and the pool's moves, for which the last answer was no; it stays no while
            they are the same.
        held, unsettled: places whose item it has taken and not given back, and those counted as computed before
            it is settled that they are.
    """

    request_id: str
    key: str
    mm_features: tuple[MultiModalFeature, ...]
    places: dict[str, list[int]]
    end: int
    refused: tuple[int, int] | None = None
    held: set[int] = field(default_factory=set)
    unsettled: set[int] = field(default_factory=set)

    def can_encode(self, item: str) -> bool:
        """Whether an item can be encoded here wherever it stands."""
        return all(self.mm_features[place].data is not None for place in self.places[item])


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
