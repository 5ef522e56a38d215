"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.language.rows import row_witnesses
from interlock.spec.lookup.actions import ACTIONS
from interlock.spec.lookup.coverage import PENDING
from interlock.spec.lookup.lifecycles import LIFECYCLES

ROWS = row_witnesses(LIFECYCLES, ACTIONS, in_slice=PENDING)
