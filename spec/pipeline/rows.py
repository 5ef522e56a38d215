"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.language.rows import row_witnesses
from interlock.spec.pipeline.actions import ACTIONS
from interlock.spec.pipeline.lifecycles import LIFECYCLES

ROWS = row_witnesses(LIFECYCLES, ACTIONS, in_slice="depth_two", elsewhere={
    "preempt": "depth_two_preempt", "resume_request": "depth_two_preempt", "finish_preempted": "depth_two_preempt",
    "row-stow-absent-plan-load": "depth_two_load",
    "row-stow-in-flight-acknowledge-to-in-flight": "depth_one_pair",
    "row-stow-flush-ordered-acknowledge-to-flush-ordered": "depth_one_pair",
})  # fmt: skip
