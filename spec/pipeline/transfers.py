"""Transfer jobs at the scheduler: stores and loads are planned, and their acknowledgements counted."""

from __future__ import annotations

from interlock.spec.language.actions import (
    Action,
    Fairness,
    Update,
    assign,
    assign_all,
    fire,
    need,
    receive,
    send,
)
from interlock.spec.language.terms import TRUE, Term, exists, forall, ite
from interlock.spec.pipeline.common import BETWEEN_SCHEDULES, IN_SCHEDULE, SCHEDULER
from interlock.spec.pipeline.predicates import is_filled, is_open, last_report, open_store
from interlock.spec.pipeline.requests import FREE, takes
from interlock.spec.pipeline.vocabulary import (
    acks_due,
    b,
    busy,
    flush_due,
    fresh,
    has_forward,
    held,
    j,
    j2,
    leftover,
    load_order,
    loads,
    lost,
    names,
    overwrites,
    owes,
    pipeline_dedup,
    pipeline_finish_store,
    resting,
    scanned,
    source,
    spoilt,
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

_NEW_ID = need("new-id", forall(t2, ~names(t2, j)))


def _planned(*, a_load: bool) -> tuple[Update, ...]:
    """What planning any job sets."""
    return (
        assign(source(j), b),
        assign(loads(j), a_load),
        assign(acks_due(j), worker.size),
        assign(lost(j), False),
        assign_all(w, to=spoilt(w, j), value=False),
        assign_all(w, to=owes(w, j), value=True),
    )


def _planned_now(of: Term) -> Term:
    return exists(j2, stow_state(j2).eq(stow_states["planned"]) & source(j2).eq(of))


_SKIP = ite(pipeline_dedup.is_("per_step"), _planned_now(b), busy(b))


def _plan(name: str, when: Term, rule: str, doc: str, *, finished: bool, made: Term = TRUE) -> Action:
    return Action(
        name=name, event="plan_store", params=(t, b, j), site=SCHEDULER,
        fires=(fire("stow", j),),
        sends=(send(store_order, w, j, t, over=(w,)),),
        guard=(
            *((need("finish-stores-are-made", made, policy=True),) if finished else ()),
            IN_SCHEDULE,
            need("storable", when),
            _NEW_ID,
            need("flush-ordered-before-scan", forall(j2, is_open(j2) >> ~(flush_due(j2) & source(j2).eq(b)))),
            need("not-in-flight", ~_SKIP, policy=True),
        ),
        updates=(
            *_planned(a_load=False),
            assign(busy(b), True),
            assign(flush_due(j), fresh(b) if finished else False),
            assign(leftover(b) if finished else scanned(b), not finished),
            assign_all(t2, to=overwrites(t2, j), value=(t2.eq(t) & fresh(b)) if finished else False),
        ),
        source=rule, doc=doc,
    )  # fmt: skip


plan_store = _plan(
    "plan_store", used(b) & has_forward(t) & ~is_filled(b), "contract J1 to J4, R-24; vLLM PR 41289",
    "The block of a request that this step computes is stored (eagerly: the copy waits for the forward).",
    finished=False,
)  # fmt: skip
plan_finish_store = _plan(
    "plan_finish_store", leftover(b), "contract J1, J5, R-28",
    "What a request left unstored is stored by the next metadata, which flushes it if the block was allocated again.",
    finished=True, made=pipeline_finish_store.is_("yes"),
)  # fmt: skip

plan_load = Action(
    name="plan_load", event="plan_load", params=(t, b, j), site=SCHEDULER,
    fires=(fire("stow", j),),
    sends=(send(load_order, w, j, t, over=(w,)),),
    guard=(IN_SCHEDULE, FREE, _NEW_ID),
    updates=(
        *takes(j2.eq(j)),
        *_planned(a_load=True),
    ),
    source="contract 2.1 load job, flush sources (load dst); Q8",
    doc=(
        "A free block is allocated and is to be filled from the CPU tier: its request waits for that, and the block "
        "is neither computed nor stored meanwhile."
    ),
)  # fmt: skip

_ends = last_report(j)
acknowledge = Action(
    name="acknowledge", event="update_connector_output", params=(j,), site=SCHEDULER,
    fires=(fire("stow", j),),
    receives=(receive(stored, j),),
    guard=(need("listening", ~resting()), BETWEEN_SCHEDULES),
    updates=(
        assign(acks_due(j), acks_due(j) - 1),
        assign(busy(source(j)), busy(source(j)) & ~(open_store(j) & _ends)),
        # With the last report on a load comes finished_recving: what a held request still had goes back.
        assign(used(source(j)), used(source(j)) & ~(loads(j) & _ends & held(source(j)))),
        assign(held(source(j)), held(source(j)) & ~(loads(j) & _ends)),
    ),
    fairness=Fairness.STRONG, fairness_why="every update takes the reports that are there; schedule() comes between",
    source="contract J11, L3, L4, Q32, R-72",
    doc="One worker's acknowledgement is counted; with the last the job is over. An engine at rest hears none.",
)  # fmt: skip

TRANSFERS = (plan_store, plan_finish_store, plan_load, acknowledge)
