"""The actions: scheduler visits, metadata, workers' steps and copies, reports.

Pipeline depth 1: the scheduler acts between steps, workers act while a step is with them, copies
happen at any moment between submission and report.
"""

from __future__ import annotations

from interlock.spec.kv.lifecycles import last_report
from interlock.spec.kv.predicates import (
    between_steps,
    dedup_says_skip,
    ended,
    flush_is_due,
    held_by_another,
    is_filled_by_load,
    is_read_by_open_load,
    live,
    no_room,
    open_store,
    pins,
    pool_is_free,
    serves,
    something_to_do,
    stale,
    under_way,
    work_is_reported,
)
from interlock.spec.kv.vocabulary import (
    b,
    block_hash,
    c,
    c2,
    chunk_hash,
    chunk_state,
    chunk_states,
    copy_state,
    copy_states,
    cpu_value,
    done,
    due,
    due_value,
    expects,
    failure_seen,
    finish_store,
    flush_meta,
    fresh,
    gpu_value,
    h,
    h2,
    hashed,
    holds,
    in_flight,
    j,
    j2,
    job_block,
    job_chunk,
    job_loads,
    job_request,
    job_state,
    job_states,
    kept,
    kv_reset,
    load_meta,
    load_value,
    match_busy,
    must_flush,
    output,
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
    step,
    store_meta,
    undone,
    w,
    worker,
)
from interlock.spec.language.actions import (
    Action,
    Conjunct,
    Fairness,
    Fire,
    Update,
    assign,
    assign_all,
    fire,
    fire_all,
    receive,
    receive_all,
    receive_each,
    send,
)
from interlock.spec.language.terms import Term, exists, forall, ite
from interlock.spec.language.variables import Site

SCHEDULER, WORKER = Site.SCHEDULER, Site.WORKER


def need(id_: str, term: Term, *, policy: bool = False) -> Conjunct:
    """A named conjunct of a guard."""
    return Conjunct(id=id_, term=term, policy=policy)


BETWEEN_STEPS = need("between-steps", between_steps())
LISTENING = need("listening", phase().one_of(phases["updated"], phases["executing"]))
STEPPING = need("something-to-do", phase().eq(phases["scheduling"]) | something_to_do(), policy=True)
SCHEDULING = assign(phase(), phases["scheduling"])
FENCE_SETTLED = need(
    "flush-ordered-before-scan",
    ~exists(j2, open_store(j2) & must_flush(j2) & job_block(j2).eq(b)),
    policy=True,
)
NOT_IN_FLIGHT = need("not-in-flight", ~dedup_says_skip(b, block_hash(b)), policy=True)
NOT_STORED = need("not-stored", ~serves(b), policy=True)

add_request = Action(
    name="add_request", event="add_request", params=(r,), site=SCHEDULER,
    guard=(BETWEEN_STEPS,),
    fires=(fire("request", r),),
    updates=(assign(phase(), ite(phase().eq(phases["resting"]), phases["updated"], phase())),),
    source="contract Q1", doc="A request arrives; an engine at rest wakes up.",
)  # fmt: skip

hit = Action(
    name="hit", event="hit", params=(r, b), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b)),
    guard=(BETWEEN_STEPS, need("hashed", hashed(b)), need("not-yet-held", ~holds(r, b))),
    updates=(
        assign(holds(r, b), True),
        assign_all(h, to=expects(r, b, h), value=block_hash(b).eq(h)),
        SCHEDULING,
    ),
    source="contract G2, R-07",
    doc="The prefix cache has a block of r's prefix: r takes a reference to it.",
)  # fmt: skip

allocate = Action(
    name="allocate", event="allocate", params=(r, b), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b)),
    guard=(BETWEEN_STEPS,),
    updates=(
        assign(holds(r, b), True),
        assign(hashed(b), False),
        assign(fresh(b), True),
        # Of a request that has just finished, the cursor still says what it has had stored.
        assign_all(
            r2, to=scanned(r2, b), value=False,
            when=request_state(r2).ne(request_states["finished"]),
        ),
        assign_all(h, to=load_value(b, h), value=False),
        assign_all(
            j, to=must_flush(j), value=True,
            when=open_store(j) & job_block(j).eq(b),
        ),
        assign_all(
            j, to=reads_current(j), value=False,
            when=live(j) & ~job_loads(j) & job_block(j).eq(b),
        ),
        assign(due(b), True),
        assign_all(h, to=due_value(b, h), value=False),
        assign(scan_result(b), scan_results["unscanned"]),
        SCHEDULING,
    ),
    source="contract G1, I-22, I-28",
    doc=(
        "r gets a free block: what it held is no longer addressable, an open store that reads it must be "
        "flushed by this step's metadata, and this step's forward may write it."
    ),
)  # fmt: skip

publish = Action(
    name="publish", event="publish", params=(r, b, h), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b)),
    guard=(
        BETWEEN_STEPS,
        need("held", holds(r, b)),
        need("not-hashed", ~hashed(b)),
        need("computed-here", ~exists(h2, load_value(b, h2))),
    ),
    updates=(
        assign(hashed(b), True),
        assign(block_hash(b), h),
        assign(due(b), True),
        assign_all(h2, to=due_value(b, h2), value=h2.eq(h)),
        assign(expects(r, b, h), True),
        SCHEDULING,
    ),
    source="contract G3: the hash is published before the step that computes the block has run",
    doc="A block of r becomes full in this step and addressable at once.",
)  # fmt: skip

publish_loaded = Action(
    name="publish_loaded", event="publish", params=(r, b, h), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b)),
    guard=(
        BETWEEN_STEPS,
        need("held", holds(r, b)),
        need("not-hashed", ~hashed(b)),
        need("loaded-value", load_value(b, h)),
        need("load-has-ended", ~is_filled_by_load(b)),
    ),
    updates=(
        assign(hashed(b), True),
        assign(block_hash(b), h),
        assign_all(h2, to=load_value(b, h2), value=False),
        assign(expects(r, b, h), True),
        SCHEDULING,
    ),
    source="contract Q13, I-34: loaded blocks are hashed when the request is promoted",
    doc="A loaded block becomes addressable.",
)  # fmt: skip


def _plan(j_updates: tuple[Update, ...], loads: bool) -> tuple[Update, ...]:
    """What planning any job sets: its endpoints, the reports it waits for, the messages to every worker."""
    return (
        assign(job_request(j), r),
        assign(job_loads(j), loads),
        assign(job_block(j), b),
        assign(job_chunk(j), c),
        assign(pending_count(j), worker.size),
        assign(failure_seen(j), False),
        *j_updates,
        SCHEDULING,
    )


_STILL_READ = exists(j2, stale(j2) & job_loads(j2) & job_chunk(j2).eq(c))
"""A chunk's old bytes are of no more interest once a store is to overwrite it, unless a stale load still reads them."""

plan_store = Action(
    name="plan_store", event="plan_store", params=(r, b, c, j), site=SCHEDULER,
    fires=(fire("request", r), fire("chunk", c), fire("job", j)),
    sends=(send(store_meta, w, j, over=(w,)),),
    guard=(
        BETWEEN_STEPS,
        need("held", holds(r, b)),
        need("hashed", hashed(b)),
        need("cursor", ~scanned(r, b), policy=True),
        FENCE_SETTLED,
        NOT_IN_FLIGHT,
        NOT_STORED,
    ),
    updates=_plan(
        (
            assign(chunk_hash(c), block_hash(b)),
            assign(in_flight(b), True),
            assign(scanned(r, b), True),
            assign(must_flush(j), False),
            assign(reads_current(j), True),
            assign(
                scan_result(b),
                ite(
                    scan_result(b).eq(scan_results["evicted"]),
                    scan_results["passed_again"],
                    scan_results["passed"],
                ),
            ),
            assign_all(w, h, to=cpu_value(w, c, h), value=False, when=~_STILL_READ),
        ),
        loads=False,
    ),
    source="contract J1 to J4, 5(e); vLLM PR 41289",
    doc="The store scan of r plans a store of one of its blocks into a free chunk.",
)  # fmt: skip

plan_finish_store = Action(
    name="plan_finish_store", event="plan_store", params=(r, b, h, c, j), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b), fire("chunk", c), fire("job", j)),
    sends=(send(store_meta, w, j, over=(w,)),),
    guard=(
        need("finish-stores-are-made", finish_store.is_("yes"), policy=True),
        BETWEEN_STEPS,
        need("kept-at-finish", kept(r, b, h)),
        need("cursor", ~scanned(r, b), policy=True),
        need("reallocation-is-fenced", ~pins() | ~fresh(b)),
        FENCE_SETTLED,
        need("not-in-flight", ~dedup_says_skip(b, h), policy=True),
        need("not-stored", ~exists(c2, chunk_state(c2).eq(chunk_states["ready"]) & chunk_hash(c2).eq(h)), policy=True),
    ),
    updates=_plan(
        (
            assign(chunk_hash(c), h),
            assign(in_flight(b), True),
            assign(kept(r, b, h), False),
            assign(must_flush(j), fresh(b)),
            assign(reads_current(j), ~fresh(b)),
            assign(scan_result(b), ite(fresh(b), scan_result(b), scan_results["passed"])),
            assign_all(w, h2, to=cpu_value(w, c, h2), value=False, when=~_STILL_READ),
        ),
        loads=False,
    ),
    source="contract J1, J5, R-28: the job of a request that finished in the step before",
    doc=(
        "What a request left unstored at its finish is stored by the next metadata. If the block was "
        "allocated again in that very schedule(), the same metadata must order the flush."
    ),
)  # fmt: skip

skip_store = Action(
    name="skip_store", event="skip_store", params=(r, b), site=SCHEDULER, observed=False,
    guard=(
        BETWEEN_STEPS,
        need("scheduled", request_state(r).eq(request_states["scheduled"])),
        need("held", holds(r, b)),
        need("hashed", hashed(b)),
        need("cursor", ~scanned(r, b)),
        FENCE_SETTLED,
        need("has-a-reason", dedup_says_skip(b, block_hash(b)) | serves(b) | no_room()),
    ),
    updates=(
        assign(scanned(r, b), True),
        assign(
            scan_result(b),
            # Excused by the state, not by the guard: a scan that skips for no reason has passed over b.
            ite(
                no_room() & ~dedup_says_skip(b, block_hash(b)) & ~serves(b),
                scan_results["excused"],
                scan_results["passed"],
            ),
        ),
        SCHEDULING,
    ),
    source="contract J2, J3, 5(e): IN_FLIGHT and ALREADY_CACHED advance the cursor",
    doc="The store scan of r passes over a block: a store of it is under way, it is stored, or the tier is full.",
)  # fmt: skip

evict = Action(
    name="evict", event="evict", params=(c,), site=SCHEDULER, observed=False,
    fires=(fire("chunk", c),),
    guard=(BETWEEN_STEPS, need("not-pinned", ~is_read_by_open_load(c))),
    updates=(
        assign_all(
            b, to=scan_result(b), value=scan_results["evicted"],
            when=scan_result(b).one_of(scan_results["passed"], scan_results["passed_again"])
            & hashed(b) & block_hash(b).eq(chunk_hash(c))
            & ~exists(
                c2,
                c2.ne(c) & chunk_state(c2).eq(chunk_states["ready"]) & chunk_hash(c2).eq(chunk_hash(c)),
            ),
        ),
        assign_all(w, h, to=cpu_value(w, c, h), value=False),
    ),
    source="contract 3.2, I-40",
    doc="The tier evicts a ready chunk that no load reads.",
)  # fmt: skip

plan_load = Action(
    name="plan_load", event="plan_load", params=(r, b, c, j), site=SCHEDULER,
    fires=(fire("request", r), fire("chunk", c), fire("job", j)),
    sends=(send(load_meta, w, j, over=(w,)),),
    guard=(
        BETWEEN_STEPS,
        need("held", holds(r, b)),
        need("not-shared", ~held_by_another(b, r)),
        need("not-hashed", ~hashed(b)),
        need("freshly-allocated", fresh(b)),
        need("not-yet-loading", ~exists(h2, load_value(b, h2))),
        need(
            "no-store-is-open",
            match_busy.is_("proceed") | ~exists(j2, live(j2) & ~job_loads(j2) & job_request(j2).eq(r)),
            policy=True,
        ),
    ),
    updates=_plan(
        (
            assign_all(h2, to=load_value(b, h2), value=h2.eq(chunk_hash(c))),
            assign(due(b), False),
        ),
        loads=True,
    ),
    source="contract 2.1 load job, Q8, I-24",
    doc="A ready chunk is to be loaded into a block that r was just given.",
)  # fmt: skip

order_flush = Action(
    name="order_flush", event="order_flush", params=(j,), site=SCHEDULER,
    fires=(fire("job", j),),
    sends=(send(flush_meta, w, j, over=(w,)),),
    guard=(
        BETWEEN_STEPS,
        STEPPING,
        need("is-a-store", ~job_loads(j)),
        need("only-when-due", must_flush(j) | flush_is_due(j), policy=True),
    ),
    updates=(
        # Ordered again, it is open no longer, and the entry may be that of a later store.
        assign(in_flight(job_block(j)), in_flight(job_block(j)) & ~open_store(j)),
        assign(must_flush(j), False),
        SCHEDULING,
    ),
    fairness=Fairness.WEAK,
    fairness_why="build_connector_meta orders every flush that its fences demand",
    source="contract J5, J9, J12, I-28; vLLM PR 42611",
    doc="This step's metadata orders the workers to finish store j before the forward: it is no longer open.",
)  # fmt: skip

order_flush_of_load = Action(
    name="order_flush_of_load", event="order_flush", params=(j,), site=SCHEDULER,
    fires=(fire("job", j),),
    sends=(send(flush_meta, w, j, over=(w,)),),
    guard=(
        BETWEEN_STEPS,
        STEPPING,
        need("is-a-load", job_loads(j)),
        need("only-when-due", must_flush(j) | flush_is_due(j), policy=True),
    ),
    updates=(assign(must_flush(j), False), SCHEDULING),
    fairness=Fairness.WEAK,
    fairness_why="build_connector_meta orders every flush that is due",
    source="contract J12, 5(c): jobs_to_flush may name loads; vLLM PR 42611",
    doc="The same for a load: its bytes are there before the forward; it stays open until its reports.",
)  # fmt: skip

build_connector_meta = Action(
    name="build_connector_meta", event="build_connector_meta", site=SCHEDULER,
    fires=(fire_all("job", j), fire_all("request", r)),
    sends=(send(step, w, over=(w,)),),
    guard=(
        BETWEEN_STEPS,
        STEPPING,
        need("fenced-are-flushed", forall(j2, ~must_flush(j2)), policy=True),
        need("last-jobs-are-flushed", forall(j2, ~flush_is_due(j2)), policy=True),
    ),
    updates=(
        assign(phase(), phases["executing"]),
        assign_all(b, to=fresh(b), value=False),
        assign_all(r, b, h, to=kept(r, b, h), value=False),
        assign_all(
            r, b, to=scanned(r, b), value=False,
            when=request_state(r).eq(request_states["finished"]),
        ),
        *(
            assign_all(j, to=record(j), value=False, when=ended(j))
            for record in (job_loads, failure_seen, reads_current)
        ),
    ),
    fairness=Fairness.WEAK,
    fairness_why="the engine steps while it has something to do (empty steps included)",
    source="R-22, R-23; contract section 1 engine loop; vLLM PR 42611",
    doc="schedule() ends: metadata with all planned jobs and flushes goes to the workers with the step.",
)  # fmt: skip


rest = Action(
    name="rest", event="rest", site=SCHEDULER, observed=False,
    guard=(
        need("after-update", phase().eq(phases["updated"])),
        need("no-work-is-reported", ~work_is_reported()),
        need("no-request-is-left", forall(r, request_state(r).eq(request_states["absent"]))),
        need("reports-are-heard", forall(j, done(j).eq(0) & undone(j).eq(0))),
    ),
    updates=(assign(phase(), phases["resting"]),),
    source="contract section 1 engine loop: has_requests() is false; R-58, R-72",
    doc="The engine has nothing to do: it waits for a request, and hears no report until then.",
)  # fmt: skip


def _flushed_now(j: Term, *, loads: bool) -> Term:
    """Worker w copies job j before the forward of the step that it begins."""
    state, meta = ("load_queued", load_meta) if loads else ("store_queued", store_meta)
    return under_way(j) & (flush_meta(w, j) > 0) & (copy_state(w, j).eq(copy_states[state]) | (meta(w, j) > 0))


def _saved(store: Term) -> Term:
    """A flushed store, of those that ``store`` speaks of, gives shard c of worker w prefix h."""
    return exists(j, _flushed_now(j, loads=False) & store & job_chunk(j).eq(c) & gpu_value(w, job_block(j), h))


_FLUSHABLE = ("store_queued", "load_queued", "copied")

run_step = Action(
    name="run_step", event="run_step", params=(w,), site=WORKER, observed=False,
    receives=(
        receive(step, w),
        receive_all(store_meta, w, j, over=(j,)),
        receive_all(load_meta, w, j, over=(j,)),
        receive_all(flush_meta, w, j, over=(j,)),
    ),
    fires=(Fire(lifecycle="copy", entity=(w, j), over=(j,)),),
    sends=(
        send(output, w),
        # What is flushed has ended before the forward, so the report on it comes with this step's output.
        send(
            done, j, over=(j,),
            when=(flush_meta(w, j) > 0)
            & ((store_meta(w, j) > 0) | copy_state(w, j).one_of(*(copy_states[s] for s in _FLUSHABLE))),
        ),
        send(undone, j, over=(j,), when=(flush_meta(w, j) > 0) & copy_state(w, j).eq(copy_states["copy_failed"])),
    ),
    updates=(
        # Flush before forward: both read the state before this step, so the copy takes the old content.
        # A stale store and a live one may be flushed into one chunk; the live one is the later.
        assign_all(
            c, h, to=cpu_value(w, c, h),
            value=ite(
                exists(j, _flushed_now(j, loads=False) & live(j) & job_chunk(j).eq(c)),
                _saved(live(j)),
                _saved(stale(j)),
            ),
            when=exists(j, _flushed_now(j, loads=False) & job_chunk(j).eq(c)),
        ),
        assign_all(
            b, h, to=gpu_value(w, b, h),
            value=ite(
                due(b),
                due_value(b, h),
                exists(j, _flushed_now(j, loads=True) & job_block(j).eq(b) & cpu_value(w, job_chunk(j), h)),
            ),
            when=due(b) | exists(j, _flushed_now(j, loads=True) & job_block(j).eq(b)),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why="workers run the steps that they are given",
    source="contract 6.1 worker step, R-31, R-36",
    doc="A worker runs a step: flushes, then the forward, then it queues what the metadata carries.",
)  # fmt: skip

copy_store = Action(
    name="copy_store", event="copy_store", params=(w, j), site=WORKER, observed=False,
    fires=(fire("copy", w, j),),
    updates=(assign_all(h, to=cpu_value(w, job_chunk(j), h), value=gpu_value(w, job_block(j), h)),),
    fairness=Fairness.WEAK, fairness_why="submitted copies end",
    source="contract J8, J10",
    doc="The copy of a store happens at this worker, at any moment while it is queued.",
)  # fmt: skip

copy_load = Action(
    name="copy_load", event="copy_load", params=(w, j), site=WORKER, observed=False,
    fires=(fire("copy", w, j),),
    updates=(assign_all(h, to=gpu_value(w, job_block(j), h), value=cpu_value(w, job_chunk(j), h)),),
    fairness=Fairness.WEAK, fairness_why="submitted copies end",
    source="contract L2, L3",
    doc="The copy of a load happens at this worker, at any moment while it is queued.",
)  # fmt: skip

copy_fails = Action(
    name="copy_fails", event="copy_fails", params=(w, j), site=WORKER, observed=False, fault=True,
    fires=(fire("copy", w, j),),
    source="Interlock's fault action; released connectors assert that stores succeed (contract J10)",
    doc="The copy of a store fails at this worker: the chunk keeps garbage.",
)  # fmt: skip

report = Action(
    name="report", event="report", params=(w, j), site=WORKER, observed=False,
    fires=(fire("copy", w, j),),
    sends=(send(done, j),),
    fairness=Fairness.WEAK, fairness_why="every worker reports every job once",
    source="contract J10, L3, R-49",
    doc="A worker reports that its part of a job is done.",
)  # fmt: skip

report_failure = Action(
    name="report_failure", event="report_failure", params=(w, j), site=WORKER, observed=False,
    fires=(fire("copy", w, j),),
    sends=(send(undone, j),),
    fairness=Fairness.WEAK, fairness_why="every worker reports every job once",
    source="Interlock's fault action",
    doc="A worker reports that its part of a store has failed.",
)  # fmt: skip


def _settle(failed: Term | bool) -> tuple[Update, ...]:
    """What a report settles; the last one also ends the dedup entry, unless a flush order already has."""
    return (
        assign(pending_count(j), pending_count(j) - 1),
        assign_all(
            b, to=in_flight(b), value=False,
            when=job_block(j).eq(b) & last_report() & ~job_loads(j)
            & job_state(j).eq(job_states["store_in_flight"]),
        ),
        assign_all(
            b, to=scan_result(b), value=scan_results["excused"],
            when=job_block(j).eq(b) & last_report() & ~job_loads(j) & reads_current(j) & failed,
        ),
        # Whatever the next metadata was to flush, its bytes are settled; and of a stale job this was the last word.
        assign(must_flush(j), must_flush(j) & ~last_report()),
        assign(job_loads(j), job_loads(j) & ~(stale(j) & last_report())),
    )  # fmt: skip


acknowledge = Action(
    name="acknowledge", event="acknowledge", params=(j,), site=SCHEDULER,
    receives=(receive(done, j),),
    fires=(
        fire("job", j),
        fire_all("chunk", c, when=job_chunk(j).eq(c)),
        fire_all("block", b, when=job_block(j).eq(b)),
    ),
    guard=(LISTENING,),
    updates=_settle(failure_seen(j)),
    fairness=Fairness.STRONG,
    fairness_why="update_from_output delivers every report; between outputs the scheduler does not listen",
    source="contract J11, L4, 2.3",
    doc="The scheduler counts one worker's report; with the last one the job ends and its chunk is ready.",
)  # fmt: skip

acknowledge_failure = Action(
    name="acknowledge_failure", event="acknowledge_failure", params=(j,), site=SCHEDULER,
    receives=(receive(undone, j),),
    fires=(
        fire("job", j),
        fire_all("chunk", c, when=job_chunk(j).eq(c)),
        fire_all("block", b, when=job_block(j).eq(b)),
    ),
    guard=(LISTENING,),
    updates=(*_settle(True), assign(failure_seen(j), ~stale(j))),
    fairness=Fairness.STRONG,
    fairness_why="update_from_output delivers every report; between outputs the scheduler does not listen",
    source="Interlock's fault action; contract 3.2 complete_store(success=False)",
    doc="The scheduler counts one worker's failure; the job fails with the last report.",
)  # fmt: skip

update_from_output = Action(
    name="update_from_output", event="update_from_output", site=SCHEDULER,
    receives=(receive_each(output, w),),
    guard=(need("executing", phase().eq(phases["executing"])),),
    updates=(
        assign(phase(), phases["updated"]),
        assign_all(b, to=due(b), value=False),
        assign_all(b, h, to=due_value(b, h), value=False),
    ),
    fairness=Fairness.WEAK, fairness_why="the engine processes the output of a step that has run",
    source="contract 6.1 update_from_output",
    doc="The outputs of all workers are there: the step is over.",
)  # fmt: skip

loaded = Action(
    name="loaded", event="loaded", params=(r,), site=SCHEDULER,
    fires=(fire("request", r), fire_all("block", b, when=holds(r, b))),
    guard=(LISTENING, need("loads-have-ended", forall(b, holds(r, b) >> ~is_filled_by_load(b)))),
    updates=(
        assign_all(b, to=holds(r, b), value=False, when=request_state(r).eq(request_states["held"])),
        assign_all(b, h, to=expects(r, b, h), value=False, when=request_state(r).eq(request_states["held"])),
    ),
    fairness=Fairness.STRONG,
    fairness_why="once the reports are there, finished_recving comes with the next output",
    source="contract Q12, Q32, L3, R-42",
    doc="finished_recving: all loads of r have ended on all workers. Had it ended meanwhile, its blocks go back now.",
)  # fmt: skip

preempt = Action(
    name="preempt", event="preempt", params=(r,), site=SCHEDULER,
    fires=(fire("request", r), fire_all("block", b, when=holds(r, b))),
    guard=(need("after-update", phase().eq(phases["updated"])),),
    updates=(
        assign_all(b, to=holds(r, b), value=False),
        assign_all(b, to=scanned(r, b), value=False),
        assign_all(b, h, to=expects(r, b, h), value=False),
        assign_all(
            j, to=must_flush(j), value=True, when=~pins() & open_store(j) & job_request(j).eq(r),
        ),
    ),
    source="contract Q22, R-60, 2.1 flush sources",
    doc=(
        "A schedule() begins by taking the blocks of a running request, which waits again. Where nothing else "
        "keeps the sources of its stores, the metadata of that schedule() orders their flush."
    ),
)  # fmt: skip

_FORGETS = ~kv_reset.is_("ignored")

_STAYS_NOT = request_state(r).ne(request_states["loading"])
"""A request that ends while it is loading is held, blocks and all, until the load has ended."""

finish = Action(
    name="finish", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("request", r), fire_all("block", b, when=holds(r, b))),
    guard=(need("after-update", phase().eq(phases["updated"])),),
    updates=(
        assign_all(b, to=holds(r, b), value=False, when=_STAYS_NOT),
        assign_all(b, h, to=expects(r, b, h), value=False, when=_STAYS_NOT),
        assign_all(
            b, h, to=kept(r, b, h), value=True,
            when=_STAYS_NOT & holds(r, b) & hashed(b) & block_hash(b).eq(h),
        ),
    ),
    source="contract Q26, Q30, Q31, Q18, G4",
    doc="A request ends (stop, length, abort): its blocks go back, unless another holds them or a store pins them.",
)  # fmt: skip

reset_cache = Action(
    name="reset_cache", event="reset_cache", site=SCHEDULER,
    fires=(fire_all("job", j), fire_all("chunk", c)),
    guard=(need("between-steps", phase().one_of(phases["updated"], phases["resting"])),),
    updates=(
        assign_all(j, to=must_flush(j), value=kv_reset.is_("flush"), when=_FORGETS & live(j)),
        assign_all(j, to=failure_seen(j), value=False, when=_FORGETS & live(j)),
        assign_all(j, to=reads_current(j), value=False, when=_FORGETS & live(j)),
        assign_all(b, to=in_flight(b), value=False, when=_FORGETS),
        assign_all(r, b, h, to=kept(r, b, h), value=False, when=_FORGETS),
        assign_all(r, b, to=scanned(r, b), value=False, when=_FORGETS),
        assign_all(b, to=scan_result(b), value=scan_results["unscanned"], when=_FORGETS),
        # If no block is in use the reset succeeds: the weights may have changed, so what was computed is worthless.
        assign_all(b, to=hashed(b), value=False, when=pool_is_free()),
        assign_all(w, b, h, to=gpu_value(w, b, h), value=False, when=pool_is_free()),
        assign_all(w, c, h, to=cpu_value(w, c, h), value=False, when=pool_is_free()),
    ),
    source="contract J12, L6, Q23, R-62, R-63; vLLM #57727",
    doc=(
        "reset_prefix_cache with its connector: the tier forgets what it has. The reset succeeds if no GPU block is "
        "in use, and then the GPU's prefix cache is empty too; otherwise the caller has to try again."
    ),
)  # fmt: skip

ACTIONS = (
    add_request, hit, allocate, publish, publish_loaded,
    plan_store, plan_finish_store, skip_store, evict, plan_load, order_flush,
    order_flush_of_load, preempt,
    build_connector_meta, rest, run_step, copy_store, copy_load, copy_fails, report, report_failure,
    update_from_output, acknowledge, acknowledge_failure, loaded, finish, reset_cache,
)  # fmt: skip
