"""The specification of a connector's own copy of the scheduler's state, built and checked once at import."""

from __future__ import annotations

from interlock.spec.language.build import build
from interlock.spec.language.specification import Specification
from interlock.spec.mirror.actions import ACTIONS
from interlock.spec.mirror.demonstrations import DEMONSTRATIONS
from interlock.spec.mirror.lifecycles import LIFECYCLES
from interlock.spec.mirror.properties import PROPERTIES
from interlock.spec.mirror.quiescence import QUIESCENCE
from interlock.spec.mirror.rows import ROWS
from interlock.spec.mirror.settings import EXPECTATIONS, PRESETS, SLICES
from interlock.spec.mirror.vocabulary import CHANNELS, ENUMS, SORTS, SWITCHES, VARIABLES

SPECIFICATION = build(
    Specification(
        name="mirror",
        sorts=SORTS,
        enums=ENUMS,
        switches=SWITCHES,
        presets=PRESETS,
        variables=VARIABLES,
        channels=CHANNELS,
        lifecycles=LIFECYCLES,
        actions=ACTIONS,
        properties=(*PROPERTIES, QUIESCENCE, *ROWS),
        slices=SLICES,
        expectations=EXPECTATIONS,
        demonstrations=DEMONSTRATIONS,
    )
)

__all__ = ["SPECIFICATION"]
