"""The properties: what must never happen, what must happen, and what must be able to happen."""

from __future__ import annotations

from interlock.spec.kv.bookkeeping import BOOKKEEPING
from interlock.spec.kv.coverage import (
    BROKEN,
    EVERY,
    FINISH,
    FINISH_TWICE,
    IDLE,
    LAZY,
    LIVENESS,
    LOAD,
    LOAD_ACK,
    RESET,
    RESET_LOAD,
    RESET_PREFIXES,
    STORE,
    THREE,
    TINY,
    TWO_CHUNKS,
    TWO_JOBS,
    WINDOWED,
    WITH_CONTENT,
    WITH_LOADS,
)
from interlock.spec.kv.flushing import FLUSHING
from interlock.spec.kv.judging import is_a_target, is_stored, live, live_load, live_store, open_store, under_way
from interlock.spec.kv.lazy import LAZY_STORES
from interlock.spec.kv.lemmas import LEMMAS, WELL_COUNTED
from interlock.spec.kv.others import OTHERS
from interlock.spec.kv.ownership import OWNERSHIP
from interlock.spec.kv.references import REFERENCES
from interlock.spec.kv.resets import RESETS
from interlock.spec.kv.stable import STABLE
from interlock.spec.kv.vocabulary import (
    b,
    block_hash,
    c,
    chunk_hash,
    chunk_state,
    chunk_states,
    copy_state,
    copy_states,
    cpu_value,
    due,
    due_value,
    expects,
    finish_store,
    fresh,
    gpu_value,
    h,
    h2,
    hashed,
    holds,
    j,
    j2,
    job,
    job_block,
    job_chunk,
    job_loads,
    kept,
    kv_reset,
    load_value,
    pending_count,
    phase,
    phases,
    r,
    reads_current,
    request_state,
    request_states,
    scan_result,
    scan_results,
    store_mode,
    w,
)
from interlock.spec.kv.witnesses import WITNESSES
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Ground, Invariant, LeadsTo, Property
from interlock.spec.language.terms import Primed, exists, forall

_j = job.var("jy")
_same_source = open_store(j) & open_store(j2) & job_block(j).eq(job_block(j2)) & reads_current(j).eq(reads_current(j2))

NO_BLOCK_STORED_TWICE = Invariant(
    id="no-block-stored-twice-in-flight",
    aliases=("V-DEDUP",),
    source="vLLM PR 41289; seeds 004",
    doc="No two open stores read the same block in the same allocation.",
    slices=(*TWO_JOBS, LAZY),
    formula=forall(j, j2, _same_source >> j.eq(j2)),
    premise=exists(j, open_store(j)),
    proved=True,
    proof=(
        "open-stores-are-in-dedup-set",
        "one-open-store-per-block",
        "planned-jobs-go-with-this-metadata",
        *WELL_COUNTED,
    ),
    grounds=(
        Ground(action="plan_store", conjunct="not-in-flight"),
        Ground(action="plan_finish_store", conjunct="not-in-flight"),
    ),
)

_passed_over = hashed(b) & scan_results.one_of(scan_result(b), "passed", "passed_again")
_own_store = exists(j, live_store(j) & job_block(j).eq(b) & reads_current(j))
_store_of_its_hash = exists(j, live_store(j) & chunk_hash(job_chunk(j)).eq(block_hash(b)))

SERVED = Invariant(
    id="computed-and-kept-is-served",
    source="vLLM PR 41289; seeds 004; known failures, family EFFECT",
    doc=(
        "A computed, hashed block that a store scan has passed over is being read by a store of its own or has "
        "its hash in a ready chunk, unless its own store failed, the scan found no room, or the chunk was evicted."
    ),
    slices=(TINY, STORE, FINISH, FINISH_TWICE, TWO_CHUNKS),
    applies=store_mode.is_("eager"),
    formula=forall(b, _passed_over >> (_own_store | is_stored(b))),
    premise=exists(b, _passed_over),
)

NOT_LOST = Invariant(
    id="passed-over-is-not-lost",
    source="seeds 004: why dedup goes by id and not by hash",
    doc=(
        "As computed-and-kept-is-served, but a store of another block with the same hash counts while it is "
        "open: what is passed over is lost only once that store has failed."
    ),
    slices=(TINY, STORE, FINISH, FINISH_TWICE),
    applies=store_mode.is_("eager"),
    formula=forall(b, _passed_over >> (_own_store | _store_of_its_hash | is_stored(b))),
    premise=exists(b, _passed_over),
)

HOLDS_ONE_PREFIX = Invariant(
    id="block-and-chunk-hold-one-prefix",
    source="the content oracle",
    doc="The shard of a block, before a forward and after it, and that of a chunk are the KV of at most one prefix.",
    slices=(FINISH, LOAD, WINDOWED),
    formula=forall(w, b, h, h2, (gpu_value(w, b, h) & gpu_value(w, b, h2)) >> h.eq(h2))
    & forall(b, h, h2, (due_value(b, h) & due_value(b, h2)) >> h.eq(h2))
    & forall(w, c, h, h2, (cpu_value(w, c, h) & cpu_value(w, c, h2)) >> h.eq(h2)),
    premise=exists(w, b, h, gpu_value(w, b, h)),
)
READY_IS_TRUE = Invariant(
    id="ready-chunk-holds-its-prefix",
    aliases=("I-43",),
    source="contract I-31, I-43",
    doc="What lookup can find in the CPU tier is, on every worker, the KV of the prefix that it is found under.",
    slices=(*WITH_CONTENT, TWO_CHUNKS, RESET_PREFIXES),
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
    slices=WITH_CONTENT,
    formula=forall(b, w, (hashed(b) & ~due(b)) >> gpu_value(w, b, block_hash(b))),
    premise=exists(b, hashed(b) & ~due(b)),
)

SOURCE_STABLE = Invariant(
    id="store-source-stable",
    aliases=("I-27", "I-29"),
    source="contract I-27 to I-29; seeds 003",
    doc="Until a worker has copied a store, its source holds there what the store is to save.",
    slices=WITH_CONTENT,
    formula=forall(
        w, j,
        (copy_state(w, j).eq(copy_states["store_queued"]) & live(j))
        >> (gpu_value(w, job_block(j), chunk_hash(job_chunk(j)))),
    ),
    premise=exists(w, j, copy_state(w, j).eq(copy_states["store_queued"])),
)  # fmt: skip

STORED_IS_THERE = ActionProperty(
    id="a-store-is-planned-of-what-is-there",
    policy=True,
    source="contract R-43, I-31; seeds 001",
    doc=(
        "A scan stores a block under a key only if every worker has that prefix there, or computes it in this step: "
        "not what a load has failed to bring, even to one worker."
    ),
    slices=WITH_CONTENT,
    applies=~kv_reset.is_("ignored"),
    actions=("plan_store", "plan_lazy_store"),
    formula=forall(w, gpu_value(w, b, block_hash(b))) | due_value(b, block_hash(b)),
)

LOADED_IS_WHOLE = ActionProperty(
    id="a-published-load-is-whole",
    source="contract Q13, Q14, R-43",
    doc="What becomes addressable because it was loaded is that prefix on every worker.",
    slices=(TINY, LOAD, RESET_LOAD, BROKEN),
    actions=("publish_loaded",),
    formula=forall(w, gpu_value(w, b, h)),
)

FAILED_IS_COMPUTED = ActionProperty(
    id="a-failed-load-is-computed-instead",
    source="contract Q14, Q15, R-43; seeds 001",
    doc="With the last report on a load that failed on some worker, its block counts as loaded with nothing.",
    slices=(TINY, BROKEN),
    actions=("acknowledge_failure",),
    formula=(job_loads(j) & pending_count(j).eq(1))
    >> forall(b, job_block(j).eq(b) >> Primed(body=forall(h, ~load_value(b, h)))),
)

ANEW_WITH_NOTHING = ActionProperty(
    id="a-request-looked-up-anew-holds-nothing",
    source="contract Q15, I-12",
    doc=(
        "A request that is looked up anew, because its load failed, has been waiting with what no load fills any more, "
        "and gives all of it back: what it is given next is new to it."
    ),
    slices=(TINY, BROKEN),
    actions=("look_up_anew",),
    formula=request_state(r).eq(request_states["waiting"])
    & forall(b, holds(r, b) >> ~is_a_target(b))
    & exists(b, holds(r, b) & ~hashed(b) & forall(h, ~load_value(b, h)))
    & Primed(body=forall(b, ~holds(r, b)) & phase().eq(phases["scheduling"])),
)

FAILED_LEAVES_NOTHING = ActionProperty(
    id="a-failed-load-leaves-garbage",
    source="contract R-43; the content oracle",
    doc=(
        "Where the copy of a load fails, no prefix is in its block, not even one that was there before. (It restates "
        "the action: the worst that a failed copy can do is assumed.)"
    ),
    slices=(TINY, BROKEN),
    actions=("load_fails",),
    formula=Primed(body=forall(h, ~gpu_value(w, job_block(j), h))),
)

SOURCE_BELONGS = ActionProperty(
    id="job-moves-blocks-of-its-request",
    aliases=("I-30",),
    source="contract I-30",
    doc="What a request's visit publishes, stores or loads into is in its table.",
    slices=EVERY,
    actions=("plan_store", "publish", "publish_loaded", "plan_load"),
    formula=holds(r, b),
)

SLIDES_FROM_ITS_TABLE = ActionProperty(
    id="a-block-slides-out-of-its-table",
    source="contract G6",
    doc="What slides out is in its request's table before, and not after, and no step has still to compute it.",
    slices=(WINDOWED,),
    actions=("slide_out",),
    formula=holds(r, b) & ~Primed(body=holds(r, b)) & ~due(b),
)

GOES_ON_IN_ITS_BLOCKS = ActionProperty(
    id="a-loaded-request-goes-on-in-its-blocks",
    source="contract Q11, Q13",
    doc="A request that a schedule() admits after its load has blocks, and no load fills one of them.",
    slices=(WINDOWED,),
    actions=("admit_loaded",),
    formula=exists(b, holds(r, b))
    & forall(b, holds(r, b) >> ~is_a_target(b))
    & Primed(body=phase().eq(phases["scheduling"])),
)

COUNT_IS_RELEASED_ONCE = ActionProperty(
    id="a-job-ends-with-its-last-report",
    source="contract J11, I-46",
    doc="A report ends a job exactly if no other report was due.",
    slices=EVERY,
    actions=("acknowledge", "acknowledge_failure"),
    formula=pending_count(j).eq(1).eq(~Primed(body=under_way(j))),
)

FORWARD_READS = ActionProperty(
    id="forward-reads-own-prefix",
    source="contract I-23; the content oracle",
    doc="When a worker's forward runs, each block of a request holds there the prefix that the request took it for.",
    slices=WITH_CONTENT,
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
    doc="Every job that is planned ends, even if no request arrives any more.",
    slices=(*LIVENESS, LAZY),
    vars=(j,),
    premise=live(j),
    conclusion=~live(j),
)

HELD_ARE_RELEASED = LeadsTo(
    id="held-requests-are-released",
    aliases=("V-02",),
    source="contract V-01, V-02, R-20",
    doc="A request that ended while it was loading gives its blocks back.",
    slices=(TINY, LOAD, LOAD_ACK, THREE, BROKEN),
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
    slices=(FINISH_TWICE, IDLE, RESET),
    applies=finish_store.is_("yes"),
    action="plan_finish_store",
    formula=~exists(j2, open_store(j2) & reads_current(j2).eq(~fresh(b)) & job_block(j2).eq(b)),
    invariant="no-block-stored-twice-in-flight",
)


_used_by_open_job = exists(j2, (open_store(j2) | live_load(j2)) & job_chunk(j2).eq(c))
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
    slices=(FINISH_TWICE, IDLE, RESET),
    applies=finish_store.is_("yes"),
    action="plan_finish_store",
    formula=~_used_by_open_job,
    invariant="pending-chunk-has-one-store",
)
STORE_SOURCE_PUBLISHED = BoundaryClause(
    id="store-source-was-published",
    source="contract I-31",
    doc=(
        "Metadata stores a block that its request has published: the scheduler publishes what is full of tokens that "
        "are computed, and a block that the last sampled token fills is not."
    ),
    slices=(FINISH_TWICE, IDLE, RESET),
    applies=finish_store.is_("yes"),
    action="plan_store",
    formula=hashed(b) | exists(h, kept(r, b, h)),
    invariant="ready-chunk-holds-its-prefix",
)
LOAD_SOURCE_SETTLED = BoundaryClause(
    id="load-source-is-not-being-written",
    source="contract R-06, I-43",
    doc="Metadata loads from a chunk that no open store is still writing.",
    slices=WITH_LOADS,
    action="plan_load",
    formula=~exists(j2, open_store(j2) & job_chunk(j2).eq(c)),
    invariant="ready-chunk-holds-its-prefix",
)


PROPERTIES: tuple[Property, ...] = (
    NO_BLOCK_STORED_TWICE,
    SERVED,
    NOT_LOST,
    HOLDS_ONE_PREFIX,
    READY_IS_TRUE,
    HASHED_IS_TRUE,
    SOURCE_STABLE,
    STORED_IS_THERE,
    LOADED_IS_WHOLE,
    FAILED_IS_COMPUTED,
    FAILED_LEAVES_NOTHING,
    ANEW_WITH_NOTHING,
    SOURCE_BELONGS,
    SLIDES_FROM_ITS_TABLE,
    GOES_ON_IN_ITS_BLOCKS,
    COUNT_IS_RELEASED_ONCE,
    FORWARD_READS,
    JOBS_COMPLETE,
    HELD_ARE_RELEASED,
    STORE_CARRIES_NO_OPEN,
    FINISH_STORE_CARRIES_NO_OPEN,
    STORE_TARGET_FREE,
    FINISH_STORE_TARGET_FREE,
    STORE_SOURCE_PUBLISHED,
    LOAD_SOURCE_SETTLED,
    *OWNERSHIP,
    *RESETS,
    *STABLE,
    *FLUSHING,
    *REFERENCES,
    *LAZY_STORES,
    *BOOKKEEPING,
    *OTHERS,
    *LEMMAS,
    *WITNESSES,
)
