"""What must be able to happen: guards against properties that hold because nothing does."""

from __future__ import annotations

from interlock.spec.kv.coverage import (
    BROKEN,
    BUSY,
    DEDUP,
    EVERY,
    FAILING,
    FINISH,
    FINISH_TWICE,
    IDLE,
    LOAD,
    LOAD_ACK,
    LOADED_WAITS,
    PARTIAL,
    RESET,
    RESET_LOAD,
    STORE,
    THREE,
    TINY,
    WINDOWED,
    WITH_REST,
)
from interlock.spec.kv.judging import (
    belongs_to,
    is_a_source,
    live,
    live_store,
    of_some_request,
    open_store,
    stale,
    stale_load,
)
from interlock.spec.kv.predicates import pins
from interlock.spec.kv.vocabulary import (
    b,
    b2,
    block_hash,
    c,
    chunk_state,
    chunk_states,
    failure_seen,
    finish_store,
    flush_meta,
    fresh,
    hashed,
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
    match_busy,
    must_flush,
    pending_count,
    phase,
    phases,
    r,
    r2,
    reads_current,
    request_state,
    request_states,
    scan_result,
    scan_results,
    scanned,
    store_choice,
    store_meta,
    store_mode,
    w,
    worker,
)
from interlock.spec.language.properties import witnesses_of
from interlock.spec.language.terms import Primed, exists, forall

_witness = witnesses_of("", *EVERY)

WITNESSES = (
    _witness(
        "two-live-stores-of-one-block",
        exists(
            j, j2,
            j.ne(j2) & live_store(j) & live_store(j2) & job_block(j).eq(job_block(j2)),
        ),
        "A block is stored again while the flushed store of its allocation before is still to be acknowledged.", DEDUP,
        FINISH_TWICE, applies=~pins(),
    ),
    _witness(
        "some-workers-fail", exists(j, failure_seen(j) & (pending_count(j) > 0) & ~job_loads(j)),
        "One worker has failed and others are still to report.", PARTIAL, THREE,
    ),
    _witness(
        "one-report-of-three-is-due", exists(j, live(j) & (pending_count(j) + 2).eq(worker.size)),
        "Of three workers two have reported on a job.", THREE, source="contract 2.3, section 10: workers 1..3",
    ),
    _witness("some-job-is-live", exists(j, live(j)), "A job is planned."),
    _witness("some-job-completes", exists(j, job_state(j).eq(job_states["completed"])), "A job completes."),
    _witness("some-store-fails", exists(j, job_state(j).eq(job_states["failed"])), "A store fails.", *FAILING),
    _witness(
        "second-store-of-one-allocation",
        exists(j, open_store(j) & reads_current(j) & scan_result(job_block(j)).eq(scan_results["passed_again"])),
        "A block is stored again in the same allocation after its first store completed and the chunk was evicted.",
        STORE, source="seeds 004",
    ),
    _witness(
        "two-blocks-with-one-hash", exists(b, b2, b.ne(b2) & hashed(b) & hashed(b2) & block_hash(b).eq(block_hash(b2))),
        "Two blocks hold one prefix, because a fully cached prompt computes its last block again.", STORE, LOAD,
        source="seeds 004; contract 3.1",
    ),
    _witness(
        "finish-store-of-a-reallocated-block",
        exists(j, job_state(j).eq(job_states["flush_requested"]) & ~reads_current(j) & phase().eq(phases["scheduling"])
               & exists(b, job_block(j).eq(b) & fresh(b)) & exists(r, request_state(r).eq(request_states["finished"]))),
        "A finish-time store and the reallocation of its block in one metadata: flushed, and clean.", FINISH,
        source="seeds 004, boundary test; contract J5", applies=~pins() & finish_store.is_("yes"),
    ),
    _witness(
        "some-request-is-held", exists(r, request_state(r).eq(request_states["held"])),
        "A request ends while it is loading.", TINY, LOAD, LOAD_ACK, THREE,
    ),
    _witness(
        "some-load-completes", exists(j, job_loads(j) & job_state(j).eq(job_states["completed"])), "A load completes.",
        TINY, LOAD, LOAD_ACK, THREE,
    ),
    _witness(
        "last-step-flushes-a-load", exists(j, job_loads(j) & job_state(j).eq(job_states["flush_requested"])),
        "All requests have ended, one of them while it was loading: the flush names the load.", TINY, LOAD_ACK,
        source="seeds 002: aborted while loading", applies=idle.is_("flush", "flush_before_plan"),
    ),
    _witness(
        "last-step-flushes-a-finish-store",
        phase().eq(phases["executing"])
        & exists(
            j, w, job_state(j).eq(job_states["flush_requested"]) & (store_meta(w, j) > 0) & (flush_meta(w, j) > 0)
        ),
        "The last metadata plans a store and orders its flush.", IDLE, source="seeds 002",
        applies=idle.is_("flush") & finish_store.is_("yes"),
    ),
    _witness(
        "a-scan-passes-over-a-block", Primed(body=scanned(r, b)),
        "A scan passes over a block because its store is under way, it is stored, or there is no room.", TINY, STORE,
        DEDUP, actions=("skip_store",), source="contract J2, J3",
    ),
    _witness(
        "a-scan-finds-no-room",
        Primed(body=scan_result(b).eq(scan_results["excused"]))
        & forall(c, chunk_state(c).eq(chunk_states["pending"])),
        "A scan passes over a block because every chunk is being written.", STORE,
        actions=("skip_store",), source="contract J3: no room",
        applies=store_choice.is_("every_block") & store_mode.is_("eager"),
    ),
    _witness(
        "a-scan-leaves-a-block-by-choice",
        Primed(body=scan_result(b).eq(scan_results["excused"])) & exists(c, chunk_state(c).eq(chunk_states["absent"])),
        "A scan passes over a block that has room, because the connector chooses so.", TINY, STORE,
        actions=("skip_store",), source="contract J3: below threshold", applies=store_choice.is_("some_blocks"),
    ),
    _witness(
        "the-source-of-a-running-requests-store-is-given-away",
        exists(j, open_store(j) & job_block(j).eq(b) & ~holds(job_request(j), b)
               & request_state(job_request(j)).eq(request_states["scheduled"])),
        "A block has slid out of the window of a request that goes on, a store reads it, and it is given away.",
        WINDOWED, actions=("allocate",), source="contract G6, 5(d); seeds 003: fenced when the store is planned",
        applies=~pins(),
    ),
    _witness(
        "some-load-fails-on-one-worker", exists(j, failure_seen(j) & job_loads(j) & (pending_count(j) > 0)),
        "One worker has failed to load, and the other is still to report.", BROKEN, source="contract R-43",
    ),
    _witness(
        "a-report-is-heard-while-a-step-executes", phase().eq(phases["executing"]),
        "A worker's report is counted before the output of the step that is under way.", TINY,
        actions=("acknowledge",), source="contract J11; 6.1: reports come with the output of any step",
    ),
    _witness(
        "a-report-is-heard-after-the-output", phase().eq(phases["updated"]),
        "A worker's report is counted between the output of a step and the next schedule().", TINY,
        actions=("acknowledge",), source="contract J11; 6.1: reports come with the output of any step",
    ),
    _witness(
        "a-load-ends-before-the-store-of-what-was-there", exists(b, holds(r, b) & is_a_source(b)),
        "A request whose load has ended goes on, though a store that a reset has forgotten may still read its block.",
        RESET_LOAD, actions=("loaded",), source="contract L3, L6, 2.1 flush sources (load dst)",
        applies=~pins() & store_mode.is_("eager") & kv_reset.is_("forget", "flush"),
    ),
    _witness("a-step-is-with-the-workers", phase().eq(phases["executing"]), "A step is executing.", TINY),
    _witness("engine-comes-to-rest", phase().eq(phases["resting"]), "The engine has nothing to do.", *WITH_REST),
    _witness(
        "chunk-is-used-again-after-a-reset", exists(j, j2, stale(j) & live(j2) & job_chunk(j).eq(job_chunk(j2))),
        "A chunk is stored into while a job that a reset has made stale has still to be reported on.", RESET,
        RESET_LOAD, source="contract L6", applies=kv_reset.is_("forget", "flush"),
    ),
    _witness(
        "stale-load-beside-a-new-store", exists(j, j2, stale_load(j) & live_store(j2) & job_chunk(j).eq(job_chunk(j2))),
        "A chunk is stored into while a load that a reset has made stale may still read it.", RESET_LOAD,
        source="contract L6, I-58", applies=kv_reset.is_("forget", "flush"),
    ),
    _witness(
        "a-chunk-is-served-past-a-refused-reset",
        exists(j, stale_load(j) & chunk_state(job_chunk(j)).eq(chunk_states["ready"])),
        "A reset has forgotten a load and left ready what it reads.", TINY, RESET_LOAD, BROKEN,
        source="simple_kv_offload/manager.py:1443 of 0.32.0", applies=kv_reset.is_("hold"),
    ),
    _witness(
        "preempted-request-loads-again",
        exists(j, j2, live(j) & live(j2) & j.ne(j2) & of_some_request(j) & belongs_to(j2, job_request(j))),
        "A request has two open jobs.", BUSY, applies=match_busy.is_("proceed") & ~pins(),
    ),
    _witness(
        "a-loaded-request-waits-beside-an-open-job",
        exists(
            j, r,
            live(j) & ~must_flush(j) & request_state(r).eq(request_states["waiting"]) & exists(b, holds(r, b))
            & forall(r2, r2.eq(r) | request_states.one_of(request_state(r2), "held", "finished", "absent")),
        ),
        "All requests have ended but one, which has loaded and waits to go on, and a job is open.", LOADED_WAITS,
        source="seeds 002: all tracked requests have finished; contract Q13",
    ),
    _witness(
        "last-flush-beside-a-request-nobody-asked-about",
        ~must_flush(j) & exists(r, request_state(r).eq(request_states["waiting"]) & forall(b, ~holds(r, b))),
        "All tracked requests have finished, and a job is flushed for that, while another waits in the queue.", FINISH,
        applies=idle.is_("flush", "flush_before_plan"), actions=("order_flush",),
        source="seeds 002: a request that is queued but was never asked about does not prevent it",
    ),
)  # fmt: skip
