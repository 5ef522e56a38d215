"""What must happen: loads end, requests go on, and every call of the scheduler ends."""

from __future__ import annotations

from interlock.spec.engine.common import RECOMPUTED
from interlock.spec.engine.coverage import DECODE, LIVE, SCHEDULING_ENDS, SHARE, VICTIM_HIT
from interlock.spec.engine.judging import is_in_use
from interlock.spec.engine.predicates import is_
from interlock.spec.engine.vocabulary import (
    block,
    computed,
    loop,
    loops,
    pass_state,
    pass_states,
    place,
    redo,
    request,
    scheduled_in,
    slot,
    table,
)
from interlock.spec.language.properties import LeadsTo
from interlock.spec.language.terms import exists

_ry, _ty, _by = request.var("ry"), slot.var("ty"), block.var("by")

LOADING_ENDS = LeadsTo(
    id="loading-request-goes-on",
    aliases=("V-01",),
    source="contract V-01; B-122",
    doc="A loading request is received, or ends.",
    slices=(LIVE,),
    vars=(_ry,),
    premise=is_(_ry, "loading"),
    conclusion=is_(_ry, "received", "received_failed", "absent"),
)

FAILURE_PROGRESS = LeadsTo(
    id="failed-load-makes-progress",
    aliases=("V-09",),
    source="contract V-09, D9, R-10",
    doc="A request whose load failed runs in the end, or ends.",
    slices=(LIVE,),
    applies=RECOMPUTED,
    vars=(_ry,),
    premise=is_(_ry, "received_failed"),
    conclusion=is_(_ry, "running", "absent"),
)

HELD_RELEASED = LeadsTo(
    id="held-request-is-released",
    aliases=("V-02",),
    source="contract V-02",
    doc="A request that ended while it was loading is released.",
    slices=(LIVE,),
    vars=(_ry,),
    premise=is_(_ry, "held"),
    conclusion=is_(_ry, "absent"),
)


UPDATES_END = LeadsTo(
    id="an-update-ends",
    source="contract 6.1, V-10",
    doc="Whatever came with the output of a step, the scheduler gets through it.",
    slices=(DECODE, LIVE, SHARE),
    premise=loop().eq(loops["updating"]),
    conclusion=loop().eq(loops["between"]),
)

SCHEDULES_END = LeadsTo(
    id="a-schedule-ends",
    source="contract section 1, Q7: every visit ends, if only for want of a block",
    doc="Whatever requests there are and however few blocks, schedule() ends and its step goes out.",
    slices=SCHEDULING_ENDS,
    vars=(_ty,),
    premise=pass_state(_ty).eq(pass_states["building"]),
    conclusion=pass_state(_ty).eq(pass_states["dispatched"]),
)

REDONE = LeadsTo(
    id="a-wrong-block-that-counts-is-computed-again",
    source="seeds 001; found with this model: the request that was to compute a shared block again was aborted",
    doc="If a running request counts a block that is known to be wrong, somebody computes it again: itself in the end.",
    slices=(SHARE,),
    applies=RECOMPUTED,
    vars=(_ry, _by),
    premise=is_(_ry, "running") & table(_ry, _by) & redo(_by) & (place(_by) < computed(_ry)),
    conclusion=~(is_(_ry, "running") & table(_ry, _by) & redo(_by)),
)

WAITING_GOES_ON = LeadsTo(
    id="waiting-request-goes-on",
    aliases=("V-03",),
    source="contract V-03, Q4, Q8",
    doc="A request that waits is loaded or admitted in the end, even if its lookup is put off, or ends.",
    slices=(LIVE,),
    vars=(_ry,),
    premise=is_(_ry, "waiting"),
    conclusion=is_(_ry, "loading", "running", "absent"),
)

PROMOTED_RUNS = LeadsTo(
    id="promoted-request-runs",
    source="contract V-12, Q13, Q14",
    doc="A request that was loaded, wholly or in part, is admitted in the end, or ends.",
    slices=(LIVE,),
    vars=(_ry,),
    premise=is_(_ry, "promoted"),
    conclusion=is_(_ry, "running", "absent"),
)

RUNNING_GOES_ON = LeadsTo(
    id="running-request-is-scheduled",
    source="contract Q20, V-12",
    doc="An admitted request of which nothing is under way is scheduled in the end, if there is a block, or ends.",
    slices=(VICTIM_HIT,),
    vars=(_ry,),
    premise=is_(_ry, "running", "promoted") & exists(_by, ~is_in_use(_by)),
    conclusion=exists(_ty, scheduled_in(_ry, _ty) > 0) | ~is_(_ry, "running", "promoted"),
)

PROGRESS = (
    LOADING_ENDS, FAILURE_PROGRESS, HELD_RELEASED, UPDATES_END, SCHEDULES_END, REDONE, WAITING_GOES_ON, PROMOTED_RUNS,
    RUNNING_GOES_ON,
)  # fmt: skip
