"""The step as the scheduler sees it: built ahead of earlier outputs, dispatched, handed to workers, processed; rest."""

from __future__ import annotations

from interlock.spec.language.actions import (
    Action,
    Fairness,
    Receive,
    assign,
    assign_all,
    fire,
    fire_all,
    need,
    send,
)
from interlock.spec.language.terms import forall
from interlock.spec.pipeline.common import BETWEEN_SCHEDULES, IN_SCHEDULE, SCHEDULER
from interlock.spec.pipeline.predicates import (
    a_request_is_left,
    building,
    dispatched,
    last_flush_is_due,
    open_store,
    work_is_reported,
)
from interlock.spec.pipeline.vocabulary import (
    b,
    before,
    busy,
    finish_untold,
    flush_due,
    flush_order,
    forward_order,
    fresh,
    handed,
    has_forward,
    j,
    j2,
    leftover,
    names,
    overwrites,
    resting,
    returned,
    slot_state,
    slot_states,
    source,
    step_done,
    step_order,
    stored,
    t,
    t2,
    w,
)

_ONE_AT_A_TIME = need("one-at-a-time", forall(t2, ~building(t2)))

begin_schedule = Action(
    name="begin_schedule", event="begin_schedule", params=(t,), site=SCHEDULER,
    fires=(fire("slot", t),),
    guard=(_ONE_AT_A_TIME, need("something-to-do", a_request_is_left() | work_is_reported())),
    fairness=Fairness.WEAK, fairness_why="the engine steps while it has something to do (empty steps included)",
    source="contract R-24, section 1 engine loop",
    doc="schedule() begins: earlier steps may be unprocessed, as many as the pipeline is deep.",
)  # fmt: skip

schedule_arrival = Action(
    name="schedule_arrival", event="begin_schedule", params=(t,), site=SCHEDULER,
    fires=(fire("slot", t),),
    guard=(_ONE_AT_A_TIME,),
    updates=(assign(resting(), False),),
    source="contract Q1, section 1 engine loop",
    doc="A request arrives, and schedule() begins; an engine at rest wakes up.",
)  # fmt: skip

order_flush = Action(
    name="order_flush", event="order_flush", params=(t, j), site=SCHEDULER,
    fires=(fire("stow", j),),
    sends=(send(flush_order, w, j, t, over=(w,)),),
    guard=(IN_SCHEDULE, need("due", flush_due(j) | last_flush_is_due(j))),
    updates=(
        assign(flush_due(j), False),
        assign(busy(source(j)), busy(source(j)) & ~open_store(j)),
        assign(names(t, j), True),
    ),
    fairness=Fairness.WEAK, fairness_why="build_connector_meta orders every flush that its fences demand",
    source="contract J5, J9, I-28; vLLM PR 42611", doc="The metadata of this step orders the flush of a job.",
)  # fmt: skip

dispatch = Action(
    name="dispatch", event="build_connector_meta", params=(t,), site=SCHEDULER,
    fires=(fire("slot", t), fire_all("stow", j)),
    guard=(
        need("fenced-are-flushed", forall(j2, ~flush_due(j2)), policy=True),
        need("last-jobs-are-flushed", forall(j2, ~last_flush_is_due(j2)), policy=True),
    ),
    updates=(
        assign_all(t2, to=before(t2, t), value=True, when=dispatched(t2)),
        assign_all(b, to=fresh(b), value=False),
        assign_all(b, to=returned(b), value=False),
        assign_all(b, to=leftover(b), value=False),
        assign(finish_untold(), False),
    ),
    fairness=Fairness.WEAK, fairness_why="schedule() ends",
    source="contract R-22 to R-24, R-26; vLLM PR 42611",
    doc="schedule() ends: the step and its metadata go to the executor, and tell which requests have finished.",
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

update_from_output = Action(
    name="update_from_output", event="update_from_output", params=(t,), site=SCHEDULER,
    fires=(fire("slot", t),),
    receives=(Receive(channel=step_done.name, args=(w, t), over=(w,)),),
    guard=(need("oldest", forall(t2, ~before(t2, t))), BETWEEN_SCHEDULES),
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

rest = Action(
    name="rest", event="rest", site=SCHEDULER, observed=False,
    guard=(
        need("every-output-is-processed", forall(t, slot_state(t).eq(slot_states["idle"]))),
        need("no-work-is-reported", ~work_is_reported()),
        need("no-request-is-left", ~a_request_is_left()),
        need("reports-are-heard", forall(j, stored(j).eq(0))),
    ),
    updates=(assign(resting(), True),),
    source="contract section 1 engine loop: has_requests() is false and the batch queue empty; R-58, R-72",
    doc="The engine has nothing to do: it waits for a request, and hears no report until then.",
)  # fmt: skip

STEPS = (begin_schedule, schedule_arrival, order_flush, dispatch, hand_over, update_from_output, rest)
