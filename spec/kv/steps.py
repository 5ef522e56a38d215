"""The step as the scheduler sees it: flush orders, the metadata, the output, and rest."""

from __future__ import annotations

from interlock.spec.kv.common import BETWEEN_STEPS, SCHEDULER, SCHEDULING
from interlock.spec.kv.predicates import ended, flush_is_due, open_store, something_to_do, work_is_reported
from interlock.spec.kv.vocabulary import (
    b,
    done,
    due,
    due_value,
    failure_seen,
    flush_meta,
    fresh,
    h,
    in_flight,
    j,
    j2,
    job_block,
    job_loads,
    kept,
    must_flush,
    output,
    phase,
    phases,
    r,
    reads_current,
    request_state,
    request_states,
    scanned,
    step,
    undone,
    w,
)
from interlock.spec.language.actions import (
    Action,
    Fairness,
    assign,
    assign_all,
    fire,
    fire_all,
    need,
    receive_each,
    send,
)
from interlock.spec.language.terms import forall

STEPPING = need("something-to-do", phase().eq(phases["scheduling"]) | something_to_do(), policy=True)

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
