"""The actions of a pass of schedule(): its loops begin, and its step goes out."""

from __future__ import annotations

from interlock.spec.engine.conditions import BETWEEN, SCHEDULER
from interlock.spec.engine.predicates import IN_SCHEDULE, at, unprocessed
from interlock.spec.engine.vocabulary import (
    b,
    before,
    loop,
    loops,
    pipeline,
    planned,
    r2,
    redo,
    status,
    status_states,
    step_meta,
    step_output,
    t,
    t2,
)
from interlock.spec.language.actions import Action, Fairness, assign, assign_all, fire, need, send
from interlock.spec.language.terms import exists, forall

begin_schedule = Action(
    name="begin_schedule", event="begin_schedule", params=(t,), site=SCHEDULER,
    fires=(fire("pass", t),),
    guard=(BETWEEN, need("pipeline-has-room", pipeline.is_("two") | ~exists(t2, unprocessed(t2)))),
    updates=(assign(loop(), loops["run_loop"]),),
    fairness=Fairness.STRONG,
    fairness_why="the engine keeps stepping while it has requests; it schedules again once it has room",
    source="contract section 1, engine loop; R-24",
    doc="schedule() begins: first the running requests are visited.",
)  # fmt: skip

begin_waiting_loop = Action(
    name="begin_waiting_loop", event="begin_waiting_loop", site=SCHEDULER, observed=False,
    guard=(need("running-loop-over", at("run_loop")),),
    updates=(assign(loop(), loops["wait_loop"]),),
    fairness=Fairness.STRONG,
    fairness_why="a pass without a preemption goes on to the waiting requests",
    source="contract Q22: the waiting loop is skipped after a preemption",
    doc="The running requests have been visited, nobody was preempted: the waiting ones are next.",
)  # fmt: skip

dispatch = Action(
    name="dispatch", event="dispatch", params=(t,), site=SCHEDULER,
    fires=(fire("pass", t),),
    sends=(send(step_meta, t),),
    guard=(
        need("in-schedule", at(*IN_SCHEDULE)),
        need("visits-are-over", forall(r2, status(r2).ne(status_states["admitting"]))),
        need("one-before-has-run", forall(t2, unprocessed(t2) >> (step_output(t2) > 0))),
    ),
    updates=(
        assign(loop(), loops["between"]),
        assign_all(t2, to=before(t2, t), value=True, when=unprocessed(t2)),
        assign_all(b, to=redo(b), value=False, when=planned(b)),
        assign_all(b, to=planned(b), value=False),
    ),
    fairness=Fairness.WEAK,
    fairness_why="schedule() ends",
    source="R-22, R-23; contract Q20",
    doc=(
        "schedule() ends and the step goes to the workers. (That the step before has run by then changes nothing "
        "but the number of states: the steps of a worker run in order.)"
    ),
)  # fmt: skip
