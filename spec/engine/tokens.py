"""The actions that schedule a token into a block, and the one that makes an output's block addressable."""

from __future__ import annotations

from interlock.spec.engine.conditions import BETWEEN, BUILDING, FREE, NO_LOAD, NO_OTHER_VISIT, SCHEDULER, VISITING
from interlock.spec.engine.effects import count_admission, take
from interlock.spec.engine.predicates import another_is_visited, at, awaits, is_
from interlock.spec.engine.vocabulary import (
    PROMPT,
    addressable,
    b,
    b2,
    computed,
    drafted,
    in_flight,
    place,
    placeholders,
    planned,
    r,
    redo,
    refused,
    reoffer,
    role,
    roles,
    sampling,
    scheduled_in,
    shared_recompute,
    start,
    t,
    table,
    this_life,
    tokens,
    unsettled,
)
from interlock.spec.language.actions import Action, Fairness, Update, assign, assign_all, fire, need
from interlock.spec.language.terms import Term, exists, ite

AWAITED = need("shared-blocks-are-awaited", shared_recompute.is_("trusted") | ~awaits())
IN_ITS_LOOP = need("in-its-loop", (is_(r, "running") | at("wait_loop")) & ~another_is_visited())


def _schedules(place_of_token: Term, *, known: Term | bool = True) -> tuple[Update, ...]:
    """One more token of r in step t; the last known one samples, and its output is awaited by a placeholder."""
    last = (place_of_token + 1).eq(tokens(r) + placeholders(r))
    return (
        assign(addressable(b), known),
        assign(planned(b), True),
        assign(unsettled(t, b), True),
        assign(computed(r), computed(r) + 1),
        assign(in_flight(r), in_flight(r) + 1),
        assign(scheduled_in(r, t), scheduled_in(r, t) + 1),
        assign(sampling(r, t), sampling(r, t) | last),
        assign(placeholders(r), placeholders(r) + ite(last, 1, 0)),
        *count_admission(~is_(r, "running")),
        assign_all(
            b2, to=role(r, t, b2),
            value=ite(b2.eq(b), roles["computed"], roles["read"]),
            when=b2.eq(b) | (table(r, b2) & (place(b2) < computed(r)) & role(r, t, b2).eq(roles["none"])),
        ),
        assign(start(r, t), ite(scheduled_in(r, t).eq(0), computed(r), start(r, t))),
        assign(this_life(r, t), True),
    )  # fmt: skip


NOTHING_THERE = need("nothing-held-there", ~exists(b2, table(r, b2) & (place(b2) >= computed(r))))
_BUDGET = "schedule() gives budget to every request in turn"

compute_new = Action(
    name="compute_new", event="schedule_token", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(BUILDING, FREE, need("prompt-token", computed(r) < PROMPT), NO_OTHER_VISIT, AWAITED, NOTHING_THERE),
    updates=(*take(), *_schedules(computed(r))),
    fairness=Fairness.STRONG, fairness_why=_BUDGET,
    source="contract Q11, Q20, G1, G3",
    doc="A prompt token is scheduled into a free block, which is addressable at once, before it is computed.",
)  # fmt: skip

admit = Action(
    name="admit", event="schedule_token", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(BUILDING, FREE, VISITING, NO_LOAD),
    updates=(*take(), *_schedules(computed(r))),
    fairness=Fairness.WEAK, fairness_why="a visit that has begun ends within its pass",
    source="contract Q9, Q10, G1, G3",
    doc="A waiting request is admitted with what it has got: the connector has nothing more, or was not asked.",
)  # fmt: skip

admit_refused = Action(
    name="admit_refused", event="schedule_token", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(BUILDING, FREE, VISITING, NO_LOAD, need("nothing-is-offered", reoffer.is_("suppressed") & refused(r))),
    updates=(*take(), *_schedules(computed(r))),
    fairness=Fairness.STRONG, fairness_why=_BUDGET,
    source="contract Q10; R-10",
    doc="The same, of a request to which nothing is offered any more: there is nothing else that a visit can do.",
)  # fmt: skip

compute_held = Action(
    name="compute_held", event="schedule_token", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(
        BUILDING, NO_OTHER_VISIT, AWAITED,
        need("held-there", table(r, b) & place(b).eq(computed(r))),
        need("token-known", place(b) < tokens(r)),
    ),
    updates=_schedules(computed(r)),
    fairness=Fairness.STRONG, fairness_why=_BUDGET,
    source="contract Q24, Q13, Q14",
    doc="A token is computed again in the block that r holds for it.",
)  # fmt: skip

decode = Action(
    name="decode", event="schedule_token", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(
        IN_ITS_LOOP, BUILDING, NO_LOAD, FREE, AWAITED,
        need("output-token", computed(r) >= PROMPT),
        need("one-sample-a-step", ~sampling(r, t)),
        need("token-known-or-awaited", computed(r) < tokens(r) + placeholders(r)),
        NOTHING_THERE,
    ),
    updates=(*take(), *_schedules(computed(r), known=computed(r) < tokens(r))),
    fairness=Fairness.STRONG, fairness_why=_BUDGET,
    source="contract Q20, I-10; async_scheduler.py:74-78: hashed only when the token is known",
    doc="The token after the prompt is computed, perhaps before the step that samples it has been processed.",
)  # fmt: skip

draft = Action(
    name="draft", event="schedule_token", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(
        BUILDING, FREE, NO_OTHER_VISIT,
        need("after-the-sample", sampling(r, t) & ~drafted(r, t)),
        NOTHING_THERE,
    ),
    updates=(
        *take(),
        assign(addressable(b), False),
        assign(planned(b), True),
        assign(unsettled(t, b), True),
        assign(computed(r), computed(r) + 1),
        assign(in_flight(r), in_flight(r) + 1),
        assign(scheduled_in(r, t), scheduled_in(r, t) + 1),
        assign(drafted(r, t), True),
        assign(role(r, t, b), roles["computed"]),
    ),
    source="contract Q20, I-10: speculative tokens",
    doc="A step computes a guessed token after the one that it samples; its output says whether the guess was right.",
)  # fmt: skip

publish_output = Action(
    name="publish_output", event="publish_output", params=(r, b), site=SCHEDULER, observed=False,
    guard=(
        BETWEEN,
        need("admitted", is_(r, "running")),
        need("held", table(r, b) & ~addressable(b)),
        need("not-a-placeholder", place(b) < computed(r) - placeholders(r)),
        need("not-wrong", ~redo(b)),
    ),
    updates=(assign(addressable(b), True),),
    source="contract G3: at output under asynchronous scheduling, async_scheduler.py:74-78; B-035 vllm #27648",
    doc="A block whose token was not known when it was scheduled becomes addressable once it is.",
)  # fmt: skip
