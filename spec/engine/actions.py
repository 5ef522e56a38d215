"""All actions, in the order of a step: schedule(), the worker, update_from_output()."""

from __future__ import annotations

from interlock.spec.engine.scheduling import SCHEDULING
from interlock.spec.engine.updating import UPDATES
from interlock.spec.engine.working import WORKING

ACTIONS = (*SCHEDULING, *WORKING, *UPDATES)
