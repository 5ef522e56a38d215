"""The properties: what must never happen, what must happen, and what must be able to happen."""

from __future__ import annotations

from interlock.spec.kv.predicates import is_read_by_store, live, open_load, open_store, pins, serves, with_worker
from interlock.spec.kv.vocabulary import (
    b,
    b2,
    block_hash,
    block_state,
    block_states,
    c,
    chunk_hash,
    chunk_state,
    chunk_states,
    copy_state,
    copy_states,
    cpu_value,
    done,
    due,
    expects,
    failure_seen,
    flush_meta,
    fresh,
    gpu_value,
    h,
    hashed,
    holds,
    in_flight,
    j,
    j2,
    job,
    job_block,
    job_chunk,
    job_loads,
    job_state,
    job_states,
    load_meta,
    must_flush,
    output,
    pending_count,
    phase,
    phases,
    r,
    reads_current,
    request_state,
    request_states,
    scan_result,
    scan_results,
    step,
    store_meta,
    undone,
    w,
)
from interlock.spec.language.properties import (
    ActionProperty,
    BoundaryClause,
    Ground,
    Invariant,
    LeadsTo,
    Witness,
)
from interlock.spec.language.terms import TRUE, Primed, Term, card, exists, forall, ite

_j = job.var("jy")
DEDUP, STORE, LOAD, LOAD_ACK = "dedup", "store", "load", "load_ack"
FINISH, FINISH_TWICE, PARTIAL = "finish_store", "finish_twice", "partial_failure"
EVERY = (DEDUP, STORE, FINISH, FINISH_TWICE, PARTIAL, LOAD, LOAD_ACK)
TWO_JOBS = (DEDUP, FINISH_TWICE)
FAILING = (STORE, FINISH, PARTIAL)

_same_source = open_store(j) & open_store(j2) & job_block(j).eq(job_block(j2)) & reads_current(j).eq(reads_current(j2))

NO_BLOCK_STORED_TWICE = Invariant(
    id="no-block-stored-twice-in-flight",
    aliases=("V-DEDUP",),
    source="vLLM PR 41289; seeds 004",
    doc="No two open stores read the same block in the same allocation.",
    slices=TWO_JOBS,
    formula=forall(j, j2, _same_source >> j.eq(j2)),
    premise=exists(j, open_store(j)),
    proved=True,
    proof=(
        "dedup-set-names-open-stores",
        "open-stores-are-in-dedup-set",
        "one-open-store-per-block",
        "ended-jobs-left-nothing",
        "reports-are-counted",
        "messages-are-not-duplicated",
        "a-step-message-per-worker",
        "metadata-arrives-with-its-step",
    ),
    grounds=(
        Ground(action="plan_store", conjunct="not-in-flight"),
        Ground(action="plan_finish_store", conjunct="not-in-flight"),
    ),
)

_passed_over = hashed(b) & scan_result(b).one_of(scan_results["passed"], scan_results["passed_again"])
_own_store = exists(j, live(j) & ~job_loads(j) & job_block(j).eq(b) & reads_current(j))
_store_of_its_hash = exists(j, live(j) & ~job_loads(j) & chunk_hash(job_chunk(j)).eq(block_hash(b)))

SERVED = Invariant(
    id="computed-and-kept-is-served",
    source="vLLM PR 41289; seeds 004; known failures, family EFFECT",
    doc=(
        "A computed, hashed block that a store scan has passed over is being read by a store of its own or has "
        "its hash in a ready chunk, unless its own store failed, the scan found no room, or the chunk was evicted."
    ),
    slices=(STORE, FINISH, FINISH_TWICE),
    formula=forall(b, _passed_over >> (_own_store | serves(b))),
    premise=exists(b, _passed_over),
)

NOT_LOST = Invariant(
    id="passed-over-is-not-lost",
    source="seeds 004: why dedup goes by id and not by hash",
    doc=(
        "As computed-and-kept-is-served, but a store of another block with the same hash counts while it is "
        "open: what is passed over is lost only once that store has failed."
    ),
    slices=(STORE, FINISH, FINISH_TWICE),
    formula=forall(b, _passed_over >> (_own_store | _store_of_its_hash | serves(b))),
    premise=exists(b, _passed_over),
)

READY_IS_TRUE = Invariant(
    id="ready-chunk-holds-its-prefix",
    aliases=("I-43",),
    source="contract I-31, I-43",
    doc="What lookup can find in the CPU tier is, on every worker, the KV of the prefix that it is found under.",
    slices=(FINISH, PARTIAL, LOAD),
    formula=forall(c, w, chunk_state(c).eq(chunk_states["ready"]) >> cpu_value(w, c, chunk_hash(c))),
    premise=exists(c, chunk_state(c).eq(chunk_states["ready"])),
)

HASHED_IS_TRUE = Invariant(
    id="hashed-block-holds-its-prefix",
    aliases=("I-23",),
    source="contract I-23",
    doc=(
        "A block that the prefix cache can find holds that prefix on every worker, once the forward that "
        "computes it has run."
    ),
    slices=(FINISH, PARTIAL, LOAD),
    formula=forall(b, w, (hashed(b) & ~due(b)) >> gpu_value(w, b, block_hash(b))),
    premise=exists(b, hashed(b) & ~due(b)),
)

SOURCE_STABLE = Invariant(
    id="store-source-stable",
    aliases=("I-27", "I-29"),
    source="contract I-27 to I-29; seeds 003",
    doc="Until a worker has copied a store, its source holds there what the store is to save.",
    slices=(FINISH, PARTIAL),
    formula=forall(
        w, j,
        copy_state(w, j).eq(copy_states["store_queued"])
        >> (live(j) & gpu_value(w, job_block(j), chunk_hash(job_chunk(j)))),
    ),
    premise=exists(w, j, copy_state(w, j).eq(copy_states["store_queued"])),
)  # fmt: skip

PENDING_HAS_A_STORE = Invariant(
    id="pending-chunk-has-one-store",
    aliases=("I-42",),
    source="contract I-42, V-07",
    doc="A pending chunk is written by exactly one job that has not ended.",
    slices=EVERY,
    formula=forall(
        c,
        chunk_state(c).eq(chunk_states["pending"]) >> card(_j, live(_j) & ~job_loads(_j) & job_chunk(_j).eq(c)).eq(1),
    ),
    premise=exists(c, chunk_state(c).eq(chunk_states["pending"])),
)

LOADED_CHUNK_STAYS = Invariant(
    id="pinned-chunk-is-never-evicted",
    aliases=("I-40",),
    source="contract I-40",
    doc="The chunk that an open load reads is ready.",
    slices=(LOAD, LOAD_ACK),
    formula=forall(
        j,
        (live(j) & job_loads(j)) >> chunk_state(job_chunk(j)).eq(chunk_states["ready"]),
    ),
    premise=exists(j, live(j) & job_loads(j)),
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
        block_state(b).eq(block_states["used"]) >> (exists(r, holds(r, b)) | (pins() & is_read_by_store(b))),
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
        >> request_state(r).one_of(*(request_states[s] for s in ("waiting", "loading", "scheduled", "held"))),
    ),
    premise=exists(r, b, holds(r, b)),
)  # fmt: skip

TARGET_STAYS = Invariant(
    id="load-target-stays-owned",
    aliases=("I-25",),
    source="contract I-25",
    doc="The block that an open load fills is in the table of a request that is loading, or held for it.",
    slices=(LOAD, LOAD_ACK),
    formula=forall(
        j,
        open_load(j)
        >> exists(
            r,
            holds(r, job_block(j)) & request_state(r).one_of(request_states["loading"], request_states["held"]),
        ),
    ),
    premise=exists(j, open_load(j)),
)

SOURCE_BELONGS = ActionProperty(
    id="job-moves-blocks-of-its-request",
    aliases=("I-30",),
    source="contract I-30",
    doc="What a request's visit publishes, stores or loads into is in its table.",
    slices=EVERY,
    actions=("plan_store", "publish"),
    formula=holds(r, b),
)

# Lemmas: what the scheduler's bookkeeping means, in terms of jobs and messages.

SET_NAMES_OPEN = Invariant(
    id="dedup-set-names-open-stores",
    source="seeds 004: else the block would be skipped for ever",
    doc="A block in the dedup set is read by an open store.",
    slices=EVERY,
    formula=forall(b, in_flight(b) >> exists(j, open_store(j) & job_block(j).eq(b))),
    lemma=True,
)
OPEN_IN_SET = Invariant(
    id="open-stores-are-in-dedup-set",
    source="seeds 004",
    doc="The block that an open store reads is in the dedup set.",
    slices=EVERY,
    formula=forall(j, open_store(j) >> in_flight(job_block(j))),
    lemma=True,
)
ONE_OPEN = Invariant(
    id="one-open-store-per-block",
    source="seeds 004; stronger than needed: of whatever allocation",
    doc="No two open stores read the same block.",
    slices=TWO_JOBS,
    formula=forall(j, j2, (open_store(j) & open_store(j2) & job_block(j).eq(job_block(j2))) >> j.eq(j2)),
    lemma=True,
)
ENDED_LEFT_NOTHING = Invariant(
    id="ended-jobs-left-nothing",
    source="contract I-46, I-58",
    doc="A job that is not live has no report under way, no copy at any worker, and no worker is still to get it.",
    slices=EVERY,
    formula=forall(
        j,
        ~live(j)
        >> (
            done(j).eq(0)
            & undone(j).eq(0)
            & forall(w, store_meta(w, j).eq(0) & load_meta(w, j).eq(0) & copy_state(w, j).eq(copy_states["idle"]))
        ),
    ),
    lemma=True,
)
REPORTS_COUNTED = Invariant(
    id="reports-are-counted",
    aliases=("I-46",),
    source="contract I-46, 2.3",
    doc="A live job waits for exactly the workers that still have it and the reports under way.",
    slices=EVERY,
    formula=forall(
        j,
        live(j) >> (pending_count(j).eq(card(w, with_worker(w, j)) + done(j) + undone(j)) & (pending_count(j) > 0)),
    ),
    lemma=True,
)
NOT_DUPLICATED = Invariant(
    id="messages-are-not-duplicated",
    source="contract R-23, R-49",
    doc="Metadata names a job to a worker once, and only while the worker does not have it yet.",
    slices=EVERY,
    formula=forall(
        w, j,
        (store_meta(w, j) <= 1) & (load_meta(w, j) <= 1)
        & ((store_meta(w, j) > 0) >> ~(load_meta(w, j) > 0))
        & (((store_meta(w, j) > 0) | (load_meta(w, j) > 0)) >> copy_state(w, j).eq(copy_states["idle"])),
    ),
    lemma=True,
)  # fmt: skip
STEP_MESSAGES = Invariant(
    id="a-step-message-per-worker",
    source="contract R-23, pipeline depth 1",
    doc="A worker has a step to run, or an output to deliver, only while a step is executing.",
    slices=EVERY,
    formula=forall(
        w,
        ite(phase().eq(phases["executing"]), (step(w) + output(w)).eq(1), (step(w) + output(w)).eq(0)),
    ),
    lemma=True,
)
METADATA_ARRIVES = Invariant(
    id="metadata-arrives-with-its-step",
    source="contract R-23; channel discipline with_step",
    doc=(
        "Metadata under way belongs to the step being built or to one that its worker has still to run; a flush "
        "order may outlive its job, but not the step."
    ),
    slices=EVERY,
    formula=forall(
        w, j,
        ((store_meta(w, j) > 0) | (load_meta(w, j) > 0) | (flush_meta(w, j) > 0))
        >> (
            (phase().eq(phases["scheduling"]) & live(j))
            | (phase().eq(phases["executing"]) & (step(w) > 0))
        ),
    ),
    lemma=True,
)  # fmt: skip
FENCE_IS_TRUE = Invariant(
    id="fence-marks-reallocated-sources",
    source="contract I-27, I-28",
    doc="An open store must be flushed by this step's metadata if and only if its source was allocated again.",
    slices=EVERY,
    formula=forall(j, open_store(j) >> must_flush(j).eq(~reads_current(j))),
    lemma=True,
)

COUNT_IS_RELEASED_ONCE = ActionProperty(
    id="a-job-ends-with-its-last-report",
    source="contract J11, I-46",
    doc="A report ends a job exactly if no other report was due.",
    slices=EVERY,
    actions=("acknowledge", "acknowledge_failure"),
    formula=pending_count(j).eq(1).eq(~Primed(body=live(j))),
)

FORWARD_READS = ActionProperty(
    id="forward-reads-own-prefix",
    source="contract I-23; the content oracle",
    doc="When a worker's forward runs, each block of a request holds there the prefix that the request took it for.",
    slices=(FINISH, PARTIAL, LOAD),
    actions=("run_step",),
    formula=forall(
        r, b,
        (holds(r, b) & ~due(b)) >> forall(h, expects(r, b, h) >> gpu_value(w, b, h)),
    ),
)  # fmt: skip

JOBS_COMPLETE = LeadsTo(
    id="issued-jobs-complete",
    aliases=("V-06",),
    source="vLLM PR 42611; contract V-06",
    doc="Every job that is planned ends, without a new request arriving, as long as the engine keeps stepping.",
    slices=(STORE, PARTIAL, LOAD_ACK),
    vars=(j,),
    premise=live(j),
    conclusion=~live(j),
)

HELD_ARE_RELEASED = LeadsTo(
    id="held-requests-are-released",
    aliases=("V-02",),
    source="contract V-01, V-02, R-20",
    doc="A request that ended while it was loading gives its blocks back.",
    slices=(LOAD, LOAD_ACK),
    vars=(r,),
    premise=request_state(r).eq(request_states["held"]),
    conclusion=request_state(r).ne(request_states["held"]),
)

STORE_CARRIES_NO_OPEN = BoundaryClause(
    id="store-carries-no-open-block",
    source="seeds 004; incremental form of no-block-stored-twice-in-flight",
    doc="Metadata that carries a store finds no open store of that block in that allocation.",
    slices=TWO_JOBS,
    action="plan_store",
    formula=~exists(j2, open_store(j2) & reads_current(j2) & job_block(j2).eq(b)),
    invariant="no-block-stored-twice-in-flight",
)
FINISH_STORE_CARRIES_NO_OPEN = BoundaryClause(
    id="finish-store-carries-no-open-block",
    source="seeds 004; contract J5",
    doc=(
        "A finish-time store finds no open store of that block in the allocation that its request had; that "
        "the block was allocated again in the same metadata is no fault."
    ),
    slices=(FINISH_TWICE,),
    action="plan_finish_store",
    formula=~exists(j2, open_store(j2) & reads_current(j2).eq(~fresh(b)) & job_block(j2).eq(b)),
    invariant="no-block-stored-twice-in-flight",
)


_used_by_open_job = exists(j2, (open_store(j2) | open_load(j2)) & job_chunk(j2).eq(c))
STORE_TARGET_FREE = BoundaryClause(
    id="store-target-is-in-no-open-job",
    source="contract I-40 to I-42, R-28",
    doc="Metadata stores into a chunk that no open store writes and no open load reads.",
    slices=TWO_JOBS,
    action="plan_store",
    formula=~_used_by_open_job,
    invariant="pending-chunk-has-one-store",
)
FINISH_STORE_TARGET_FREE = BoundaryClause(
    id="finish-store-target-is-in-no-open-job",
    source="contract I-40 to I-42, R-28",
    doc="The same for a store at the finish.",
    slices=(FINISH_TWICE,),
    action="plan_finish_store",
    formula=~_used_by_open_job,
    invariant="pending-chunk-has-one-store",
)
LOAD_SOURCE_SETTLED = BoundaryClause(
    id="load-source-is-not-being-written",
    source="contract R-06, I-43",
    doc="Metadata loads from a chunk that no open store is still writing.",
    slices=(LOAD, LOAD_ACK),
    action="plan_load",
    formula=~exists(j2, open_store(j2) & job_chunk(j2).eq(c)),
    invariant="ready-chunk-holds-its-prefix",
)


def _witness(
    id_: str, formula: Term, doc: str, *slices: str, source: str = "vacuity guard", applies: Term = TRUE
) -> Witness:
    return Witness(id=id_, formula=formula, doc=doc, slices=slices or EVERY, source=source, applies=applies)


WITNESSES = (
    _witness(
        "two-live-stores-of-one-block",
        exists(
            j, j2,
            j.ne(j2) & live(j) & ~job_loads(j) & live(j2) & ~job_loads(j2) & job_block(j).eq(job_block(j2)),
        ),
        "A block is stored again while the flushed store of its allocation before is still to be acknowledged.",
        *TWO_JOBS,
        applies=~pins(),
    ),
    _witness(
        "some-workers-fail",
        exists(j, failure_seen(j) & (pending_count(j) > 0) & ~job_loads(j)),
        "One worker has failed and others are still to report.",
        PARTIAL,
    ),
    _witness("some-job-is-live", exists(j, live(j)), "A job is planned."),
    _witness("some-job-completes", exists(j, job_state(j).eq(job_states["completed"])), "A job completes."),
    _witness("some-store-fails", exists(j, job_state(j).eq(job_states["failed"])), "A store fails.", *FAILING),
    _witness(
        "second-store-of-one-allocation",
        exists(j, open_store(j) & reads_current(j) & scan_result(job_block(j)).eq(scan_results["passed_again"])),
        "A block is stored again in the same allocation after its first store completed and the chunk was evicted.",
        STORE,
        source="seeds 004",
    ),
    _witness(
        "two-blocks-with-one-hash",
        exists(b, b2, b.ne(b2) & hashed(b) & hashed(b2) & block_hash(b).eq(block_hash(b2))),
        "Two blocks hold one prefix, because a fully cached prompt computes its last block again.",
        STORE, LOAD,
        source="seeds 004; contract 3.1",
    ),
    _witness(
        "finish-store-of-a-reallocated-block",
        exists(j, job_state(j).eq(job_states["flush_requested"]) & ~reads_current(j) & phase().eq(phases["scheduling"])
               & exists(b, job_block(j).eq(b) & fresh(b)) & exists(r, request_state(r).eq(request_states["finished"]))),
        "A finish-time store and the reallocation of its block in one metadata: flushed, and clean.",
        FINISH,
        source="seeds 004, boundary test; contract J5",
        applies=~pins(),
    ),
    _witness(
        "some-request-is-held",
        exists(r, request_state(r).eq(request_states["held"])),
        "A request ends while it is loading.",
        LOAD,
        LOAD_ACK,
    ),
    _witness(
        "some-load-completes",
        exists(j, job_loads(j) & job_state(j).eq(job_states["completed"])),
        "A load completes.",
        LOAD,
        LOAD_ACK,
    ),
)  # fmt: skip

PROPERTIES = (
    NO_BLOCK_STORED_TWICE, SERVED, NOT_LOST, READY_IS_TRUE, HASHED_IS_TRUE, SOURCE_STABLE, PENDING_HAS_A_STORE,
    LOADED_CHUNK_STAYS, HELD_IS_USED, USED_HAS_A_USER, HOLDER_IS_ALIVE, TARGET_STAYS, SET_NAMES_OPEN, OPEN_IN_SET,
    ONE_OPEN, ENDED_LEFT_NOTHING, REPORTS_COUNTED, NOT_DUPLICATED, STEP_MESSAGES, METADATA_ARRIVES, FENCE_IS_TRUE,
    COUNT_IS_RELEASED_ONCE, FORWARD_READS, SOURCE_BELONGS, JOBS_COMPLETE, HELD_ARE_RELEASED, STORE_CARRIES_NO_OPEN,
    FINISH_STORE_CARRIES_NO_OPEN,
    STORE_TARGET_FREE, FINISH_STORE_TARGET_FREE, LOAD_SOURCE_SETTLED,
    *WITNESSES,
)  # fmt: skip
