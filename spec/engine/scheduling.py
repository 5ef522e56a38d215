"""The actions of schedule(): running requests, preemption, visits of waiting ones, the step's dispatch."""

from __future__ import annotations

from interlock.spec.engine.effects import count_admission, disown_output, forget, let_go, take, unhash_unsettled
from interlock.spec.engine.predicates import (
    IN_SCHEDULE,
    another_is_visited,
    at,
    awaits,
    has_all_blocks_of_r,
    is_free,
    is_in,
    step_is,
    unprocessed,
)
from interlock.spec.engine.vocabulary import (
    PROMPT,
    addressable,
    b,
    b2,
    before,
    computed,
    confirmed,
    drafted,
    external,
    filling,
    hit_chain,
    in_flight,
    load_meta,
    load_start,
    loading_hash,
    loop,
    loops,
    pipeline,
    place,
    placeholders,
    planned,
    r,
    r2,
    redo,
    refused,
    reoffer,
    role,
    roles,
    sampling,
    scheduled_in,
    shared_recompute,
    start,
    status,
    status_states,
    step_meta,
    step_output,
    sync_meta,
    t,
    t2,
    table,
    this_life,
    tokens,
    unsettled,
    zero_meta,
    zeroed_blocks,
)
from interlock.spec.language.actions import (
    Action,
    Fairness,
    Update,
    assign,
    assign_all,
    fire,
    need,
    send,
)
from interlock.spec.language.terms import Term, exists, forall, ite
from interlock.spec.language.variables import Site

SCHEDULER = Site.SCHEDULER


BETWEEN = need("between-calls", at("between"))
BUILDING = need("being-built", step_is("building"))
IN_A_LOOP = need("in-schedule", at(*IN_SCHEDULE))
NO_OTHER_VISIT = need("one-visit-at-a-time", ~another_is_visited())
VISITING = need("waiting-loop", at("wait_loop") & ~another_is_visited())
FREE = need("free-block", is_free(b))
AWAITED = need("shared-blocks-are-awaited", shared_recompute.is_("trusted") | ~awaits())
IN_ITS_LOOP = need("in-its-loop", (is_in("running") | at("wait_loop")) & ~another_is_visited())
NO_LOAD = need("no-load-begun", ~exists(b2, table(r, b2) & filling(b2)))
NOT_REFUSED = need("not-refused", reoffer.is_("allowed") | ~refused(r))

add_request = Action(
    name="add_request", event="add_request", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(BETWEEN,),
    updates=(assign(tokens(r), PROMPT),),
    source="contract Q1", doc="A request arrives; its id may have been used before.",
)  # fmt: skip

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
        *count_admission(~is_in("running")),
        assign_all(
            b2, to=role(r, t, b2),
            value=ite(b2.eq(b), roles["computed"], roles["read"]),
            when=b2.eq(b) | (table(r, b2) & (place(b2) < computed(r)) & role(r, t, b2).eq(roles["none"])),
        ),
        assign(start(r, t), ite(scheduled_in(r, t).eq(0), computed(r), start(r, t))),
        assign(this_life(r, t), True),
    )  # fmt: skip


NOTHING_THERE = need("nothing-held-there", ~exists(b2, table(r, b2) & place(b2).eq(computed(r))))
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
    source="contract Q20, I-10; AS:74-78: hashed only when the token is known",
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
        need("admitted", is_in("running")),
        need("held", table(r, b) & ~addressable(b)),
        need("not-a-placeholder", place(b) < computed(r) - placeholders(r)),
        need("not-wrong", ~redo(b)),
    ),
    updates=(assign(addressable(b), True),),
    source="contract G3: at output under asynchronous scheduling, AS:74-78; B-035 vllm #27648",
    doc="A block whose token was not known when it was scheduled becomes addressable once it is.",
)  # fmt: skip

preempt = Action(
    name="preempt", event="preempt", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(need("running-loop", at("run_loop", "no_wait")),),
    updates=(
        # What this very pass has scheduled of r does not happen.
        unhash_unsettled(),
        assign_all(b, to=planned(b), value=False, when=table(r, b)),
        assign_all(t, b, to=unsettled(t, b), value=False, when=step_is("building") & table(r, b)),
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

hit = Action(
    name="hit", event="hit", params=(r, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(
        VISITING, NO_LOAD,
        need("addressable", addressable(b)),
        need("next-place", place(b).eq(computed(r))),
        need("before-external", external(r).eq(0)),
        need("leaves-a-token", computed(r) + 1 < tokens(r)),
        need(
            "computed-from-its-own-blocks",
            hit_chain.is_("by_hash") | ~exists(t, unsettled(t, b)) | exists(r2, table(r2, b) & has_all_blocks_of_r(r2)),
            policy=True,
        ),
    ),
    updates=(
        assign(table(r, b), True),
        assign(computed(r), computed(r) + 1),
        assign(confirmed(r), confirmed(r) + 1),
    ),
    source="contract G2, R-07; seeds 004: a hit is capped at num_tokens - 1",
    doc="The prefix cache has the next block of r's prefix: r takes a reference to it.",
)  # fmt: skip


def _loads(to_hash: Term | bool) -> tuple[Update, ...]:
    return (
        *take(),
        assign(addressable(b), to_hash),
        assign(computed(r), computed(r) + 1),
        assign(confirmed(r), confirmed(r) + 1),
        assign(external(r), external(r) + ite(computed(r) < PROMPT, 1, 0)),
    )


offer_sync = Action(
    name="offer_sync", event="update_state_after_alloc", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    sends=(send(sync_meta, t, b),),
    guard=(
        VISITING, BUILDING, NO_LOAD, FREE, NOT_REFUSED,
        need("leaves-a-token", computed(r) + 1 < tokens(r)),
        need("room-for-that-token", exists(b2, b2.ne(b) & is_free(b2))),
    ),
    updates=(*_loads(True), assign(unsettled(t, b), True)),
    source="contract Q9, R-05: hashed before it is loaded",
    doc="The connector offers the next block; it is loaded in this step, before the forward.",
)  # fmt: skip

offer_async = Action(
    name="offer_async", event="update_state_after_alloc", params=(r, b), site=SCHEDULER,
    fires=(fire("status", r),),
    sends=(
        send(load_meta, r, b),
        send(zero_meta, t, b, over=(t,), when=zeroed_blocks.is_("all_new") & step_is("building")),
    ),
    guard=(
        VISITING, FREE, NOT_REFUSED,
        need("one-kind-of-load", external(r).eq(0) | exists(b2, table(r, b2) & filling(b2))),
        need("within-tokens", computed(r) < tokens(r)),
    ),
    updates=(*_loads(loading_hash.is_("at_start")), assign(filling(b), True)),
    fairness=Fairness.STRONG, fairness_why="a connector that has the prefix claims it whenever it is asked",
    source="contract Q8, R-04, I-34",
    doc="The connector offers the next block; it is loaded while r waits.",
)  # fmt: skip

turn_away = Action(
    name="turn_away", event="turn_away", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(
        NO_LOAD,
        need("no-free-block", ~exists(b, is_free(b))),
    ),
    updates=(
        assign_all(b, to=table(r, b), value=False),
        assign(computed(r), 0),
        assign(confirmed(r), 0),
        assign(loop(), loops["no_room"]),
    ),
    fairness=Fairness.WEAK,
    fairness_why="a visit ends within its pass",
    source="contract Q7: allocate_slots returns None",
    doc="There is no block for r: what it has found it gives back, and no other waiting request is visited.",
)  # fmt: skip

begin_load = Action(
    name="begin_load", event="begin_load", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    sends=(send(load_start, r),),
    guard=(need("has-blocks-to-fill", exists(b, table(r, b) & filling(b))),),
    fairness=Fairness.WEAK,
    fairness_why="a visit ends within its pass",
    source="contract Q8",
    doc="The visit of r ends: it waits for the remote KV.",
)  # fmt: skip

defer_by_lookup = Action(
    name="defer_by_lookup", event="defer_by_lookup", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(VISITING,),
    source="contract Q4, R-02",
    doc="The connector answers: ask me later. r is skipped, and keeps its place.",
)  # fmt: skip

ask_again = Action(
    name="ask_again", event="ask_again", params=(r,), site=SCHEDULER, observed=False,
    fires=(fire("status", r),),
    guard=(need("running-loop-over", at("run_loop")),),
    fairness=Fairness.STRONG,
    fairness_why="skipped requests go back to the head of the queue: the next pass visits them",
    source="contract Q4, V-03",
    doc="A request that was skipped is in the queue again.",
)  # fmt: skip

promote = Action(
    name="promote", event="promote", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(VISITING, need("has-tokens", computed(r) > 0)),
    updates=(
        assign_all(b, to=addressable(b), value=True, when=table(r, b) & (place(b) < computed(r))),
        assign_all(b, to=filling(b), value=False, when=table(r, b)),
        assign(computed(r), ite(computed(r).eq(tokens(r)), computed(r) - 1, computed(r))),
        assign(confirmed(r), ite(confirmed(r).eq(tokens(r)), confirmed(r) - 1, confirmed(r))),
        # The last token is computed after all: if it came from outside, it counts as external no longer.
        assign(
            external(r),
            ite(
                computed(r).eq(tokens(r)) & (tokens(r) <= PROMPT) & (external(r) > 0), external(r) - 1, external(r)
            ),
        ),
    ),
    fairness=Fairness.STRONG,
    fairness_why="requests that hold KV are visited first in every pass that visits any",
    source="contract Q13, Q14, I-10, I-34, V-12",
    doc="A load has ended: the valid prefix becomes addressable, and the last token is left to compute.",
)  # fmt: skip

retry = Action(
    name="retry", event="retry", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(VISITING, need("has-no-tokens", computed(r).eq(0))),
    updates=(*let_go(), assign(external(r), 0)),
    fairness=Fairness.STRONG,
    fairness_why="requests that hold KV are visited first in every pass that visits any",
    source="contract Q15",
    doc="Nothing of a load is valid: all blocks go back, local hits too, and r is looked up anew.",
)  # fmt: skip

dispatch = Action(
    name="dispatch", event="dispatch", params=(t,), site=SCHEDULER,
    fires=(fire("pass", t),),
    sends=(send(step_meta, t),),
    guard=(
        IN_A_LOOP,
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

finish = Action(
    name="finish", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(BETWEEN,),
    updates=(
        unhash_unsettled(),
        *let_go(~is_in("loading", "loading_failed")),
        *disown_output(),
        *forget(),
    ),
    source="contract Q26, Q30, Q31, I-15",
    doc="A request ends (stop, abort): its blocks go back, unless a load still fills them.",
)  # fmt: skip

SCHEDULING = (
    add_request, begin_schedule, begin_waiting_loop, compute_new, admit, admit_refused, compute_held, decode, draft,
    publish_output, preempt, reset_running,
    hit, offer_sync, offer_async, turn_away, begin_load, defer_by_lookup, ask_again, promote, retry, dispatch, finish,
)  # fmt: skip
