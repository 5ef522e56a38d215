"""The specification of admission under block pressure, built and checked once at import."""

from __future__ import annotations

from interlock.spec.admission.actions import ACTIONS
from interlock.spec.admission.demonstrations import DEMONSTRATIONS
from interlock.spec.admission.lifecycles import LIFECYCLES
from interlock.spec.admission.properties import PROPERTIES
from interlock.spec.admission.quiescence import QUIESCENCE
from interlock.spec.admission.rows import ROWS
from interlock.spec.admission.settings import EXPECTATIONS, PRESETS, SLICES
from interlock.spec.admission.vocabulary import CHANNELS, ENUMS, SORTS, SWITCHES, VARIABLES
from interlock.spec.language.build import build
from interlock.spec.language.specification import Specification

SPECIFICATION = build(
    Specification(
        name="admission",
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
