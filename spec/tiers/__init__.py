"""The specification of what a connector with two tiers holds for its requests, built and checked once at import."""

from __future__ import annotations

from interlock.spec.language.build import build
from interlock.spec.language.specification import Specification
from interlock.spec.tiers.actions import SCHEDULER_ACTIONS
from interlock.spec.tiers.demonstrations import DEMONSTRATIONS
from interlock.spec.tiers.lifecycles import LIFECYCLES
from interlock.spec.tiers.others import OTHERS
from interlock.spec.tiers.properties import PROPERTIES
from interlock.spec.tiers.quiescence import QUIESCENCE
from interlock.spec.tiers.rows import ROWS
from interlock.spec.tiers.settings import EXPECTATIONS, PRESETS, SLICES
from interlock.spec.tiers.tasks_actions import TASK, TASK_ACTIONS
from interlock.spec.tiers.tasks_others import TASK_OTHERS
from interlock.spec.tiers.tasks_properties import TASK_PROPERTIES
from interlock.spec.tiers.tasks_vocabulary import (
    TASK_CHANNELS,
    TASK_SORTS,
    TASK_SWITCHES,
    TASK_VARIABLES,
    task_states,
)
from interlock.spec.tiers.transfers import TRANSFER_ACTIONS
from interlock.spec.tiers.vocabulary import CHANNELS, ENUMS, SORTS, SWITCHES, VARIABLES

SPECIFICATION = build(
    Specification(
        name="tiers",
        sorts=(*SORTS, *TASK_SORTS),
        enums=(*ENUMS, task_states),
        switches=(*SWITCHES, *TASK_SWITCHES),
        presets=PRESETS,
        variables=(*VARIABLES, *TASK_VARIABLES),
        channels=(*CHANNELS, *TASK_CHANNELS),
        lifecycles=(*LIFECYCLES, TASK),
        actions=(*SCHEDULER_ACTIONS, *TRANSFER_ACTIONS, *TASK_ACTIONS),
        properties=(*PROPERTIES, *OTHERS, *TASK_PROPERTIES, *TASK_OTHERS, QUIESCENCE, *ROWS),
        slices=SLICES,
        expectations=EXPECTATIONS,
        demonstrations=DEMONSTRATIONS,
    )
)

__all__ = ["SPECIFICATION"]
