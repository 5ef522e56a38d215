"""The actions of update_from_output(): reports of loads, recovery, outputs."""

from __future__ import annotations

from interlock.spec.engine.conditions import BETWEEN, NO_OTHER_VISIT, SCHEDULER
from interlock.spec.engine.effects import (
    disown_output,
    forget,
    go_back,
    larger,
    leave_untold,
    let_go,
    owe,
    recount,
    unhash_from,
    unhash_unsettled,
)
from interlock.spec.engine.predicates import (
    IN_SCHEDULE,
    at,
    bad_at,
    base,
    is_,
    is_computed_again_by_another,
    is_first,
    scan_is_due,
    scanned,
    step_is,
)
from interlock.spec.engine.vocabulary import (
    addressable,
    affected,
    b,
    b2,
    before,
    claimed,
    computed,
    confirmed,
    drafted,
    entry_lost,
    entry_wrong,
    external,
    failed_msg,
    good,
    in_flight,
    invalid,
    invalid_hash,
    invalid_msg,
    late,
    load_failure_policy,
    load_has_failed,
    loop,
    loops,
    parked,
    place,
    placeholders,
    planned,
    r,
    recv_msg,
    redo,
    refused,
    request,
    sampling,
    scheduled_in,
    shared_recompute,
    stale_in,
    stale_output,
    start,
    step_output,
    t,
    t2,
    table,
    tainted,
    this_life,
    tokens,
    unsettled,
)
from interlock.spec.language.actions import Action, Fairness, assign, assign_all, fire, need, receive, receive_all
from interlock.spec.language.terms import exists, forall, ite, substitute

RECOMPUTE = need("policy", load_failure_policy.is_("recompute"))
FAIL = need("policy", load_failure_policy.is_("fail"))
UPDATING = need("being-processed", step_is("updating"))
_rs = request.var("rs")
NO_SCAN_DUE = need("scanned-first", forall(_rs, substitute(~(scan_is_due() & ~affected(r)), {r: _rs})))
ENDS = "update_from_output goes through all that came with the step"

begin_update = Action(
    name="begin_update", event="begin_update", params=(t,), site=SCHEDULER,
    fires=(fire("pass", t),),
    receives=(receive(step_output, t), receive_all(invalid_msg, t, b, over=(b,))),
    guard=(BETWEEN, need("in-order", ~exists(t2, before(t2, t)))),
    updates=(
        assign(loop(), loops["updating"]),
        assign_all(b, to=invalid(b), value=invalid_msg(t, b) > 0),
        assign_all(b, to=addressable(b), value=False, when=invalid_hash.is_("evict") & (invalid_msg(t, b) > 0)),
        assign_all(b, to=late(b), value=False, when=invalid_msg(t, b) > 0),
        assign_all(b, to=parked(t, b), value=False),
    ),
    fairness=Fairness.STRONG,
    fairness_why="the engine processes the output of a step that has run",
    source="contract 6.1 update_from_output; G8",
    doc="The output of the oldest step is there; blocks that waited for it are free.",
)  # fmt: skip

lose_entry = Action(
    name="lose_entry", event="lose_entry", params=(r, t), site=SCHEDULER, observed=False, fault=True,
    guard=(UPDATING, need("has-entry", (scheduled_in(r, t) > 0) & ~entry_lost(r, t))),
    updates=(assign(entry_lost(r, t), True),),
    source="seeds 001: a wrong or missing entry in the scheduled-tokens map",
    doc="The scheduled-tokens map that comes with the output lacks r.",
)  # fmt: skip

inflate_entry = Action(
    name="inflate_entry", event="inflate_entry", params=(r, t), site=SCHEDULER, observed=False, fault=True,
    guard=(UPDATING, need("has-entry", (scheduled_in(r, t) > 0) & ~entry_wrong(r, t))),
    updates=(assign(entry_wrong(r, t), True),),
    source="seeds 001: a wrong or missing entry in the scheduled-tokens map",
    doc="The scheduled-tokens map that comes with the output says too much of r.",
)  # fmt: skip

NOT_YET = need("not-yet-affected", ~affected(r))
SCANNED = need("is-scanned", scanned())

claim = Action(
    name="claim", event="recover", params=(r, t, b), site=SCHEDULER,
    guard=(
        UPDATING, RECOMPUTE, SCANNED, NOT_YET,
        need("invalid-and-unclaimed", bad_at(b) & ~claimed(b)),
        need("first-of-them", is_first(b, unclaimed=True)),
    ),
    updates=(
        *go_back(place(b), in_update=True),
        recount(place(b)),
        assign(affected(r), True),
        assign_all(b2, to=claimed(b2), value=True, when=bad_at(b2)),
        *owe(place(b)),
    ),
    fairness=Fairness.WEAK, fairness_why=ENDS,
    source="contract Q24, 5(b); seeds 001; vLLM PR 38096",
    doc="r is the first that is scanned with this invalid block: it goes back to it and computes it again.",
)  # fmt: skip

keep_base = Action(
    name="keep_base", event="recover", params=(r, t), site=SCHEDULER,
    guard=(
        UPDATING, RECOMPUTE, SCANNED, NOT_YET,
        need("has-invalid", exists(b, bad_at(b))),
        need("all-claimed", forall(b, bad_at(b) >> claimed(b))),
    ),
    updates=(
        *go_back(base(), in_update=True),
        recount(base()),
        assign(affected(r), True),
        *owe(base()),
    ),
    fairness=Fairness.WEAK, fairness_why=ENDS,
    source="contract 5(b): others keep what they had; seeds 001",
    doc=(
        "All invalid blocks of r are computed again by others: r goes back to what was computed before this step. What "
        "it holds behind them is owed: it waits for them, and then takes that over."
    ),
)  # fmt: skip

fail_running = Action(
    name="fail_running", event="recover", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(
        UPDATING, FAIL, SCANNED,
        need("invalid", bad_at(b)),
        need("first-of-them", is_first(b, unclaimed=False)),
    ),
    updates=(unhash_from(place(b), always=True), *let_go(), *disown_output(), *forget()),
    fairness=Fairness.WEAK, fairness_why=ENDS,
    source="contract Q25; seeds 001: the invalid block and every later one lose their hash",
    doc="A request whose load failed ends with an error.",
)  # fmt: skip

recover_loading = Action(
    name="recover_loading", event="recover", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(UPDATING, RECOMPUTE, need("invalid", bad_at(b)), need("first-of-them", is_first(b, unclaimed=False))),
    updates=(
        leave_untold(), *go_back(place(b), in_update=True), assign(refused(r), True),
        assign(load_has_failed(r), True),
    ),
    fairness=Fairness.WEAK, fairness_why=ENDS,
    source="contract Q16",
    doc="A block of a loading request is invalid: what comes before it is all that will have been loaded.",
)  # fmt: skip

_NOT_ENDED = is_(r, "loading", "loading_failed")

fail_loading = Action(
    name="fail_loading", event="recover", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(UPDATING, FAIL, need("invalid", bad_at(b)), need("first-of-them", is_first(b, unclaimed=False))),
    updates=(unhash_from(place(b), always=True), *let_go(~_NOT_ENDED), *disown_output(), *forget()),
    fairness=Fairness.WEAK, fairness_why=ENDS,
    source="contract Q18",
    doc="A loading request ends with an error; its blocks stay until the load has ended.",
)  # fmt: skip

take_failure = Action(
    name="take_failure", event="failed_recving", params=(r, t), site=SCHEDULER,
    fires=(fire("status", r),),
    receives=(receive(failed_msg, t, r),),
    guard=(UPDATING, RECOMPUTE),
    updates=(
        leave_untold(),
        assign(computed(r), 0), assign(confirmed(r), 0), assign(external(r), 0), assign(refused(r), ~is_(r, "held")),
        assign(load_has_failed(r), ~is_(r, "held")),
    ),
    fairness=Fairness.WEAK, fairness_why=ENDS,
    source="contract Q17",
    doc="The whole load of r failed: nothing is computed.",
)  # fmt: skip

fail_failure = Action(
    name="fail_failure", event="failed_recving", params=(r, t), site=SCHEDULER,
    fires=(fire("status", r),),
    receives=(receive(failed_msg, t, r),),
    guard=(UPDATING, FAIL),
    updates=(*disown_output(), *forget()),
    fairness=Fairness.WEAK, fairness_why=ENDS,
    source="contract Q18",
    doc="The whole load of r failed: r ends with an error, and is held until finished_recving.",
)  # fmt: skip

finished_recving = Action(
    name="finished_recving", event="finished_recving", params=(r, t), site=SCHEDULER,
    fires=(fire("status", r),),
    receives=(receive(recv_msg, t, r),),
    guard=(UPDATING, NO_SCAN_DUE, need("failure-taken-first", failed_msg(t, r).eq(0))),
    updates=let_go(is_(r, "held")),
    fairness=Fairness.WEAK, fairness_why=ENDS,
    source="contract Q12, Q32, 6.1: failures come before finished_recving",
    doc="The load of r has ended; if r has ended meanwhile, its blocks go back now.",
)  # fmt: skip

reject_draft = Action(
    name="reject_draft", event="reject_draft", params=(r, t), site=SCHEDULER,
    guard=(
        UPDATING, NO_SCAN_DUE,
        need("has-draft", drafted(r, t)),
        need("output-counts", ~stale_in(r, t)),
    ),
    updates=(
        assign(drafted(r, t), False),
        assign(computed(r), computed(r) - 1),
        assign(in_flight(r), in_flight(r) - 1),
        assign(scheduled_in(r, t), scheduled_in(r, t) - 1),
        assign_all(b, to=good(b), value=False, when=table(r, b) & place(b).eq(computed(r) - 1)),
    ),
    source="B-165 vllm #48245; contract I-09",
    doc="The guess was wrong: its token is not computed after all.",
)  # fmt: skip

_OVER = (unhash_unsettled(), *let_go(), *disown_output(), *forget())

stop = Action(
    name="stop", event="stop", params=(r, t), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(
        UPDATING, NO_SCAN_DUE,
        need("output-counts", ~stale_in(r, t)),
        need("token-sampled", sampling(r, t)),
    ),
    updates=_OVER,
    source="contract Q26, Q31",
    doc="The token that has come is the last: the request ends, and hands over the blocks that hold its KV.",
)  # fmt: skip

stop_stale = Action(
    name="stop_stale", event="stop", params=(r, t), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(
        UPDATING, NO_SCAN_DUE,
        need("delivered-though-stale", stale_output.is_("deliver")),
        need("output-of-the-past", stale_in(r, t)),
        need("token-sampled", sampling(r, t)),
    ),
    updates=_OVER,
    source="contract Q27",
    doc="The same of a request that was preempted meanwhile, and has no blocks to hand over.",
)  # fmt: skip

_delivered = (scheduled_in(r, t) > 0) & ~stale_in(r, t)

process_outputs = Action(
    name="process_outputs", event="process_outputs", params=(t,), site=SCHEDULER,
    fires=(fire("pass", t),),
    guard=(
        NO_SCAN_DUE,
        need("reports-are-taken", forall(r, recv_msg(t, r).eq(0) & failed_msg(t, r).eq(0))),
    ),
    updates=(
        assign_all(r, to=in_flight(r), value=in_flight(r) - scheduled_in(r, t), when=_delivered),
        # What comes behind a gap is not confirmed.
        assign_all(
            r, to=confirmed(r),
            value=ite(start(r, t) > confirmed(r), confirmed(r), larger(confirmed(r), start(r, t) + scheduled_in(r, t))),
            when=_delivered,
        ),
        assign_all(r, to=tokens(r), value=tokens(r) + ite(drafted(r, t), 2, 1), when=_delivered & sampling(r, t)),
        assign_all(r, to=placeholders(r), value=placeholders(r) - 1, when=_delivered & sampling(r, t)),
        assign_all(r, to=scheduled_in(r, t), value=0),
        assign_all(r, to=sampling(r, t), value=False),
        assign_all(r, to=drafted(r, t), value=False),
        assign_all(r, to=stale_in(r, t), value=False),
        assign_all(r, to=entry_lost(r, t), value=False),
        assign_all(r, to=entry_wrong(r, t), value=False),
        assign_all(t2, to=before(t, t2), value=False),
        assign_all(b, to=unsettled(t, b), value=False),
        assign_all(b, to=invalid(b), value=False),
        assign_all(b, to=claimed(b), value=False),
        assign_all(r, to=affected(r), value=False),
        assign(loop(), loops["between"]),
        assign_all(r, to=tainted(r, t), value=False),
        assign_all(r, to=this_life(r, t), value=False),
        assign_all(r, to=start(r, t), value=0),
    ),
    fairness=Fairness.WEAK, fairness_why=ENDS,
    source="contract 6.1, I-09, Q24",
    doc="The outputs of the step are given to their requests, unless they are stale; the update ends.",
)  # fmt: skip

take_over = Action(
    name="take_over", event="take_over", params=(r, b), site=SCHEDULER,
    guard=(
        need("in-schedule", at(*IN_SCHEDULE)),
        NO_OTHER_VISIT,
        need("shared-blocks-are-awaited", shared_recompute.is_("awaited")),
        need("admitted", is_(r, "running", "promoted")),
        # Nothing of r is in flight here, in all that was explored; the proof needs what it counts as processed.
        need("counts-a-wrong-block", table(r, b) & redo(b) & ~planned(b) & (place(b) < computed(r) - in_flight(r))),
        need("first-of-them", ~exists(b2, table(r, b2) & redo(b2) & (place(b2) < place(b)))),
        need("not-yet-scheduled", ~exists(t, step_is("building") & (scheduled_in(r, t) > 0))),
        need("nobody-else-will", ~is_computed_again_by_another(b)),
    ),
    updates=(
        *go_back(place(b), in_update=False),
        recount(place(b)),
        assign_all(b2, to=redo(b2), value=True, when=table(r, b2) & (place(b2) >= place(b))),
        unhash_from(place(b), always=False),
    ),
    fairness=Fairness.STRONG,
    fairness_why="every pass visits the running requests",
    source="found with this model: the request that was to compute a shared block again was aborted or preempted",
    doc="Nobody else will compute this block again: r goes back to it itself.",
)  # fmt: skip

UPDATES = (
    begin_update, lose_entry, inflate_entry, claim, keep_base, fail_running, recover_loading, fail_loading,
    take_failure, fail_failure, finished_recving, reject_draft, stop, stop_stale, process_outputs, take_over,
)  # fmt: skip
