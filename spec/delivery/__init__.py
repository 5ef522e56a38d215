"""The specification of delivery between engines and between connectors, built and checked once at import."""

from __future__ import annotations

from interlock.spec.delivery.actions import ACTIONS
from interlock.spec.delivery.demonstrations import DEMONSTRATIONS
from interlock.spec.delivery.lifecycles import LIFECYCLES
from interlock.spec.delivery.properties import PROPERTIES
from interlock.spec.delivery.quiescence import QUIESCENCE
from interlock.spec.delivery.rows import ROWS
from interlock.spec.delivery.settings import EXPECTATIONS, PRESETS, SLICES
from interlock.spec.delivery.vocabulary import CHANNELS, ENUMS, SORTS, SWITCHES, VARIABLES
from interlock.spec.language.build import build
from interlock.spec.language.specification import Specification

SPECIFICATION = build(
    Specification(
        name="delivery",
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
