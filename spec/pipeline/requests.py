"""What becomes of requests, for which their blocks stand: they are given blocks, compute, finish, are preempted."""

from __future__ import annotations

from interlock.spec.language.actions import Action, Update, assign, assign_all, fire, need
from interlock.spec.language.terms import FALSE, Term
from interlock.spec.pipeline.common import BETWEEN_SCHEDULES, IN_SCHEDULE, SCHEDULER
from interlock.spec.pipeline.predicates import is_filled, is_open, open_store, reallocated, under_way
from interlock.spec.pipeline.vocabulary import (
    b,
    b2,
    finish_untold,
    flush_due,
    fresh,
    has_forward,
    held,
    j,
    j2,
    leftover,
    lost,
    overwrites,
    returned,
    scanned,
    source,
    t,
    t2,
    used,
)

FREE = need("free", ~used(b))


def takes(new: Term = FALSE) -> tuple[Update, ...]:
    """What giving out b in step t sets: its open stores are flushed first, and what they read is overwritten.

    Args:
        new: tells which job j2 the same action plans: no step overwrites its block.
    """
    of_before = t2.eq(t) & under_way(j2) & source(j2).eq(b) & ~reallocated(j2)
    return (
        assign(used(b), True),
        assign(fresh(b), True),
        assign(scanned(b), False),
        assign_all(j2, to=flush_due(j2), value=True, when=is_open(j2) & source(j2).eq(b)),
        assign_all(t2, j2, to=overwrites(t2, j2), value=~new, when=new | of_before),
    )


allocate_block = Action(
    name="allocate_block", event="allocate_slots", params=(t, b), site=SCHEDULER,
    guard=(IN_SCHEDULE, FREE),
    updates=(*takes(), assign(has_forward(t), True)),
    source="contract 2.1 flush sources, I-27, I-28",
    doc="A free block is allocated and computed in this step; open stores of what it held must be flushed first.",
)  # fmt: skip

resume_request = Action(
    name="resume_request", event="resume_request", params=(b, b2), site=SCHEDULER,
    fires=(fire("comeback", b),),
    guard=(need("has-a-block-again", fresh(b2)), need("of-its-own", ~returned(b2))),
    updates=(assign(returned(b2), True),),
    source="contract Q9, Q10",
    doc="The preempted request that lost b comes back with b2, which this schedule() has allocated to it.",
)  # fmt: skip

schedule_token = Action(
    name="schedule_token", event="schedule_token", params=(t, b), site=SCHEDULER,
    guard=(IN_SCHEDULE, need("used", used(b)), need("not-loading", ~is_filled(b))),
    updates=(assign(has_forward(t), True),),
    source="contract R-25", doc="A request that has its blocks computes something in this step.",
)  # fmt: skip

finish_request = Action(
    name="finish_request", event="request_finished", params=(b,), site=SCHEDULER,
    guard=(need("used", used(b)), need("not-held", ~held(b)), BETWEEN_SCHEDULES),
    updates=(
        assign(used(b), is_filled(b)),
        assign(held(b), is_filled(b)),
        assign(leftover(b), ~scanned(b) & ~is_filled(b)),
        assign(finish_untold(), True),
    ),
    source="contract 2.1: request_finished answers False; Q26, Q31, L5",
    doc=(
        "The request of b ends and gives up b, while steps that compute it may be unprocessed. Aborted while it is "
        "loading, it is held, and b with it, until the load has ended."
    ),
)  # fmt: skip

preempt = Action(
    name="preempt", event="preempt", params=(t, b), site=SCHEDULER,
    fires=(fire("comeback", b),),
    guard=(
        IN_SCHEDULE,
        need("nothing-is-scheduled-yet", ~has_forward(t)),
        need("used", used(b)),
        need("running", ~is_filled(b)),
    ),
    updates=(
        assign(used(b), False),
        assign_all(j, to=flush_due(j), value=True, when=open_store(j) & source(j).eq(b)),
        assign_all(j, to=lost(j), value=True, when=open_store(j) & source(j).eq(b)),
    ),
    source="contract Q22, R-60, 2.1 flush sources",
    doc=(
        "A schedule() takes the blocks of a running request, which waits again, while steps that compute them may be "
        "unprocessed. Its metadata orders the flush of that request's stores."
    ),
)  # fmt: skip

finish_preempted = Action(
    name="finish_preempted", event="request_finished", params=(b,), site=SCHEDULER,
    fires=(fire("comeback", b),),
    guard=(BETWEEN_SCHEDULES,),
    updates=(assign(finish_untold(), True),),
    source="contract Q27, R-52", doc="A request ends (is aborted) while it waits after its preemption.",
)  # fmt: skip

REQUESTS = (
    allocate_block, resume_request, schedule_token, finish_request, preempt, finish_preempted,
)  # fmt: skip
