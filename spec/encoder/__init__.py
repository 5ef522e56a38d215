"""The specification of the encoder cache and its connector, built and checked once at import."""

from __future__ import annotations

from interlock.spec.encoder.actions import ACTIONS
from interlock.spec.encoder.demonstrations import DEMONSTRATIONS
from interlock.spec.encoder.lifecycles import LIFECYCLES
from interlock.spec.encoder.properties import PROPERTIES
from interlock.spec.encoder.quiescence import QUIESCENCE
from interlock.spec.encoder.rows import ROWS
from interlock.spec.encoder.settings import EXPECTATIONS, PRESETS, SLICES
from interlock.spec.encoder.vocabulary import CHANNELS, ENUMS, SORTS, SWITCHES, VARIABLES
from interlock.spec.language.build import build
from interlock.spec.language.specification import Specification

SPECIFICATION = build(
    Specification(
        name="encoder",
        sorts=SORTS,
        enums=ENUMS,
        switches=SWITCHES,
        presets=PRESETS,
        variables=VARIABLES,
        channels=CHANNELS,
        lifecycles=LIFECYCLES,
        actions=ACTIONS,
        properties=(*PROPERTIES, *QUIESCENCE, *ROWS),
        slices=SLICES,
        expectations=EXPECTATIONS,
        demonstrations=DEMONSTRATIONS,
    )
)

__all__ = ["SPECIFICATION"]
