"""Publicly reported failures of lookups, each as a setting under which a property has a counterexample."""

from __future__ import annotations

from interlock.spec.language.settings import Demonstration
from interlock.spec.lookup.coverage import CHECKS

DEMONSTRATIONS = (
    Demonstration(
        failure="B-030",
        set={"promotion_room": "evicts_any"},
        slice=CHECKS,
        property="found-hit-is-ready-in-every-group",
        story=(
            "The tier is full. A lookup counts a chunk of one group; a chunk of another group is in the further tier, "
            "and its promotion, in the same lookup, evicts the first one. The hit that is answered does not need what "
            "was promoted, so nothing is waited for, and not all of it is there when its load is prepared."
        ),
    ),
)
