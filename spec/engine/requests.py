"""The actions by which requests arrive, lose their blocks, and end."""

from __future__ import annotations

from interlock.spec.engine.conditions import BETWEEN, SCHEDULER
from interlock.spec.engine.effects import disown_output, forget, let_go, unhash_unsettled
from interlock.spec.engine.predicates import another_schedules, at, is_, step_is
from interlock.spec.engine.vocabulary import (
    PROMPT,
    b,
    computed,
    confirmed,
    drafted,
    external,
    loop,
    loops,
    planned,
    r,
    role,
    roles,
    sampling,
    scheduled_in,
    t,
    table,
    tokens,
    unsettled,
)
from interlock.spec.language.actions import Action, assign, assign_all, fire, need
from interlock.spec.language.terms import exists

_STAYS_SCHEDULED = step_is("building") & another_schedules(b)

add_request = Action(
    name="add_request", event="add_request", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(BETWEEN,),
    updates=(assign(tokens(r), PROMPT),),
    source="contract Q1", doc="A request arrives; its id may have been used before.",
)  # fmt: skip

preempt = Action(
    name="preempt", event="preempt", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(need("running-loop", at("run_loop", "no_wait")),),
    updates=(
        # What this very pass has scheduled of r does not happen, but what it has scheduled of others does.
        unhash_unsettled(),
        assign_all(b, to=planned(b), value=False, when=table(r, b) & ~exists(t, _STAYS_SCHEDULED)),
        assign_all(t, b, to=unsettled(t, b), value=False, when=step_is("building") & table(r, b) & ~_STAYS_SCHEDULED),
        assign_all(t, to=scheduled_in(r, t), value=0, when=step_is("building")),
        assign_all(t, to=sampling(r, t), value=False, when=step_is("building")),
        assign_all(t, to=drafted(r, t), value=False, when=step_is("building")),
        assign_all(t, b, to=role(r, t, b), value=roles["none"], when=step_is("building")),
        *let_go(),
        *disown_output(),
        assign(computed(r), 0),
        assign(confirmed(r), 0),
        assign(external(r), 0),
        assign(loop(), loops["no_wait"]),
    ),
    source="contract Q22, I-08, I-09; the victim may have been scheduled in this very pass",
    doc="A running request loses its blocks and its place in this step, and waits again.",
)  # fmt: skip

reset_running = Action(
    name="reset_running", event="reset_prefix_cache", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(BETWEEN,),
    updates=(
        unhash_unsettled(), *let_go(), *disown_output(), assign(computed(r), 0), assign(external(r), 0),
        assign(confirmed(r), 0),
    ),
    source="contract Q23",
    doc="reset_prefix_cache(reset_running=True) preempts a running request between two steps.",
)  # fmt: skip

finish = Action(
    name="finish", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(BETWEEN,),
    updates=(
        unhash_unsettled(),
        *let_go(~is_(r, "loading", "loading_failed")),
        *disown_output(),
        *forget(),
    ),
    source="contract Q26, Q30, Q31, I-15",
    doc="A request ends (stop, abort): its blocks go back, unless a load still fills them.",
)  # fmt: skip
