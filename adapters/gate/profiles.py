"""How much a profile plays. The counts decide, so that one seed gives one result; seconds only cut short."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """Args: scenarios to draw, of module kv and of each other; seconds: the limit on playing them, shrinking included,
    imports not, and what each module beyond the first adds to it."""

    scenarios: int
    scenarios_more: int
    seconds: float
    seconds_more: float

    def seconds_of(self, modules: int) -> float:
        """The limit for so many modules."""
        return self.seconds + self.seconds_more * (modules - 1)


PROFILES = {
    "quick": Profile(scenarios=300, scenarios_more=80, seconds=90.0, seconds_more=7.5),
    "full": Profile(scenarios=5_000, scenarios_more=1_500, seconds=840.0, seconds_more=60.0),
}
"""The same for both engines."""
