"""The specification of a lookup over KV cache groups, built and checked once at import."""

from __future__ import annotations

from interlock.spec.language.build import build
from interlock.spec.language.specification import Specification
from interlock.spec.lookup.actions import ACTIONS
from interlock.spec.lookup.demonstrations import DEMONSTRATIONS
from interlock.spec.lookup.lifecycles import LIFECYCLES
from interlock.spec.lookup.properties import PROPERTIES
from interlock.spec.lookup.quiescence import QUIESCENCE
from interlock.spec.lookup.rows import ROWS
from interlock.spec.lookup.settings import EXPECTATIONS, PRESETS, SLICES
from interlock.spec.lookup.vocabulary import ENUMS, SORTS, SWITCHES, VARIABLES

SPECIFICATION = build(
    Specification(
        name="lookup",
        sorts=SORTS,
        enums=ENUMS,
        switches=SWITCHES,
        presets=PRESETS,
        variables=VARIABLES,
        channels=(),
        lifecycles=LIFECYCLES,
        actions=ACTIONS,
        properties=(*PROPERTIES, QUIESCENCE, *ROWS),
        slices=SLICES,
        expectations=EXPECTATIONS,
        demonstrations=DEMONSTRATIONS,
    )
)

__all__ = ["SPECIFICATION"]
