"""What must never happen."""

from __future__ import annotations

from interlock.spec.admission.coverage import (
    AGAIN,
    EVERY,
    LOAD,
    LOADING,
    LOOKUP,
    MIXED,
    ONE,
    PREEMPT,
    PREEMPTING,
    SEVERAL,
    STORES,
    TWO,
    WITH_VICTIM,
)
from interlock.spec.admission.judging import (
    blockless,
    goes_on,
    holds_for_load,
    is_short,
    lacks,
    may_be_written,
    parked,
    stands_in_a_queue,
    takes_in_all,
    told_later,
)
from interlock.spec.admission.predicates import entry, is_, phase, somebody, total
from interlock.spec.admission.vocabulary import (
    FIRST,
    PART,
    STEP,
    WHOLE,
    ahead,
    block,
    crossed,
    exposed_newer,
    exposed_older,
    free,
    freed_in_flight,
    full_sequence_fits,
    in_newer,
    in_older,
    load_order,
    load_report,
    newer_step,
    older_step,
    own_store,
    owns,
    parked_older,
    preempted_now,
    r,
    r2,
    scheduled_now,
    somebody_lost_blocks,
    step_slots,
    storable,
    storing_off,
    visited,
)
from interlock.spec.language.properties import ActionProperty, Invariant, Property
from interlock.spec.language.terms import Primed, exists, forall, ite

BLOCKS_ADD_UP = Invariant(
    id="blocks-add-up",
    source="contract I-20, I-21, G8; known failures, family HOLD",
    doc="Every block is free, in one request's table, or parked: none is lost and none is there twice.",
    slices=WITH_VICTIM,
    formula=(free() + total(owns) + parked()).eq(block.size),
)

DEFERRED_HOLDS_NOTHING = Invariant(
    id="deferred-by-lookup-holds-no-blocks",
    source="contract Q4, R-02, R-11",
    doc="A request that lookup tells to ask later has no blocks.",
    slices=(LOOKUP, AGAIN, TWO, ONE),
    formula=forall(r, told_later(r) >> owns(r).eq(0)),
    premise=somebody(told_later),
)

HOLDER_IS_ALIVE = Invariant(
    id="blocks-have-a-live-holder",
    source="contract I-01 to I-04, Q31",
    doc="A request with blocks loads, has loaded, runs, or is held for a transfer.",
    slices=EVERY,
    formula=forall(
        r, (owns(r) > 0) >> is_(r, "loading", "loaded", "running", "held_for_load", "held_for_store")
    ),
    premise=exists(r, owns(r) > 0),
)  # fmt: skip

_nothing_else_comes = parked().eq(0) & ~exists(
    r2, is_(r2, "running", "held_for_load", "held_for_store")
)  # fmt: skip
NO_CIRCULAR_WAIT = Invariant(
    id="no-circular-wait-among-loads",
    aliases=("V-10",),
    source="contract V-10; B-059 vllm #57104",
    doc=(
        "Where blocks are held for loads only, some request that holds them can get what it still needs from the "
        "free ones: else each waits for blocks that another one of them holds, and no load can be preempted."
    ),
    slices=(LOAD, LOOKUP, MIXED, TWO),
    formula=(somebody(holds_for_load) & _nothing_else_comes) >> exists(r, holds_for_load(r) & (lacks(r) <= free())),
    premise=somebody(holds_for_load),
)

DRAIN_BLOCKS_NOBODY = Invariant(
    id="drain-blocks-nobody",
    source="contract 5(c), R-13; B-164 vllm #45595",
    doc="While the engine thread waits for the last stores, nobody waits to be scheduled.",
    slices=(STORES, AGAIN, TWO, ONE),
    formula=~(phase("flushing") & somebody(lambda q: is_(q, "waiting"))),
)

SOMEBODY_GOES_ON = Invariant(
    id="a-preemption-lets-somebody-run",
    source="contract Q21, Q22; B-062 vllm #49674",
    doc="Where nobody holds blocks for a load, a pass that preempts leaves somebody running.",
    slices=(PREEMPT,),
    formula=(phase("building") & preempted_now()) >> somebody(lambda q: is_(q, "running")),
    premise=phase("building") & preempted_now(),
)

SCHEDULED_HAS_BLOCKS = Invariant(
    id="scheduled-has-its-blocks",
    source="contract Q9 to Q11, Q20, I-24",
    doc="A request with tokens in the step that is being built runs and has the blocks for them.",
    slices=WITH_VICTIM,
    formula=forall(r, scheduled_now(r) >> (is_(r, "running") & owns(r).eq(takes_in_all(r)))),
    premise=exists(r, scheduled_now(r)),
)

ORDER_IS_TOTAL = Invariant(
    id="queues-are-ordered",
    source="contract I-01, I-02",
    doc="Of two requests that wait, or that run, exactly one stands before the other; nobody else stands anywhere.",
    slices=WITH_VICTIM,
    formula=forall(
        r, r2,
        ite(
            r.ne(r2) & ((stands_in_a_queue(r) & stands_in_a_queue(r2)) | (is_(r, "running") & is_(r2, "running"))),
            ahead(r, r2).eq(~ahead(r2, r)),
            ~ahead(r, r2),
        ),
    ),
)  # fmt: skip

STEPS_IN_FLIGHT = Invariant(
    id="steps-are-processed-in-order",
    source="contract R-24, section 1 engine loop",
    doc="A newer step has an older one before it, and a request is in flight only with a step that has tokens.",
    slices=EVERY,
    formula=(newer_step().ne(step_slots["none"]) >> older_step().ne(step_slots["none"]))
    & forall(
        r,
        (in_older(r) >> older_step().eq(step_slots["full"])) & (in_newer(r) >> newer_step().eq(step_slots["full"])),
    ),
    premise=exists(r, in_older(r)),
)

_freed = Primed(body=free()) > free()
NO_WRITER = ActionProperty(
    id="freed-blocks-have-no-writer",
    source="contract G8; B-063 vllm #45357",
    doc="When a request lets go of its blocks, they are free at once only if no step in flight may write them.",
    slices=EVERY,
    # Steps are ordered among themselves: a load alone can be written over by a step that was dispatched before.
    applies=freed_in_flight.is_("parked"),
    actions=("finish", "abort", "preempt", "store_reported", "finished_recving", "flush_reported"),
    formula=_freed >> ~may_be_written(r),
)
NO_LOAD_UNDER_A_WRITER = ActionProperty(
    id="load-gets-no-block-that-a-step-may-write",
    source="contract G8, I-26; B-063 vllm #45357",
    doc="When a load is given free blocks, no step in flight may still write a block that is free.",
    slices=LOADING,
    actions=("admit_load",),
    formula=~exposed_older() & ~exposed_newer(),
)
BEHIND_THEIR_STEP = ActionProperty(
    id="parked-blocks-return-behind-their-step",
    source="contract G8, V-08",
    doc="Processing a step returns no more than what was parked behind it.",
    slices=EVERY,
    actions=("process_step",),
    formula=Primed(body=free()) <= free() + parked_older(),
)

PARKED_BEHIND_THE_LAST = ActionProperty(
    id="blocks-are-parked-behind-the-last-step-that-may-write-them",
    source="contract G8, I-26; B-063 vllm #45357",
    doc=(
        "What a request lets go of while the newer step may write it does not return with the older one, which is "
        "processed first."
    ),
    slices=(MIXED, ONE),
    applies=freed_in_flight.is_("parked"),
    actions=("abort", "flush_reported"),
    formula=in_newer(r) >> (Primed(body=parked_older()) <= parked_older()),
)
LOAD_STILL_WRITES = Invariant(
    id="blocks-that-a-load-writes-are-not-given-back",
    source="contract I-25, Q31, Q32",
    doc="As long as the load of a request is under way, or its report is, the request has the blocks that it fills.",
    slices=LOADING,
    formula=forall(r, (load_order(r) + load_report(r) > 0) >> (owns(r) >= PART)),
    premise=exists(r, load_order(r) > 0),
)

YIELDS_BLOCKS = ActionProperty(
    id="preemption-yields-blocks",
    source="contract Q21; B-062 vllm #49674",
    doc="A preemption returns blocks in this very step.",
    slices=PREEMPTING,
    actions=("preempt",),
    formula=_freed,
)

LEAVES_THE_REST = ActionProperty(
    id="load-admission-leaves-the-rest",
    source="contract Q8, V-10",
    doc=(
        "A load is admitted only if all the others that load could then still get what their first steps need, all "
        "of them at once, and this one the block of its own."
    ),
    slices=LOADING,
    actions=("admit_load",),
    formula=total(lacks, lambda q: holds_for_load(q) & q.ne(r)) + STEP <= Primed(body=free()),
)

HOLDERS_FIRST = ActionProperty(
    id="loaded-is-visited-first",
    aliases=("V-12",),
    source="contract V-12",
    doc="A request without blocks is asked only when every one whose load has ended has had its visit.",
    slices=LOADING,
    actions=("admit", "admit_load", "skip_waiting"),
    formula=~somebody(lambda q: is_(q, "loaded") & ~visited(q)),
)

NO_OVERTAKING = ActionProperty(
    id="nobody-is-overtaken-unasked",
    source="contract R-02, V-03: what is skipped keeps its place",
    doc="A request is admitted, or told to ask later, only when everybody before it has been asked in this pass.",
    slices=EVERY,
    actions=("admit", "admit_load", "skip_waiting"),
    formula=forall(r2, (blockless(r2) & ahead(r2, r)) >> visited(r2)),
)

STOPS_FOR_BLOCKS = ActionProperty(
    id="scan-stops-only-for-blocks",
    source="contract Q4, Q6, Q7: skip and break",
    doc=(
        "The waiting loop stops at a request that could be admitted and for which blocks are missing: never at a "
        "deferral, and not for a block that is there."
    ),
    slices=SEVERAL,
    actions=("stop_scan",),
    formula=~told_later(r)
    & ite(
        blockless(r) & entry(r, "ready"),
        (free() < total(lacks, holds_for_load) + STEP + WHOLE)
        | (free() < ite(full_sequence_fits.is_("first_step"), FIRST, WHOLE) + ite(crossed(r), 1, 0)),
        free() < lacks(r),
    ),
)
SCAN_IS_WHOLE = ActionProperty(
    id="scan-asks-everybody",
    source="contract section 1: skip means that the scan goes on",
    doc="Unless blocks run out, a pass of the waiting loop visits everybody who waits.",
    slices=EVERY,
    actions=("end_waiting_loop",),
    formula=forall(r, (blockless(r) | is_(r, "loaded")) >> visited(r)),
)
RUNNING_LOOP_STOPS_FOR_BLOCKS = ActionProperty(
    id="running-loop-stops-only-for-blocks",
    source="contract Q20, Q21",
    doc="The running loop leaves out a running request only while no block is free.",
    slices=EVERY,
    actions=("end_running_loop",),
    formula=somebody(lambda q: is_(q, "running") & ~scheduled_now(q)) >> free().eq(0),
)
RUNNING_ARE_SCHEDULED = Invariant(
    id="running-are-scheduled",
    source="contract Q9 to Q11, Q20, Q21",
    doc="When the metadata is built, a running request has been left out only if somebody could not get a block.",
    slices=EVERY,
    formula=(phase("building") & somebody(lambda q: is_(q, "running") & ~scheduled_now(q))) >> somebody(is_short),
    premise=phase("building") & somebody(lambda q: is_(q, "running")),
)
VISITS_IN_A_PASS = Invariant(
    id="skipped-for-one-pass",
    source="contract Q4: asked again in the next pass",
    doc="What was skipped counts as visited until the metadata is built, and is asked again in the next pass.",
    slices=(LOOKUP, AGAIN, TWO, ONE),
    formula=somebody(visited) >> phase("waiting_loop", "building", "flushing"),
    premise=somebody(visited),
)
NO_ADMISSION_AFTER = Invariant(
    id="no-waiting-loop-after-a-preemption",
    source="contract Q22",
    doc="A pass that has preempted somebody admits nobody.",
    slices=PREEMPTING,
    formula=somebody_lost_blocks() >> ~phase("waiting_loop"),
    premise=somebody_lost_blocks(),
)
REASON_TO_STEP = ActionProperty(
    id="steps-have-a-reason",
    source="R-58, contract V-11",
    doc="The engine steps only for a request that has not ended, for blocks that are held, or for a store under way.",
    slices=EVERY,
    actions=("begin_step", "begin_step_ahead"),
    formula=exists(
        r, goes_on(r) | is_(r, "held_for_load", "held_for_store") | entry(r, "pending") | entry(r, "expired")
    ),
)
NOT_WHILE_FREES_COME = ActionProperty(
    id="no-preemption-while-frees-are-coming",
    source="R-59, contract Q21",
    doc="Nobody is preempted while the connector says that blocks will come back.",
    slices=(AGAIN, TWO),
    actions=("preempt",),
    formula=~somebody(lambda q: is_(q, "held_for_store")),
)
NOT_WHILE_FREE = ActionProperty(
    id="no-preemption-while-a-block-is-free",
    source="contract Q21, Q22: allocate_slots() has answered None",
    doc="A request loses its blocks only when every block is in somebody's table, or parked.",
    slices=PREEMPTING,
    actions=("preempt",),
    formula=(total(owns) + parked()).eq(block.size),
)
FROM_THE_POOL = Invariant(
    id="blocks-come-from-the-pool",
    source="contract G1, Q7",
    doc="Nobody is given more blocks than are free.",
    slices=EVERY,
    formula=free() >= 0,
    premise=somebody(lambda q: owns(q) > 0),
)
AFTER_ITS_STEP = ActionProperty(
    id="outputs-and-reports-come-with-a-processed-step",
    source="contract Q12, Q26, section 6.1",
    doc="Requests end by their output or grow by it, and reports are taken, in update_from_output() only.",
    slices=EVERY,
    actions=("finish", "crosses_block", "finished_recving", "store_reported"),
    formula=phase("updating"),
)
PREFIX_STAYS = Invariant(
    id="prefix-stays-while-it-is-loaded",
    source="contract I-40, R-06",
    doc="What a load reads is in the tier until the load has ended.",
    slices=LOADING,
    formula=forall(r, is_(r, "loading", "held_for_load") >> entry(r, "ready")),
    premise=somebody(lambda q: is_(q, "loading")),
)
WITH_THE_METADATA = ActionProperty(
    id="prefix-stores-are-planned-with-the-metadata",
    source="contract J1, R-22; B-182 ROCm/ATOM #2053",
    doc=(
        "Stores are planned when the metadata is built, for who is scheduled, whose blocks they read, and not while "
        "storing is off."
    ),
    slices=(STORES, AGAIN, TWO, ONE),
    actions=("plan_prefix_store",),
    formula=phase("building") & is_(r, "running") & ~storing_off() & Primed(body=own_store(r)),
)

STORABLE_HAS_BLOCKS = ActionProperty(
    id="storable-is-computed",
    source="R-52, R-54; B-001 vllm #49118",
    doc="Of a request that ends, exactly the prompt blocks that it has computed are storable.",
    slices=(STORES, ONE),
    actions=("abort", "finish"),
    formula=Primed(body=storable(r)).eq(ite(is_(r, "running", "loaded"), ite(owns(r) > WHOLE, WHOLE, owns(r)), 0)),
)

SAFETY: tuple[Property, ...] = (
    BLOCKS_ADD_UP, DEFERRED_HOLDS_NOTHING, HOLDER_IS_ALIVE, NO_CIRCULAR_WAIT, DRAIN_BLOCKS_NOBODY, SOMEBODY_GOES_ON,
    SCHEDULED_HAS_BLOCKS, ORDER_IS_TOTAL, STEPS_IN_FLIGHT, NO_WRITER, NO_LOAD_UNDER_A_WRITER,
    BEHIND_THEIR_STEP, PARKED_BEHIND_THE_LAST, LOAD_STILL_WRITES, YIELDS_BLOCKS,
    LEAVES_THE_REST, HOLDERS_FIRST, NO_OVERTAKING, STOPS_FOR_BLOCKS, SCAN_IS_WHOLE, RUNNING_LOOP_STOPS_FOR_BLOCKS,
    RUNNING_ARE_SCHEDULED,
    STORABLE_HAS_BLOCKS, VISITS_IN_A_PASS, NO_ADMISSION_AFTER, REASON_TO_STEP,
    NOT_WHILE_FREES_COME,
    NOT_WHILE_FREE,
    FROM_THE_POOL, AFTER_ITS_STEP, PREFIX_STAYS, WITH_THE_METADATA,
)  # fmt: skip
