"""The specification of stores under a pipelined scheduler, built and checked once at import."""

from __future__ import annotations

from interlock.spec.language.build import build
from interlock.spec.language.specification import Specification
from interlock.spec.pipeline.actions import ACTIONS
from interlock.spec.pipeline.demonstrations import DEMONSTRATIONS
from interlock.spec.pipeline.lemmas import LEMMAS
from interlock.spec.pipeline.lifecycles import LIFECYCLES
from interlock.spec.pipeline.properties import PROPERTIES
from interlock.spec.pipeline.quiescence import QUIESCENCE
from interlock.spec.pipeline.rows import ROWS
from interlock.spec.pipeline.settings import EXPECTATIONS, PRESETS, SLICES
from interlock.spec.pipeline.vocabulary import CHANNELS, ENUMS, SORTS, SWITCHES, VARIABLES

SPECIFICATION = build(
    Specification(
        name="pipeline",
        sorts=SORTS,
        enums=ENUMS,
        switches=SWITCHES,
        presets=PRESETS,
        variables=VARIABLES,
        channels=CHANNELS,
        lifecycles=LIFECYCLES,
        actions=ACTIONS,
        properties=(*PROPERTIES, *LEMMAS, QUIESCENCE, *ROWS),
        slices=SLICES,
        expectations=EXPECTATIONS,
        demonstrations=DEMONSTRATIONS,
    )
)

__all__ = ["SPECIFICATION"]
