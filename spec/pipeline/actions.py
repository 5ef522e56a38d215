"""The scheduler builds steps ahead of their outputs; each worker runs them in the order of dispatch."""

from __future__ import annotations

from interlock.spec.language.actions import (
    Action,
    Fairness,
    Fire,
    Receive,
    assign,
    assign_all,
    fire,
    fire_all,
    need,
    receive,
    receive_all,
    send,
)
from interlock.spec.language.terms import Term, exists, forall, ite
from interlock.spec.language.variables import Site
from interlock.spec.pipeline.predicates import building, dispatched, is_open, reallocated, to_copy, under_way
from interlock.spec.pipeline.vocabulary import (
    acks_due,
    b,
    before,
    busy,
    flush_due,
    flush_order,
    flush_point,
    forward_order,
    fresh,
    handed,
    has_forward,
    j,
    j2,
    leftover,
    names,
    overwrites,
    owes,
    pipeline_dedup,
    scanned,
    shard_state,
    shard_states,
    source,
    spoilt,
    step_done,
    step_order,
    store_order,
    stored,
    stow_state,
    stow_states,
    t,
    t2,
    used,
    w,
)
from interlock.spec.shared.sorts import worker

SCHEDULER, WORKER = Site.SCHEDULER, Site.WORKER
IN_SCHEDULE = need("in-schedule", building(t))

begin_schedule = Action(
    name="begin_schedule", event="begin_schedule", params=(t,), site=SCHEDULER,
    fires=(fire("slot", t),),
    guard=(need("one-at-a-time", forall(t2, ~building(t2))),),
    source="contract R-24, section 1 engine loop",
    doc="schedule() begins: earlier steps may be unprocessed, as many as the pipeline is deep.",
)  # fmt: skip

allocate_block = Action(
    name="allocate_block", event="allocate_slots", params=(t, b), site=SCHEDULER,
    guard=(IN_SCHEDULE, need("free", ~used(b))),
    updates=(
        assign(used(b), True),
        assign(fresh(b), True),
        assign(scanned(b), False),
        assign(has_forward(t), True),
        assign_all(
            j, to=flush_due(j), value=True, when=is_open(j) & source(j).eq(b),
        ),
        assign_all(
            j, to=overwrites(t, j), value=True, when=under_way(j) & source(j).eq(b) & ~reallocated(j),
        ),
    ),
    source="contract 2.1 flush sources, I-27, I-28",
    doc="A free block is allocated and computed in this step; open stores of what it held must be flushed first.",
)  # fmt: skip

schedule_token = Action(
    name="schedule_token", event="schedule_token", params=(t, b), site=SCHEDULER,
    guard=(IN_SCHEDULE, need("used", used(b))),
    updates=(assign(has_forward(t), True),),
    source="contract R-25", doc="A request that has its blocks computes something in this step.",
)  # fmt: skip

finish_request = Action(
    name="finish_request", event="request_finished", params=(b,), site=SCHEDULER,
    guard=(need("used", used(b)), need("between-schedules", forall(t2, ~building(t2)))),
    updates=(assign(used(b), False), assign(leftover(b), ~scanned(b))),
    source="contract 2.1: request_finished answers False; Q26",
    doc="The request of b ends and gives up b, while steps that compute it may be unprocessed.",
)  # fmt: skip


def _planned_now(of: Term) -> Term:
    return exists(j2, stow_state(j2).eq(stow_states["planned"]) & source(j2).eq(of))


_SKIP = ite(pipeline_dedup.is_("per_step"), _planned_now(b), busy(b))


def _plan(name: str, when: Term, rule: str, doc: str, *, finished: bool) -> Action:
    return Action(
        name=name, event="plan_store", params=(t, b, j), site=SCHEDULER,
        fires=(fire("stow", j),),
        sends=(send(store_order, w, j, t, over=(w,)),),
        guard=(
            IN_SCHEDULE,
            need("storable", when),
            need("new-id", forall(t2, ~names(t2, j))),
            need("flush-ordered-before-scan", forall(j2, is_open(j2) >> ~(flush_due(j2) & source(j2).eq(b)))),
            need("not-in-flight", ~_SKIP, policy=True),
        ),
        updates=(
            assign(source(j), b),
            assign(acks_due(j), worker.size),
            assign(busy(b), True),
            assign(flush_due(j), fresh(b) if finished else False),
            assign(leftover(b) if finished else scanned(b), not finished),
            assign_all(t2, to=overwrites(t2, j), value=(t2.eq(t) & fresh(b)) if finished else False),
            assign_all(w, to=spoilt(w, j), value=False),
            assign_all(w, to=owes(w, j), value=True),
        ),
        source=rule, doc=doc,
    )  # fmt: skip


plan_store = _plan(
    "plan_store", used(b) & has_forward(t), "contract J1 to J4, R-24; vLLM PR 41289",
    "The block of a request that this step computes is stored (eagerly: the copy waits for the forward).",
    finished=False,
)  # fmt: skip
plan_finish_store = _plan(
    "plan_finish_store", leftover(b), "contract J1, J5, R-28",
    "What a request left unstored is stored by the next metadata, which flushes it if the block was allocated again.",
    finished=True,
)  # fmt: skip

order_flush = Action(
    name="order_flush", event="order_flush", params=(t, j), site=SCHEDULER,
    fires=(fire("stow", j),),
    sends=(send(flush_order, w, j, t, over=(w,)),),
    guard=(IN_SCHEDULE, need("due", flush_due(j))),
    updates=(assign(flush_due(j), False), assign(busy(source(j)), False), assign(names(t, j), True)),
    fairness=Fairness.WEAK, fairness_why="build_connector_meta orders every flush that its fences demand",
    source="contract J5, J9, I-28", doc="The metadata of this step orders the flush of a store.",
)  # fmt: skip

dispatch = Action(
    name="dispatch", event="build_connector_meta", params=(t,), site=SCHEDULER,
    fires=(fire("slot", t), fire_all("stow", j)),
    guard=(need("fenced-are-flushed", forall(j2, ~flush_due(j2)), policy=True),),
    updates=(
        assign_all(t2, to=before(t2, t), value=True, when=dispatched(t2)),
        assign_all(b, to=fresh(b), value=False),
        assign_all(b, to=leftover(b), value=False),
    ),
    fairness=Fairness.WEAK, fairness_why="schedule() ends",
    source="contract R-22 to R-24", doc="schedule() ends: the step and its metadata go to the executor.",
)  # fmt: skip

hand_over = Action(
    name="hand_over", event="hand_over", params=(w, t), site=SCHEDULER, observed=False,
    sends=(send(step_order, w, t), send(forward_order, w, t, when=has_forward(t))),
    guard=(
        need("dispatched", dispatched(t)),
        need("not-yet", ~handed(w, t)),
        need("in-order", forall(t2, before(t2, t) >> (step_done(w, t2) > 0))),
    ),
    updates=(assign(handed(w, t), True),),
    fairness=Fairness.WEAK, fairness_why="the executor hands every step to every worker",
    source="contract 6.1 worker step: steps arrive in the order of dispatch",
    doc="A worker gets the next step once it has run those before it; other workers may be behind.",
)  # fmt: skip

_flushed_now = (flush_order(w, j, t) > 0) & (shard_state(w, j).eq(shard_states["queued"]) | (store_order(w, j, t) > 0))
_reported_now = (flush_order(w, j, t) > 0) & ((store_order(w, j, t) > 0) | shard_state(w, j).ne(shard_states["idle"]))
run_step = Action(
    name="run_step", event="run_step", params=(w, t), site=WORKER, observed=False,
    receives=(
        receive(step_order, w, t),
        receive_all(forward_order, w, t, over=()),
        receive_all(store_order, w, j, t, over=(j,)),
        receive_all(flush_order, w, j, t, over=(j,)),
    ),
    fires=(Fire(lifecycle="shard", entity=(w, j), over=(j,)),),
    sends=(
        send(step_done, w, t),
        send(stored, j, over=(j,), when=_reported_now),
    ),
    updates=(
        assign_all(j, to=owes(w, j), value=False, when=_reported_now),
        assign_all(
            j, to=spoilt(w, j), value=True,
            when=overwrites(t, j) & to_copy(w, j) & (~_flushed_now | flush_point.is_("after_zero")),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why="workers run the steps that they are given",
    source="contract 6.1, R-31, R-32, J6, J9, section 10",
    doc="A worker runs a step: flush, zeroing, forward; what the metadata stores is queued behind it.",
)  # fmt: skip

copy_shard = Action(
    name="copy_shard", event="copy_shard", params=(w, j), site=WORKER, observed=False,
    fires=(fire("shard", w, j),),
    fairness=Fairness.WEAK, fairness_why="submitted copies end",
    source="contract J8, J10", doc="The copy of a store happens at a worker, at any moment.",
)  # fmt: skip
report_shard = Action(
    name="report_shard", event="report_shard", params=(w, j), site=WORKER, observed=False,
    fires=(fire("shard", w, j),),
    sends=(send(stored, j),),
    updates=(assign(owes(w, j), False),),
    fairness=Fairness.WEAK, fairness_why="every worker reports every job once",
    source="contract J10, R-49", doc="A worker acknowledges a store.",
)  # fmt: skip

acknowledge = Action(
    name="acknowledge", event="update_connector_output", params=(j,), site=SCHEDULER,
    fires=(fire("stow", j),),
    receives=(receive(stored, j),),
    guard=(need("between-schedules", forall(t2, ~building(t2))),),
    updates=(
        assign(acks_due(j), acks_due(j) - 1),
        assign(busy(source(j)), busy(source(j)) & ~(is_open(j) & (acks_due(j) <= 1))),
    ),
    fairness=Fairness.STRONG, fairness_why="every update takes the reports that are there; schedule() comes between",
    source="contract J11", doc="One worker's acknowledgement is counted; with the last the store is over.",
)  # fmt: skip

update_from_output = Action(
    name="update_from_output", event="update_from_output", params=(t,), site=SCHEDULER,
    fires=(fire("slot", t),),
    receives=(Receive(channel=step_done.name, args=(w, t), over=(w,)),),
    guard=(
        need("oldest", forall(t2, ~before(t2, t))),
        need("between-schedules", forall(t2, ~building(t2))),
    ),
    updates=(
        assign_all(t2, to=before(t, t2), value=False),
        assign_all(w, to=handed(w, t), value=False),
        assign(has_forward(t), False),
        assign_all(j, to=names(t, j), value=False),
        assign_all(j, to=overwrites(t, j), value=False),
    ),
    fairness=Fairness.WEAK, fairness_why="the engine processes the output of a step that has run",
    source="contract 6.1, R-24", doc="The output of the oldest step is processed.",
)  # fmt: skip

ACTIONS = (
    begin_schedule, allocate_block, schedule_token, finish_request, plan_store, plan_finish_store, order_flush,
    dispatch, hand_over, run_step, copy_shard, report_shard, acknowledge, update_from_output,
)  # fmt: skip
