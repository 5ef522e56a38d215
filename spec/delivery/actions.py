"""All actions, in the order of the stories that they tell."""

from __future__ import annotations

from interlock.spec.delivery.composite import BUFFER_ACTIONS, COMPOSITE_ACTIONS, DRAIN_ACTIONS
from interlock.spec.delivery.hand_over import HAND_OVER_ACTIONS
from interlock.spec.delivery.operations import OPERATION_ACTIONS

ACTIONS = (*OPERATION_ACTIONS, *HAND_OVER_ACTIONS, *COMPOSITE_ACTIONS, *DRAIN_ACTIONS, *BUFFER_ACTIONS)
