"""Who owns what while jobs are under way: chunks, blocks and requests; the last step."""

from __future__ import annotations

from interlock.spec.kv.coverage import (
    BUSY,
    DEDUP,
    EVERY,
    FINISH,
    FINISH_TWICE,
    IDLE,
    LOAD,
    LOAD_ACK,
    LOADED_WAITS,
    STORE,
    TINY,
    WITH_LOADS,
    WITH_REST,
)
from interlock.spec.kv.judging import (
    belongs_to,
    flushes_ever,
    is_a_source,
    live,
    live_load,
    live_store,
    load_under_way,
    of_some_request,
    open_store,
    store_under_way,
    under_way,
)
from interlock.spec.kv.lemmas import WELL_COUNTED
from interlock.spec.kv.predicates import pins
from interlock.spec.kv.vocabulary import (
    b,
    block_state,
    block_states,
    c,
    chunk_state,
    chunk_states,
    fresh,
    holds,
    idle,
    j,
    j2,
    job_block,
    job_chunk,
    job_loads,
    job_request,
    job_state,
    job_states,
    kv_reset,
    must_flush,
    phase,
    phases,
    r,
    reads_current,
    request_state,
    request_states,
    store_mode,
)
from interlock.spec.language.properties import ActionProperty, Ground, Invariant
from interlock.spec.language.terms import Primed, exists, forall

_of_c = job_chunk(j).eq(c)
_same_target = live_store(j) & live_store(j2) & job_chunk(j).eq(job_chunk(j2))
_keeps = kv_reset.is_("hold")
_holds_it = live_store(j) | (_keeps & store_under_way(j))
_pins_it = live_load(j) | (_keeps & load_under_way(j))

PENDING_HAS_A_STORE = Invariant(
    id="pending-chunk-has-one-store",
    aliases=("I-42",),
    source="contract I-42, V-07",
    doc=(
        "A pending chunk is written by a store that has not ended, and no chunk by two. (Where stale stores keep their "
        "chunks, it may be kept for one.)"
    ),
    slices=EVERY,
    formula=forall(c, chunk_state(c).eq(chunk_states["pending"]) >> exists(j, under_way(j) & _of_c & _holds_it))
    & forall(j, j2, _same_target >> j.eq(j2)),
    premise=exists(c, chunk_state(c).eq(chunk_states["pending"])),
)

STORE_WRITES_PENDING = Invariant(
    id="store-writes-a-pending-chunk",
    source="contract I-40, I-42",
    doc="The chunk that a live store writes is pending: no lookup sees it and nothing evicts it.",
    slices=EVERY,
    formula=forall(j, live_store(j) >> chunk_state(job_chunk(j)).eq(chunk_states["pending"])),
    premise=exists(j, live_store(j)),
    proved=True,
    proof=(
        "pending-chunk-has-one-store",
        "pinned-chunk-is-never-evicted",
        "planned-jobs-go-with-this-metadata",
        *WELL_COUNTED,
    ),
    grounds=(Ground(action="reset_cache", conjunct="between-steps"),),
)

LOADED_CHUNK_STAYS = Invariant(
    id="pinned-chunk-is-never-evicted",
    aliases=("I-40",),
    source="contract I-40",
    doc="The chunk that an open load reads is ready. (Where stale loads keep their chunks, what they read is too.)",
    slices=WITH_LOADS,
    formula=forall(
        j,
        _pins_it >> chunk_state(job_chunk(j)).eq(chunk_states["ready"]),
    ),
    premise=exists(j, live_load(j)),
    proved=True,
    proof=("planned-jobs-go-with-this-metadata", *WELL_COUNTED),
    grounds=(Ground(action="evict", conjunct="not-pinned"),),
)

HELD_IS_USED = Invariant(
    id="held-block-is-used",
    aliases=("I-20",),
    source="contract I-20, I-21",
    doc="A block in a request's table is not in the free queue.",
    slices=EVERY,
    formula=forall(r, b, holds(r, b) >> block_state(b).eq(block_states["used"])),
    premise=exists(r, b, holds(r, b)),
)

USED_HAS_A_USER = Invariant(
    id="used-block-has-a-user",
    aliases=("I-21",),
    source="contract I-20, I-21; known failures, family HOLD",
    doc="A block that is not in the free queue is in a table, or (where stores hold references) read by a store.",
    slices=EVERY,
    formula=forall(
        b,
        block_state(b).eq(block_states["used"]) >> (exists(r, holds(r, b)) | (pins() & is_a_source(b))),
    ),
    premise=exists(b, block_state(b).eq(block_states["used"])),
)

HOLDER_IS_ALIVE = Invariant(
    id="holder-of-blocks-is-alive",
    source="contract I-01 to I-04, I-08",
    doc="A request that holds blocks waits, loads, is scheduled, or has ended while its load is still to come.",
    slices=EVERY,
    formula=forall(
        r, b,
        holds(r, b)
        >> request_states.one_of(request_state(r), "waiting", "loading", "scheduled", "held"),
    ),
    premise=exists(r, b, holds(r, b)),
)  # fmt: skip

TARGET_STAYS = Invariant(
    id="load-target-stays-owned",
    aliases=("I-25",),
    source="contract I-25",
    doc=("The block that a load fills, stale or not, is in the table of its request, which is loading or held for it."),
    slices=WITH_LOADS,
    formula=forall(
        j,
        load_under_way(j)
        >> (
            holds(job_request(j), job_block(j))
            & request_states.one_of(request_state(job_request(j)), "loading", "held")
        ),
    ),
    premise=exists(j, live_load(j)),
)

TARGET_IS_USED = Invariant(
    id="block-being-loaded-is-in-use",
    aliases=("I-24",),
    source="contract I-24, I-25; known failures, family LIFE",
    doc="The block that a load fills, stale or not, is not in the free queue: nobody else is given it.",
    slices=WITH_LOADS,
    formula=forall(
        j, load_under_way(j) >> block_state(job_block(j)).eq(block_states["used"])
    ),
    premise=exists(j, live_load(j)),
)  # fmt: skip

_of_one_request = of_some_request(j) & belongs_to(j2, job_request(j))
NEVER_MIXED = Invariant(
    id="loads-and-stores-never-mixed",
    policy=True,
    aliases=("I-48",),
    source="contract R-18, I-48; vLLM #46014",
    doc="The open jobs of a request are all loads or all stores.",
    slices=("busy_running", BUSY, TINY, LOAD),
    formula=forall(
        j, j2,
        (live(j) & live(j2) & _of_one_request) >> job_loads(j).eq(job_loads(j2)),
    ),
    premise=exists(j, live_load(j)),
    proved=True,
    proof=("load-target-stays-owned", *WELL_COUNTED),
    grounds=(Ground(action="plan_load", conjunct="no-store-is-open"),),
)  # fmt: skip

PREEMPTED_STORES_ONLY = ActionProperty(
    id="preempted-request-has-stores-only",
    source="seeds 002; contract 2.1 flush sources (asserted there)",
    doc="A request that is preempted has no load under way, so what its preemption flushes are stores.",
    slices=(TINY, LOAD, LOAD_ACK, BUSY),
    actions=("preempt",),
    formula=~exists(j, load_under_way(j) & belongs_to(j, r)),
)

_now_demanded = ~must_flush(j) & Primed(body=must_flush(j))
PREEMPTION_FLUSHES_ITS_OWN = ActionProperty(
    id="a-preemption-demands-flushes-of-its-own-stores",
    policy=True,
    source="seeds 002; contract 2.1 flush sources",
    doc="What a preemption demands the flush of are open stores of the request that it preempts.",
    slices=(TINY, DEDUP, STORE, FINISH, LOAD, BUSY),
    actions=("preempt",),
    formula=forall(j, _now_demanded >> (open_store(j) & belongs_to(j, r))),
)
ALLOCATION_FLUSHES_ITS_OWN = ActionProperty(
    id="an-allocation-demands-flushes-of-its-block",
    policy=True,
    source="contract J5, J9, I-28",
    doc="What an allocation demands the flush of are open stores that read the block.",
    slices=(TINY, DEDUP, STORE, FINISH, FINISH_TWICE, LOAD, BUSY),
    actions=("allocate",),
    formula=forall(j, _now_demanded >> (open_store(j) & job_block(j).eq(b))),
)

_of_a_preempted_one = open_store(j) & of_some_request(j) & request_state(job_request(j)).eq(request_states["preempted"])
PREEMPTED_ARE_FLUSHED = Invariant(
    id="preempted-stores-are-flushed",
    policy=True,
    source="seeds 002; contract 2.1 flush sources, I-27, V-14",
    doc="The open stores of a request that has lost its blocks are flushed by the next metadata.",
    slices=(TINY, STORE, FINISH, LOAD, BUSY),
    applies=~pins() & store_mode.is_("eager"),
    formula=forall(j, _of_a_preempted_one >> must_flush(j)),
    premise=exists(j, _of_a_preempted_one),
)

# Said here in its own words, and not in those of the rule that it checks: a request that is queued, and that nobody
# was asked about, holds nothing and does not count.
_goes_on = request_states.one_of(request_state(r), "preempted", "loading", "scheduled")
_was_asked_about = request_state(r).eq(request_states["waiting"]) & exists(b, holds(r, b))
_all_finished = forall(r, ~(_goes_on | _was_asked_about))
LAST_STEP_FLUSHES = ActionProperty(
    id="last-step-flushes-every-job",
    policy=True,
    source="vLLM PR 42611; seeds 002",
    doc=(
        "Once all tracked requests have finished, the metadata leaves no job without a flush order: stores and "
        "loads, of whatever step."
    ),
    slices=(TINY, FINISH, FINISH_TWICE, STORE, LOAD_ACK, IDLE),
    applies=idle.is_("flush", "flush_before_plan"),
    actions=("build_connector_meta",),
    formula=_all_finished >> forall(j, live(j) >> job_state(j).eq(job_states["flush_requested"])),
)

FLUSHED_FOR_A_REASON = ActionProperty(
    id="flush-has-a-reason",
    policy=True,
    source="vLLM PR 42611; seeds 002; contract 2.1 flush sources",
    doc=(
        "A flush is ordered of a job that something demands it of (its block given away, its request preempted, a "
        "reset), or once all tracked requests have finished, and not while one of them goes on."
    ),
    slices=(TINY, FINISH, FINISH_TWICE, STORE, LOAD_ACK, IDLE, LOADED_WAITS),
    applies=flushes_ever(),
    actions=("order_flush", "order_flush_of_load"),
    formula=must_flush(j) | _all_finished,
)

PLANNED_WITHOUT_FLUSH = ActionProperty(
    id="a-planned-store-is-flushed-only-if-its-block-is-gone",
    policy=True,
    source="contract J5, R-28, 2.1 flush sources",
    doc="The plan of a store demands its flush only if its block was given away in the same schedule().",
    slices=(TINY, FINISH, FINISH_TWICE),
    actions=("plan_store", "plan_finish_store"),
    formula=Primed(body=must_flush(j)) >> (fresh(b) & ~Primed(body=reads_current(j))),
)

ENGINE_RESTS = Invariant(
    id="engine-rests-with-nothing-pending",
    policy=True,
    source="contract R-58, V-06; seeds 002",
    doc=(
        "Where the connector reports pending work, an engine at rest holds no request, and no worker has yet to report "
        "on a job, whether or not a reset has forgotten it."
    ),
    slices=WITH_REST,
    applies=idle.is_("flush", "drain"),
    formula=phase().eq(phases["resting"])
    >> (forall(j, ~under_way(j)) & forall(r, request_state(r).eq(request_states["absent"]))),
    premise=phase().eq(phases["resting"]),
)
OWNERSHIP = (
    PENDING_HAS_A_STORE,
    STORE_WRITES_PENDING,
    LOADED_CHUNK_STAYS,
    HELD_IS_USED,
    USED_HAS_A_USER,
    HOLDER_IS_ALIVE,
    TARGET_STAYS,
    TARGET_IS_USED,
    NEVER_MIXED,
    PREEMPTED_STORES_ONLY,
    PREEMPTED_ARE_FLUSHED,
    PREEMPTION_FLUSHES_ITS_OWN,
    ALLOCATION_FLUSHES_ITS_OWN,
    LAST_STEP_FLUSHES,
    FLUSHED_FOR_A_REASON,
    PLANNED_WITHOUT_FLUSH,
    ENGINE_RESTS,
)
