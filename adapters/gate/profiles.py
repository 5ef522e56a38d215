"""How much a profile plays. The counts decide, so that one seed gives one result; seconds only cut short."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """Args: scenarios to draw; seconds: the limit on playing them, shrinking included, imports not."""

    scenarios: int
    seconds: float


PROFILES = {
    "quick": Profile(scenarios=300, seconds=45.0),
    "full": Profile(scenarios=5_000, seconds=840.0),
}
"""The same for both engines."""
