"""The specification of the scheduler's step and of load-failure recovery, built and checked once at import."""

from __future__ import annotations

from interlock.spec.engine.actions import ACTIONS
from interlock.spec.engine.contents import CONTENTS
from interlock.spec.engine.counting import COUNTS
from interlock.spec.engine.demonstrations import DEMONSTRATIONS
from interlock.spec.engine.lifecycles import LIFECYCLES
from interlock.spec.engine.others import OTHERS
from interlock.spec.engine.prefix import PREFIX
from interlock.spec.engine.progress import PROGRESS
from interlock.spec.engine.properties import PROPERTIES
from interlock.spec.engine.quiescence import QUIESCENCE
from interlock.spec.engine.records import RECORDS
from interlock.spec.engine.recovering import RECOVERY
from interlock.spec.engine.rows import ROWS
from interlock.spec.engine.settings import EXPECTATIONS, PRESETS
from interlock.spec.engine.sharing import SHARING
from interlock.spec.engine.slices import SLICES
from interlock.spec.engine.vocabulary import CHANNELS, ENUMS, SORTS, SWITCHES, VARIABLES
from interlock.spec.engine.witnesses import WITNESSES
from interlock.spec.language.build import build
from interlock.spec.language.specification import Specification

SPECIFICATION = build(
    Specification(
        name="engine",
        sorts=SORTS,
        enums=ENUMS,
        switches=SWITCHES,
        presets=PRESETS,
        variables=VARIABLES,
        channels=CHANNELS,
        lifecycles=LIFECYCLES,
        actions=ACTIONS,
        properties=(
            *PROPERTIES,
            *PROGRESS,
            *WITNESSES,
            *PREFIX,
            *CONTENTS,
            *SHARING,
            *RECORDS,
            *COUNTS,
            *RECOVERY,
            *OTHERS,
            QUIESCENCE,
            *ROWS,
        ),
        slices=SLICES,
        expectations=EXPECTATIONS,
        demonstrations=DEMONSTRATIONS,
    )
)

__all__ = ["SPECIFICATION"]
