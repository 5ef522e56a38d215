"""When schedule() visits and whom: the phases of a step, and one visit after the other."""

from __future__ import annotations

from interlock.spec.encoder.coverage import ARRIVALS, ASK, EVERY, POOL, QUEUE, ROOM, RUNNING, TIGHT, TWICE, WITH_POOL
from interlock.spec.encoder.judging import is_queued
from interlock.spec.encoder.predicates import is_, stands
from interlock.spec.encoder.vocabulary import (
    PUTS_OFF,
    block,
    ec_transit,
    gave_up,
    i,
    kv_held,
    kv_used,
    p,
    phase,
    phases,
    r,
    request,
    room_ran_out,
    visited,
    visiting,
)
from interlock.spec.language.properties import ActionProperty
from interlock.spec.language.terms import Primed, exists, forall

_r = request.var("ry")

_VISITS = (
    "start_fetch", "defer", "stall", "resume", "go_on", "admit", "no_kv", "start_kv_load", "claim_cached",
    "use_cached", "encode", "take_external", "advance", "speculate",
)  # fmt: skip
"""What schedule() does of a request that it has come to."""

BETWEEN = ActionProperty(
    id="visits-are-between-steps",
    source="contract 6.1; pipeline depth 1",
    doc="schedule() looks for KV, visits, takes and evicts while no step is with the workers.",
    slices=EVERY,
    actions=(
        *_VISITS,
        "match_prefix",
        "drop_reference",
        "evict_entry",
        "evict_pool",
        "build_connector_meta",
    ),
    formula=phase().ne(phases["executing"]),
)

AFTER = ActionProperty(
    id="outputs-come-before-visits",
    source="contract 6.1; section 1 engine loop",
    doc="Arrivals, ends, preemptions, and what outputs report, come after an update and before the next visit.",
    slices=EVERY,
    actions=(
        "add_feature",
        "add_request",
        "loaded",
        "kv_load_fails",
        "preempt",
        "finish",
        "free_id",
        "fail_unavailable",
        "expire",
        "settle",
        "reject",
        "free_input",
        "load_reported",
        "fetch_settles",
        "fetch_breaks",
    ),
    formula=phase().eq(phases["updated"]),
)

OPENS = ActionProperty(
    id="visits-open-the-schedule",
    source="contract 6.1",
    doc="With the first visit, claim or eviction schedule() has begun: nobody arrives or ends before it is over.",
    slices=EVERY,
    actions=(
        *_VISITS,
        "evict_entry",
        "evict_pool",
    ),
    formula=Primed(body=phase().eq(phases["scheduling"])),
)

STEP_GOES_OUT = ActionProperty(
    id="the-step-is-with-the-workers",
    source="contract 6.1; pipeline depth 1",
    doc="When schedule() ends, the engine waits for the workers.",
    slices=EVERY,
    actions=("build_connector_meta",),
    formula=Primed(body=phase().eq(phases["executing"])),
)

ONE_VISIT_EACH = ActionProperty(
    id="one-visit-per-schedule",
    source="contract section 1, 6.1",
    doc="schedule() comes to a request once, and notes it.",
    slices=(*EVERY, QUEUE, ARRIVALS),
    actions=("defer", "stall", "resume", "go_on", "admit", "no_kv"),
    formula=~visited(r) & Primed(body=visited(r)),
)

NO_OVERTAKING = ActionProperty(
    id="nobody-overtakes-who-found-no-kv",
    source="contract Q7: break",
    doc="Once a visit has found no KV, this schedule() visits nobody else in the queue, and asks about nobody there.",
    slices=(*EVERY, QUEUE, ARRIVALS),
    actions=("start_fetch", "defer", "admit", "no_kv", "start_kv_load", "claim_cached"),
    formula=~room_ran_out(),
)


RUNNERS_COME_FIRST = ActionProperty(
    id="runners-are-visited-first",
    source="contract section 1, 6.1: the running loop, then the queue",
    doc="schedule() has come to every request that runs before it comes to one of the queue.",
    slices=(*EVERY, QUEUE),
    actions=("start_fetch", "defer", "stall", "admit", "no_kv", "start_kv_load", "claim_cached"),
    formula=is_queued(r) >> forall(_r, is_(_r, "running", "stalled") >> visited(_r)),
)

SCHEDULED_IS_VISITED = ActionProperty(
    id="scheduled-request-has-the-open-visit",
    source="contract 4.3, N1 to N4: items are taken in the visit that schedules the request",
    doc="When the scheduler goes on with a request, its visit is the open one: it may take its items in this step.",
    slices=(*EVERY, QUEUE, ARRIVALS),
    actions=("admit", "resume", "go_on", "claim_cached"),
    formula=Primed(body=visiting(r)),
)

VISITS_ARE_ATOMIC = ActionProperty(
    id="open-visit-is-not-interrupted",
    source="contract 6.1: schedule() is one thread",
    doc="What schedule() does for another request, or to make room in the pool, comes after the open visit has ended.",
    slices=(*EVERY, QUEUE, ARRIVALS),
    actions=("start_fetch", "defer", "stall", "no_kv", "start_kv_load", "evict_pool", "build_connector_meta"),
    formula=Primed(body=forall(_r, ~visiting(_r))),
)

FETCH_IN_VISIT = ActionProperty(
    id="fetch-belongs-to-a-visit",
    source="R-64, R-66",
    doc="The connector starts a transfer in the visit to a request that is asked, and not for what it gave up.",
    slices=WITH_POOL,
    actions=("start_fetch",),
    formula=(is_queued(r) | is_(r, "running", "stalled")) & ~visited(r) & ~gave_up(r, i),
)

QUEUE_IS_ADMITTED = ActionProperty(
    id="a-visit-to-the-queue-is-to-who-waits",
    source="contract section 1, Q5, Q7 to Q11",
    doc="Admitted, put off or turned away is a request that waits: not one that runs, loads its KV, or has ended.",
    slices=(*EVERY, QUEUE, ARRIVALS),
    actions=("claim_cached", "defer", "admit", "no_kv", "start_kv_load"),
    formula=is_queued(r),
)

RUNNERS_GO_ON = ActionProperty(
    id="who-goes-on-has-been-admitted",
    source="contract Q20, Q22, Q26",
    doc="A request goes on, is preempted, or comes to its end while it runs, put off or not.",
    slices=(*EVERY, ARRIVALS),
    actions=("resume", "go_on", "preempt", "complete"),
    formula=is_(r, "running", "stalled"),
)

PUT_OFF_WITH_KV = ActionProperty(
    id="a-stall-is-of-who-has-kv",
    source="contract Q5, Q19",
    doc="Put off with tokens computed is a request that holds KV, and neither loads it nor has ended.",
    slices=WITH_POOL,
    applies=ec_transit.is_("possible"),
    actions=("stall",),
    formula=kv_held(r) & (is_queued(r) | is_(r, "running", "stalled")),
)

KV_LOAD_IS_ITS_OWN = ActionProperty(
    id="a-kv-load-ends-for-whom-it-was",
    source="contract Q12 to Q14, Q16, Q32",
    doc="The end of a KV load, good or bad, is of a request that loads, or that has ended while it did.",
    slices=(ASK, TWICE, RUNNING, TIGHT),
    actions=("loaded", "kv_load_fails"),
    formula=is_(r, "loading", "held"),
)

ENDED_STAYS_ENDED = ActionProperty(
    id="a-failed-load-brings-nobody-back",
    source="contract Q14, Q16, Q31, Q32",
    doc="Who has ended while its KV was loaded is over with the end of that load, and does not wait again.",
    slices=(ASK, TWICE, RUNNING, TIGHT),
    actions=("loaded", "kv_load_fails"),
    formula=is_(r, "held") >> Primed(body=is_(r, "finished")),
)

FREED_HAS_ENDED = ActionProperty(
    id="an-id-is-free-once-its-request-has-ended",
    source="contract Q31, R-26",
    doc="The id of a request is free when that has ended, and no load or save of it is to come.",
    slices=(ASK, ARRIVALS),
    actions=("free_id",),
    formula=is_(r, "finished"),
)

MATCHED_ANEW = ActionProperty(
    id="who-is-put-off-is-matched-anew",
    source="contract 5(a), Q5, Q7: each visit begins with the KV match; R-06",
    doc="Who is put off, or finds no KV, keeps nothing of the KV match: what that has found may be evicted meanwhile.",
    slices=(ASK, TWICE, RUNNING, TIGHT),
    # There KV is enough for everybody.
    applies_in={ASK: PUTS_OFF, TWICE: PUTS_OFF, RUNNING: PUTS_OFF},
    actions=("defer", "no_kv"),
    formula=forall(p, ~Primed(body=stands(r, p, "matched"))),
)

TURNED_AWAY = ActionProperty(
    id="turned-away-only-for-want-of-kv",
    source="contract Q7",
    doc="allocate_slots fails only for a request without KV, and only if all of it is in use.",
    slices=(ROOM, POOL, QUEUE, TIGHT),
    actions=("no_kv",),
    formula=~kv_held(r) & kv_used().eq(block.size),
)

LOADS_SOMETHING = ActionProperty(
    id="asynchronous-load-has-tokens",
    source="R-03; contract Q8",
    doc="A request waits for a KV load only if there are tokens to load, and not once its visit is over.",
    slices=(ASK, TWICE, RUNNING, TIGHT),
    actions=("start_kv_load",),
    formula=exists(p, stands(r, p, "matched")) & ~visited(r),
)


PHASES = (BETWEEN, AFTER, OPENS, STEP_GOES_OUT, ONE_VISIT_EACH, NO_OVERTAKING)
VISITING = (
    QUEUE_IS_ADMITTED, RUNNERS_GO_ON, PUT_OFF_WITH_KV, KV_LOAD_IS_ITS_OWN, ENDED_STAYS_ENDED, FREED_HAS_ENDED,
    RUNNERS_COME_FIRST, SCHEDULED_IS_VISITED, VISITS_ARE_ATOMIC, FETCH_IN_VISIT, MATCHED_ANEW, TURNED_AWAY,
    LOADS_SOMETHING,
)  # fmt: skip
