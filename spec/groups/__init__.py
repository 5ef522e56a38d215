"""The specification of KV cache groups in offloading, built and checked once at import."""

from __future__ import annotations

from interlock.spec.groups.actions import ACTIONS
from interlock.spec.groups.demonstrations import DEMONSTRATIONS
from interlock.spec.groups.lifecycles import LIFECYCLES
from interlock.spec.groups.others import OTHERS
from interlock.spec.groups.quiescence import QUIESCENCE
from interlock.spec.groups.rows import ROWS
from interlock.spec.groups.settings import EXPECTATIONS, PRESETS, SLICES
from interlock.spec.groups.source_properties import PROPERTIES
from interlock.spec.groups.sources import SOURCE_ACTIONS
from interlock.spec.groups.vocabulary import CHANNELS, ENUMS, SORTS, SWITCHES, VARIABLES
from interlock.spec.language.build import build
from interlock.spec.language.specification import Specification

SPECIFICATION = build(
    Specification(
        name="groups",
        sorts=SORTS,
        enums=ENUMS,
        switches=SWITCHES,
        presets=PRESETS,
        variables=VARIABLES,
        channels=CHANNELS,
        lifecycles=LIFECYCLES,
        actions=(*ACTIONS, *SOURCE_ACTIONS),
        properties=(*PROPERTIES, *OTHERS, *QUIESCENCE, *ROWS),
        slices=SLICES,
        expectations=EXPECTATIONS,
        demonstrations=DEMONSTRATIONS,
    )
)

__all__ = ["SPECIFICATION"]
