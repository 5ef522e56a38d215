"""What the scheduler keeps in its books between visits, of blocks, jobs and finishes; scans have scans.py.

Our own books: a connector may keep others, so the gate does not judge by these.
"""

from __future__ import annotations

from interlock.spec.kv.coverage import (
    BROKEN,
    BUSY,
    DEDUP,
    EVERY,
    FINISH,
    FINISH_TWICE,
    IDLE,
    LAZY,
    LOAD,
    LOAD_ACK,
    PARTIAL,
    RESET,
    RESET_LOAD,
    STORE,
    THREE,
    TINY,
    WINDOWED,
    WITH_LOADS,
    WITH_RESETS,
    WITH_REST,
)
from interlock.spec.kv.judging import (
    flushes_ever,
    live_load,
    live_store,
    no_block_is_used,
    open_store,
    stale,
    stale_load,
    stores_outlive_no_hash,
    tier_refuses,
    under_way,
)
from interlock.spec.kv.predicates import pins
from interlock.spec.kv.scans import CURSORS, SCANS
from interlock.spec.kv.vocabulary import (
    b,
    block_hash,
    c,
    chunk_hash,
    cpu_value,
    done,
    due,
    due_value,
    expects,
    failure_seen,
    fresh,
    gpu_value,
    h,
    h2,
    hashed,
    holds,
    j,
    j2,
    job_block,
    job_chunk,
    job_loads,
    job_state,
    job_states,
    kept,
    kv_reset,
    load_value,
    must_flush,
    pending_count,
    phase,
    phases,
    r,
    reads_current,
    request_state,
    request_states,
    undone,
    w,
)
from interlock.spec.language.properties import ActionProperty, Invariant, LeadsTo
from interlock.spec.language.terms import Primed, exists, forall
from interlock.spec.shared.frames import unchanged

VISITS_ARE_IN_SCHEDULE = ActionProperty(
    id="visits-belong-to-one-schedule",
    policy=True,
    source="R-22, R-23; contract section 1 engine loop",
    doc=(
        "Whatever schedule() decides for a request goes with the metadata of that same schedule(): afterwards the "
        "engine is inside it, so no report is heard, no request ends and no cache is reset before that metadata."
    ),
    slices=EVERY,
    actions=(
        "hit", "allocate", "publish", "publish_loaded", "plan_store", "plan_finish_store", "plan_lazy_store",
        "skip_store", "plan_load", "look_up_anew",
        "order_flush", "order_flush_of_load",
    ),
    formula=Primed(body=phase().eq(phases["scheduling"])),
)  # fmt: skip

DECIDED_BETWEEN_STEPS = ActionProperty(
    id="requests-change-between-steps",
    policy=True,
    source="R-22; contract section 1 engine loop, pipeline depth 1",
    doc="While a step is with the workers no request arrives, is visited, loses its blocks or ends.",
    slices=EVERY,
    actions=(
        "add_request", "hit", "allocate", "publish", "publish_loaded", "plan_store", "plan_finish_store",
        "plan_lazy_store", "skip_store", "plan_load", "look_up_anew", "preempt", "finish", "reset_cache", "evict",
    ),
    formula=phase().ne(phases["executing"]),
)  # fmt: skip

ARRIVAL_WAKES = ActionProperty(
    id="an-arrival-wakes-the-engine",
    policy=True,
    source="contract Q1, R-58",
    doc="An engine at rest hears reports again once a request has arrived; one that does not rest goes on as it was.",
    slices=WITH_REST,
    actions=("add_request",),
    formula=Primed(body=phase().eq(phases["updated"])) | phase().eq(phases["scheduling"]),
)

HIT_IS_FOUND = ActionProperty(
    id="a-hit-is-addressable-and-new",
    policy=True,
    source="contract G2, R-07",
    doc="What a request takes from the prefix cache can be found there, and is not in its table already.",
    slices=(TINY, DEDUP, STORE, FINISH),
    actions=("hit",),
    formula=hashed(b) & ~holds(r, b),
)

READS_WHAT_IT_SAVES = Invariant(
    id="store-of-this-allocation-saves-its-hash",
    policy=True,
    source="contract J4, G3, I-27",
    doc="While the source of a store is in the allocation that it was planned in, it is addressed by what is stored.",
    slices=EVERY,
    applies=stores_outlive_no_hash(),
    formula=forall(
        j,
        (live_store(j) & reads_current(j))
        >> (hashed(job_block(j)) & block_hash(job_block(j)).eq(chunk_hash(job_chunk(j)))),
    ),
    premise=exists(j, live_store(j) & reads_current(j)),
)

FRESH_IS_DUE = Invariant(
    id="fresh-blocks-are-computed-or-loaded",
    policy=True,
    source="contract G1, Q8",
    doc="What is allocated in this schedule() is written by this step's forward, unless a load fills it.",
    slices=(TINY, FINISH, PARTIAL, RESET, LOAD),
    formula=forall(b, fresh(b) >> due(b).eq(~exists(h, load_value(b, h)))),
    premise=exists(b, fresh(b)),
)


NOTED_AT_FINISH = Invariant(
    id="what-a-finish-leaves-holds-its-prefix",
    policy=True,
    source="contract J1, J5, R-28, R-62",
    doc=(
        "What a request that has just finished may still have stored holds that prefix on every worker, until the "
        "next metadata; a reset that succeeds takes it off the list."
    ),
    slices=(TINY, FINISH, RESET),
    formula=forall(
        r, b, h, w,
        kept(r, b, h) >> (request_state(r).eq(request_states["finished"]) & gpu_value(w, b, h)),
    ),
    premise=exists(r, b, h, kept(r, b, h)),
)  # fmt: skip

GONE_LEFT_NO_RECORD = Invariant(
    id="jobs-that-are-gone-leave-no-record",
    policy=True,
    source="contract J11: the job is deleted; I-58",
    doc="Of a job that is no more the scheduler remembers neither kind, nor failure, nor a flush to order.",
    slices=EVERY,
    formula=forall(
        j,
        job_state(j).eq(job_states["absent"])
        >> (~job_loads(j) & ~failure_seen(j) & ~must_flush(j) & ~reads_current(j) & pending_count(j).eq(0)),
    ),
    premise=exists(j, job_state(j).eq(job_states["absent"])),
)  # fmt: skip

GONE_HAS_FINISHED = ActionProperty(
    id="a-request-goes-once-it-has-finished",
    source="contract I-11, R-26, R-50; V-14",
    doc="The metadata ends the life of requests that have finished and of no others, preempted or waiting.",
    slices=EVERY,
    actions=("build_connector_meta",),
    formula=forall(r, request_state(r).ne(request_states["finished"]) >> unchanged(request_state(r))),
)  # fmt: skip

LOADED_WAS_LOADING = ActionProperty(
    id="a-load-ends-for-whom-it-was",
    source="contract R-38, Q12, Q32, I-14",
    doc="finished_recving names a request that is loading, or that has ended while it was: it ends no other.",
    slices=WITH_LOADS,
    actions=("loaded",),
    formula=request_states.one_of(request_state(r), "loading", "held"),
)

ARRIVES_ONCE = ActionProperty(
    id="a-request-arrives-once",
    policy=True,
    source="contract Q1, I-01, R-26",
    doc="A request arrives under an id that is free: whoever had it is gone, and the metadata has told of its end.",
    slices=EVERY,
    actions=("add_request",),
    formula=request_state(r).eq(request_states["absent"]),
)

PLANNED_IS_SOUND = ActionProperty(
    id="a-planned-job-has-not-failed",
    policy=True,
    source="contract J4, J10, R-43",
    doc="A job counts as failed once a worker has said so: a plan notes none, and keeps none of an earlier job.",
    slices=EVERY,
    actions=("plan_store", "plan_finish_store", "plan_lazy_store", "plan_load"),
    formula=Primed(body=~failure_seen(j)),
)

FAILURE_STAYS = ActionProperty(
    id="what-one-worker-failed-no-later-report-makes-good",
    policy=True,
    source="contract J10, 3.2 complete_store; B-124",
    doc="That a worker has failed a job is known until its last report, whatever the other workers say of it.",
    slices=(THREE, PARTIAL),
    actions=("acknowledge", "acknowledge_failure"),
    formula=(failure_seen(j) & Primed(body=under_way(j))) >> Primed(body=failure_seen(j)),
)

FRESH_IN_SCHEDULE = Invariant(
    id="allocations-are-fresh-inside-schedule",
    policy=True,
    source="contract G1, I-28",
    doc="A block counts as just allocated inside the schedule() that has allocated it and no longer.",
    slices=EVERY,
    formula=forall(b, fresh(b) >> phase().eq(phases["scheduling"])),
    premise=exists(b, fresh(b)),
)

FORWARD_DUE = Invariant(
    id="forwards-are-over-with-their-step",
    policy=True,
    source="contract 6.1 update_from_output",
    doc="Only the step being built or running still computes a block.",
    slices=(TINY, FINISH, PARTIAL, RESET),
    formula=forall(
        b,
        (due(b) | exists(h, due_value(b, h))) >> phases.one_of(phase(), "scheduling", "executing"),
    ),
    premise=exists(b, due(b)),
)  # fmt: skip

HOLDERS_EXPECT = Invariant(
    id="requests-expect-of-blocks-they-hold",
    policy=True,
    source="contract G2, G3, I-23",
    doc="A request reads the prefix that it took a block for, of blocks in its table only.",
    slices=(TINY, FINISH, PARTIAL, RESET),
    formula=forall(r, b, h, expects(r, b, h) >> holds(r, b)),
    premise=exists(r, b, h, expects(r, b, h)),
)

HASHED_IS_EXPECTED = Invariant(
    id="holders-of-a-hashed-block-expect-its-hash",
    policy=True,
    source="contract G2, G3, Q13, I-34",
    doc="Whoever holds an addressable block took it for the prefix that it is addressed by.",
    slices=(TINY, FINISH, PARTIAL, RESET, LOAD),
    formula=forall(r, b, (holds(r, b) & hashed(b)) >> expects(r, b, block_hash(b))),
    premise=exists(r, b, holds(r, b) & hashed(b)),
)

LOADS_FILL_UNHASHED = Invariant(
    id="loaded-blocks-are-not-addressable-yet",
    policy=True,
    source="contract I-34, Q13",
    doc="A block that a load fills, with the prefix of its chunk, is not addressable before its request is promoted.",
    slices=WITH_LOADS,
    formula=forall(
        j,
        live_load(j) >> (~hashed(job_block(j)) & load_value(job_block(j), chunk_hash(job_chunk(j)))),
    )
    & forall(b, h, load_value(b, h) >> ~hashed(b)),
    premise=exists(j, live_load(j)),
)

FLUSH_MARKS_ARE_OPEN = Invariant(
    id="flushes-are-owed-to-jobs-under-way",
    policy=True,
    source="contract J5, J9, J12",
    doc="A flush is still to be ordered for open stores and for stale jobs only.",
    slices=tuple(s for s in EVERY if s not in (IDLE, LAZY, THREE)),
    # A reference needs no flush; without preemption only a reset that flushes owes any.
    applies_in={
        TINY: ~pins() | kv_reset.is_("flush"),
        **dict.fromkeys((BUSY, DEDUP, STORE, FINISH, FINISH_TWICE, LOAD, LOAD_ACK, WINDOWED), ~pins()),
        **dict.fromkeys((RESET, RESET_LOAD, PARTIAL, BROKEN), kv_reset.is_("flush")),
    },
    formula=forall(j, must_flush(j) >> (open_store(j) | stale(j))),
    premise=exists(j, must_flush(j)),
)


_holds_nothing = Primed(body=forall(w, h2, ~cpu_value(w, c, h2)))
RESERVED_IS_EMPTY = ActionProperty(
    id="a-chunk-that-changes-hands-holds-nothing",
    policy=True,
    source="contract 3.2, I-31, I-40",
    doc="What an evicted or newly reserved chunk held is gone for good, unless a stale load still reads it.",
    slices=(TINY, FINISH, PARTIAL, RESET, RESET_LOAD, LAZY),
    actions=("plan_store", "plan_finish_store", "plan_lazy_store", "evict"),
    formula=_holds_nothing | exists(j2, stale_load(j2) & job_chunk(j2).eq(c)),
)

RESET_IS_FOR_ALL = ActionProperty(
    id="a-reset-that-succeeds-makes-all-worthless",
    policy=True,
    source="contract R-62; vLLM #57727",
    doc=(
        "After a reset with no block in use, which the tier has not refused, nothing that was computed or stored "
        "before counts, on any worker."
    ),
    slices=WITH_RESETS,
    actions=("reset_cache",),
    formula=(no_block_is_used() & ~tier_refuses())
    >> Primed(body=forall(w, b, h, ~gpu_value(w, b, h)) & forall(w, c, h, ~cpu_value(w, c, h))),
)

NO_REPORT_INSIDE = ActionProperty(
    id="no-report-is-heard-inside-schedule",
    policy=True,
    source="contract J11, L4, R-22, R-42",
    doc="Reports come with a step's output: none is heard, and no load is over, between the visits of a schedule().",
    slices=EVERY,
    actions=("acknowledge", "acknowledge_failure", "loaded"),
    formula=phases.one_of(phase(), "updated", "executing"),
)

FRESH_IS_LOADED = ActionProperty(
    id="loads-fill-blocks-just-allocated",
    policy=True,
    source="contract Q8, I-24",
    doc="A load is planned into a block that its request was given in the same schedule().",
    slices=WITH_LOADS,
    actions=("plan_load",),
    formula=fresh(b),
)

ORDERED_IS_SETTLED = ActionProperty(
    id="an-ordered-flush-is-owed-no-more",
    policy=True,
    source="contract J5, J9, J12, L6",
    doc="Once the metadata orders the flush of a job, stale or not, nothing is still owed to it.",
    slices=tuple(s for s in EVERY if s != LAZY),
    applies=flushes_ever(),
    applies_in={RESET_LOAD: kv_reset.is_("flush")},
    actions=("order_flush", "order_flush_of_load"),
    formula=Primed(body=~must_flush(j)),
)

RESTS_AFTER_REPORTS = ActionProperty(
    id="rest-comes-after-the-reports",
    policy=True,
    source="contract section 1 engine loop; R-58",
    doc="An engine that goes to rest has heard all reports that have come, those on stale jobs too.",
    slices=WITH_REST,
    actions=("rest",),
    formula=forall(j, done(j).eq(0) & undone(j).eq(0)),
)

STEPS_END = LeadsTo(
    id="steps-end",
    policy=True,
    source="contract section 1 engine loop; R-22",
    doc="A step that is with the workers is over some day.",
    slices=(TINY,),
    premise=phase().eq(phases["executing"]),
    conclusion=phase().ne(phases["executing"]),
)

BOOKKEEPING = (
    VISITS_ARE_IN_SCHEDULE, DECIDED_BETWEEN_STEPS, ARRIVAL_WAKES, HIT_IS_FOUND, READS_WHAT_IT_SAVES, FRESH_IS_DUE,
    *CURSORS, NOTED_AT_FINISH, GONE_LEFT_NO_RECORD, GONE_HAS_FINISHED, LOADED_WAS_LOADING, ARRIVES_ONCE,
    PLANNED_IS_SOUND, FAILURE_STAYS,
    FRESH_IN_SCHEDULE, FORWARD_DUE, HOLDERS_EXPECT,
    HASHED_IS_EXPECTED, LOADS_FILL_UNHASHED, FLUSH_MARKS_ARE_OPEN, *SCANS, RESERVED_IS_EMPTY, RESET_IS_FOR_ALL,
    NO_REPORT_INSIDE, FRESH_IS_LOADED, ORDERED_IS_SETTLED, RESTS_AFTER_REPORTS, STEPS_END,
)  # fmt: skip
