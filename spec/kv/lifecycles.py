"""The lifecycle tables: request, GPU block, CPU chunk, transfer job, and the job at one worker."""

from __future__ import annotations

from interlock.spec.kv.predicates import (
    clears_chunks,
    forgets_jobs,
    held_by_another,
    is_read_by_store,
    pins,
    stale,
)
from interlock.spec.kv.vocabulary import (
    b,
    c,
    failure_seen,
    flush_meta,
    holds,
    j,
    job_loads,
    kv_reset,
    load_meta,
    pending_count,
    r,
    r2,
    request_state,
    request_states,
    store_meta,
    w,
)
from interlock.spec.language.lifecycles import Lifecycle, Row, row
from interlock.spec.language.terms import Term, exists, ite


def last_report() -> Term:
    """The report at hand is the last one that job j waits for."""
    return (pending_count(j) - 1).eq(0)


def _let_go() -> Term:
    """When r lets go of block b, nothing else keeps it from the free queue."""
    return ~held_by_another(b, r) & (~pins() | ~is_read_by_store(b))


REQUEST = Lifecycle(
    name="request",
    entity=(r,),
    variable="request_state",
    initial="absent",
    doc="A request from arrival to end, as far as blocks and transfers are concerned.",
    rows=(
        row("absent", "add_request", "waiting", source="contract Q1"),
        row("waiting", "hit", "scheduled", source="contract Q9, Q10, G2"),
        row("preempted", "hit", "scheduled", source="contract Q9, Q10, G2"),
        row("scheduled", "hit", "scheduled", source="contract Q9, Q10, G2"),
        row("waiting", "allocate", "scheduled", source="contract Q9, Q10, G1"),
        row("preempted", "allocate", "scheduled", source="contract Q9, Q10, G1"),
        row("scheduled", "allocate", "scheduled", source="contract Q20, G1"),
        row("scheduled", "publish", "scheduled", source="contract G3"),
        row("waiting", "publish", "scheduled", source="contract Q14: what a load failed to bring is computed"),
        row("scheduled", "plan_load", "loading", source="contract Q8"),
        row("loading", "plan_load", "loading", source="contract Q8"),
        row("loading", "loaded", "waiting", source="contract Q12, Q13"),
        row("waiting", "publish_loaded", "scheduled", source="contract Q11, Q13"),
        row("waiting", "admit_loaded", "scheduled", source="contract Q11"),
        row("waiting", "look_up_anew", "preempted", source="contract Q15: it waits with nothing, as one in PR"),
        row("scheduled", "publish_loaded", "scheduled", source="contract Q11, Q13"),
        row("scheduled", "plan_store", "scheduled", source="contract J1"),
        row("waiting", "finish", "finished", source="contract Q30, Q31"),
        row("preempted", "finish", "finished", source="contract Q27, Q30, R-52"),
        row("scheduled", "finish", "finished", source="contract Q26, Q30, Q31"),
        row("loading", "finish", "held", source="contract Q31: delay, the load is still to come"),
        row("held", "loaded", "finished", source="contract Q32"),
        row("scheduled", "preempt", "preempted", source="contract Q22"),
        row("scheduled", "slide_out", "scheduled", source="contract G6"),
        row("finished", "plan_finish_store", "finished", source="contract J1, J5"),
        row("finished", "build_connector_meta", "absent", source="R-26: finished ids are reported once"),
    ),
)

BLOCK = Lifecycle(
    name="block",
    entity=(b,),
    variable="block_state",
    initial="free",
    doc="A GPU block between the free queue and its users. What is in it is a matter of hash and content.",
    rows=(
        row("free", "hit", "used", source="contract G2"),
        row("used", "hit", "used", source="contract G2"),
        row("free", "allocate", "used", source="contract G1"),
        row("used", "publish", "used", source="contract G3"),
        row("used", "publish_loaded", "used", source="contract Q13, I-34"),
        row(
            "used",
            "finish",
            "free",
            guard=request_state(r).ne(request_states["loading"]) & _let_go(),
            source="contract G4; pin: 2.2",
        ),
        row(
            "used",
            "loaded",
            "free",
            guard=request_state(r).eq(request_states["held"]) & _let_go(),
            source="contract Q32, G4",
        ),
        row("used", "preempt", "free", guard=_let_go(), source="contract Q22, G4"),
        row("used", "look_up_anew", "free", guard=_let_go(), source="contract Q15, G4"),
        row("used", "slide_out", "free", guard=_let_go(), source="contract G6, G4"),
        row("used", "slide_out", "used", source="contract G6: another holds it, or a store reads it"),
        row(
            "used",
            "acknowledge",
            "free",
            guard=pins() & ~job_loads(j) & last_report() & ~exists(r2, holds(r2, b)) & ~is_read_by_store(b, besides=j),
            source="contract 2.2: the store's reference is dropped with its completion",
        ),
        row(
            "used",
            "acknowledge_failure",
            "free",
            guard=pins() & last_report() & ~exists(r2, holds(r2, b)) & ~is_read_by_store(b, besides=j),
            source="contract 2.2: the store's reference is dropped with its completion",
        ),
        row("free", "plan_finish_store", "used", guard=pins(), source="contract 2.2: a reference is taken"),
        row("free", "plan_finish_store", "free", guard=~pins(), source="contract J4, J5"),
        row("used", "plan_finish_store", "used", source="contract J5: reallocated in the same schedule"),
        row("free", "plan_lazy_store", "used", guard=pins(), source="contract 2.2: touched, it leaves the free queue"),
        row("free", "plan_lazy_store", "free", guard=~pins(), source="contract J4: no reference, it stays there"),
    ),
)  # fmt: skip


_GIVES_BACK = kv_reset.is_("hold")
"""The chunk that a stale store writes has stayed reserved for it."""

CHUNK = Lifecycle(
    name="chunk",
    entity=(c,),
    variable="chunk_state",
    initial="absent",
    doc="A slot of the CPU tier. Lookup sees ready chunks only; loads pin them.",
    rows=(
        row("absent", "plan_store", "pending", source="contract 3.2 prepare_store"),
        row("absent", "plan_finish_store", "pending", source="contract 3.2 prepare_store"),
        row("absent", "plan_lazy_store", "pending", source="contract 2.2: get_new_blocks of the CPU's pool"),
        row(
            "pending", "acknowledge", "ready",
            guard=last_report() & ~failure_seen(j) & ~stale(j), source="contract 3.2 complete_store, I-43",
        ),
        row(
            "pending", "acknowledge", "absent",
            guard=last_report() & ite(stale(j), _GIVES_BACK, failure_seen(j)),
            source="contract 3.2 complete_store(success=False); stale: 2.2, I-58",
        ),
        row(
            "pending", "acknowledge_failure", "absent",
            guard=last_report() & (~stale(j) | _GIVES_BACK),
            source="contract 3.2 complete_store(success=False); stale: 2.2, I-58",
        ),
        row("ready", "plan_load", "ready", source="contract 3.2 prepare_load"),
        row("ready", "evict", "absent", source="contract 3.2, I-40"),
        row("ready", "reset_cache", "absent", guard=clears_chunks(), source="contract J12, L6; hold: 2.2"),
        row("pending", "reset_cache", "absent", guard=kv_reset.is_("forget", "flush"), source="contract J12, L6"),
    ),
)  # fmt: skip

_OPEN = ("store_in_flight", "load_in_flight", "flush_requested")


def _ends(event: str, state: str) -> tuple[Row, ...]:
    """The rows by which a worker's report moves a job: on while others are due, else to its end."""
    source = "contract J11, 2.3, I-46"
    more = row(state, event, state, guard=~last_report(), source=source)
    if event == "acknowledge_failure":
        return more, row(state, event, "failed", guard=last_report(), source=source)
    return (
        more,
        row(state, event, "completed", guard=last_report() & ~failure_seen(j), source=source),
        row(state, event, "failed", guard=last_report() & failure_seen(j), source=source),
    )


JOB = Lifecycle(
    name="job",
    entity=(j,),
    variable="job_state",
    initial="absent",
    doc="A transfer job as the scheduler sees it; workers report one by one.",
    rows=(
        row("absent", "plan_store", "planned", source="contract J4"),
        row("absent", "plan_finish_store", "planned", source="contract J1, J4"),
        row("absent", "plan_lazy_store", "planned", source="contract 2.2: a store event"),
        row("absent", "plan_load", "planned", source="contract 2.1 load job"),
        row("planned", "build_connector_meta", "store_in_flight", guard=~job_loads(j), source="contract J6"),
        row("planned", "build_connector_meta", "load_in_flight", guard=job_loads(j), source="contract L2"),
        row("planned", "order_flush", "flush_requested", source="contract J5"),
        row("store_in_flight", "order_flush", "flush_requested", source="contract J9, I-28"),
        row("flush_requested", "order_flush", "flush_requested", source="contract 5(c): ordered again at every step"),
        row("load_in_flight", "order_flush_of_load", "flush_requested", source="contract J12, 5(c)"),
        row("flush_requested", "order_flush_of_load", "flush_requested", source="contract 5(c)"),
        row("stale", "order_flush", "stale", source="contract J12"),
        row("stale", "order_flush_of_load", "stale", source="contract J12, L6"),
        *(r_ for s in _OPEN for r_ in _ends("acknowledge", s)),
        *(r_ for s in _OPEN for r_ in _ends("acknowledge_failure", s)),
        *(row(s, "reset_cache", "stale", guard=forgets_jobs(), source="contract J12, L6") for s in _OPEN),
        *(
            row("stale", event, state, guard=guard, source="contract J12, I-47: later reports are skipped")
            for event in ("acknowledge", "acknowledge_failure")
            for state, guard in (("stale", ~last_report()), ("absent", last_report()))
        ),
        # The end is remembered until the next metadata; then the record is gone, as in J11.
        row("completed", "build_connector_meta", "absent", source="contract J11: the job is deleted"),
        row("failed", "build_connector_meta", "absent", source="contract J11: the job is deleted"),
    ),
)

COPY = Lifecycle(
    name="copy",
    entity=(w, j),
    variable="copy_state",
    initial="idle",
    doc="A job at one worker. Submission to the copy engine is part of being queued; reported is idle again.",
    rows=(
        row(
            "idle", "run_step", "idle",
            guard=(store_meta(w, j) > 0) & (flush_meta(w, j) > 0), source="contract J9",
        ),
        row(
            "idle", "run_step", "store_queued",
            guard=(store_meta(w, j) > 0) & ~(flush_meta(w, j) > 0), source="contract J6, J8",
        ),
        row("idle", "run_step", "load_queued", guard=load_meta(w, j) > 0, source="contract L2"),
        # Flushed before the forward, and reported with this step's output.
        *(
            row(s, "run_step", "idle", guard=flush_meta(w, j) > 0, source="contract J9, J10, R-31")
            for s in ("store_queued", "load_queued", "copied", "copy_failed")
        ),
        row("store_queued", "copy_store", "copied", source="contract J8, J10"),
        row("load_queued", "copy_load", "copied", source="contract L3"),
        row("store_queued", "copy_fails", "copy_failed", source="Interlock's fault action; compare contract J10"),
        row("load_queued", "load_fails", "copy_failed", source="contract R-43"),
        row("copied", "report", "idle", source="contract J10, R-49"),
        row("copy_failed", "report_failure", "idle", source="contract R-43, R-46; Interlock's fault action"),
    ),
)  # fmt: skip

LIFECYCLES = (REQUEST, BLOCK, CHUNK, JOB, COPY)
