"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.language.rows import row_witnesses
from interlock.spec.lookup.actions import ACTIONS
from interlock.spec.lookup.coverage import CHECKS, PENDING
from interlock.spec.lookup.lifecycles import LIFECYCLES

_FURTHER_TIER = ("check_begun", "check_found", "check_missed", "check_expired", "promotion_evicts")

ROWS = row_witnesses(LIFECYCLES, ACTIONS, in_slice=PENDING, elsewhere=dict.fromkeys(_FURTHER_TIER, CHECKS))
