"""The specification of KV-cache transfer, built and checked once at import."""

from __future__ import annotations

from interlock.spec.kv.actions import ACTIONS
from interlock.spec.kv.demonstrations import DEMONSTRATIONS
from interlock.spec.kv.lifecycles import LIFECYCLES
from interlock.spec.kv.properties import PROPERTIES
from interlock.spec.kv.quiescence import QUIESCENCE
from interlock.spec.kv.rows import ROWS
from interlock.spec.kv.settings import EXPECTATIONS, PRESETS, SLICES
from interlock.spec.kv.vocabulary import CHANNELS, ENUMS, SORTS, SWITCHES, VARIABLES
from interlock.spec.language.build import build
from interlock.spec.language.specification import Specification

SPECIFICATION = build(
    Specification(
        name="kv-transfer",
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
