"""Where stores read: tables, windows that slide, ids gone stale, fences, flushes and the worker's copies."""

from __future__ import annotations

from interlock.spec.groups.common import (
    AT_CURSOR,
    BEFORE_SCAN,
    BETWEEN_STEPS,
    NOT_PASSED,
    SCHEDULER,
    SEE,
    STORE_GUARD,
    WORKER,
    closed_updates,
    fail_updates,
    store_updates,
)
from interlock.spec.groups.predicates import fenced_when_planned, has_left, in_window, is_free, no_record
from interlock.spec.groups.vocabulary import (
    awaited,
    b,
    block,
    block_value,
    c,
    c2,
    contained,
    cursor,
    due_block,
    duty_state,
    duty_states,
    fenced,
    flush_order,
    g,
    g2,
    group_output,
    group_step,
    in_step,
    listed_now,
    mislaid,
    p,
    p2,
    passed,
    precedes,
    q,
    r,
    r2,
    raised,
    reached,
    recorded,
    reported,
    sequence,
    slot_state,
    slot_states,
    slot_value,
    source,
    sourced,
    stale_zero,
    store_order,
    store_report,
    stored_for,
    strayed,
    table,
    to_flush,
    unknown_job,
    will_hold,
    windowed,
)
from interlock.spec.language.actions import (
    Action,
    Fairness,
    Fire,
    assign,
    assign_all,
    fire,
    fire_all,
    need,
    receive,
    receive_all,
    send,
)
from interlock.spec.language.terms import FALSE, Term, exists, forall, ite

_b2 = block.var("b2")

start_without_lookup = Action(
    name="start_without_lookup", event="start_without_lookup", params=(r, p), site=SCHEDULER,
    fires=(fire("prompt", r),),
    guard=(need("from-the-start", sequence.is_first(p)),),
    updates=(assign(cursor(r), p), assign_all(g, to=passed(r, g), value=False), SEE),
    source="contract R-08",
    doc="A request that does not read the prefix cache computes from the start. The connector is asked all the same.",
)  # fmt: skip

allocate_block = Action(
    name="allocate_block", event="allocate_block", params=(r, g, p, b), site=SCHEDULER,
    fires=(fire("prompt", r),),
    guard=(
        BETWEEN_STEPS,
        BEFORE_SCAN,
        need("is-free", is_free(b)),
        need("next-of-its-group", ~reached(r, g, p) & forall(p2, precedes(p2, p) >> reached(r, g, p2))),
    ),
    updates=(
        assign(table(r, g, p, b), True),
        assign(reached(r, g, p), True),
        assign_all(
            r2, g2, p2, to=recorded(r2, g2, p2, b),
            value=ite(
                r2.eq(r) & g2.eq(g) & p2.eq(p),
                True,
                ite(stale_zero.is_("yes"), FALSE, recorded(r2, g2, p2, b)),
            ),
        ),
        assign(due_block(b), True),
        assign_all(c, to=to_flush(c), value=True, when=source(c, b) & fenced(c)),
        assign_all(g2, p2, to=will_hold(b, g2, p2), value=g2.eq(g) & p2.eq(p)),
    ),
    source="contract G1, I-28, 5(d) stale ids",
    doc=(
        "r gets a free block for its next chunk of group g, which this step's forward computes. A store that "
        "reads the block, behind a fence, must be flushed by this step's metadata."
    ),
)  # fmt: skip

slide_out = Action(
    name="slide_out", event="slide_out", params=(r, g, p, b), site=SCHEDULER,
    guard=(
        need("windowed", windowed(g)),
        need("in-table", table(r, g, p, b)),
        need(
            "out-of-window",
            exists(q, _b2, precedes(p, q) & ~in_window(p, q) & table(r, g, q, _b2) & ~due_block(_b2)),
        ),
    ),
    updates=(
        assign(table(r, g, p, b), False),
    ),
    source="contract G6",
    doc=(
        "A block that the window of r has left goes back, though a store may still read it: the table has null "
        "there, the connector's copy of it still the id."
    ),
)  # fmt: skip

plan_store_from = Action(
    name="plan_store_from", event="plan_store", params=(r, g, p, b, c), site=SCHEDULER,
    fires=(fire("prompt", r), fire("slot", c)),
    sends=(send(store_order, c),),
    guard=(
        BETWEEN_STEPS,
        need("recorded", recorded(r, g, p, b)),
        *STORE_GUARD,
    ),
    updates=(
        *store_updates(),
        assign(sourced(c), True),
        assign(awaited(c), True),
        assign_all(_b2, to=source(c, _b2), value=_b2.eq(b)),
        assign_all(r2, to=stored_for(c, r2), value=r2.eq(r)),
        assign(listed_now(c), True),
        assign(fenced(c), fenced_when_planned(g)),
    ),
    source="contract J1 to J4",
    doc="As plan_store; the source is the block that the connector has recorded there.",
)  # fmt: skip

skip_forgotten = Action(
    name="skip_forgotten", event="skip_forgotten", params=(r, g, p), site=SCHEDULER, observed=False,
    fires=(fire("prompt", r),),
    guard=(
        need("computed", reached(r, g, p)),
        AT_CURSOR,
        NOT_PASSED,
        need("no-record", no_record(r, g, p) | has_left(r, g, p)),
    ),
    updates=(assign(passed(r, g), True),),
    source="contract J1: non-zero ids; 5(d)",
    doc=(
        "The store scan of r passes over a chunk whose block is gone: the id there is null. A connector that knows the "
        "model's window may forget the id as soon as the window has left the block, before that is allocated again."
    ),
)  # fmt: skip

build_connector_meta = Action(
    name="build_connector_meta", event="build_connector_meta", site=SCHEDULER,
    sends=(send(group_step), send(flush_order, c, over=(c,), when=to_flush(c))),
    guard=(BETWEEN_STEPS,),
    updates=(
        assign(in_step(), True),
        assign_all(c, to=listed_now(c), value=False),
        assign_all(c, to=to_flush(c), value=False),
    ),
    fairness=Fairness.WEAK, fairness_why="the engine keeps stepping while a store is open",
    source="R-22, R-23, J5, J9",
    doc="schedule() ends: the step goes to the worker, with the stores planned and the flushes that are due.",
)  # fmt: skip

_FLUSHED = (flush_order(c) > 0) & duty_state(c).eq(duty_states["queued"])


def _saved(c: Term) -> Term:
    """The source of the store of c holds the chunk at p of g."""
    return exists(_b2, source(c, _b2) & block_value(_b2, g, p))


run_group_step = Action(
    name="run_group_step", event="run_group_step", site=WORKER, observed=False,
    receives=(
        receive(group_step),
        receive_all(store_order, c, over=(c,)),
        receive_all(flush_order, c, over=(c,)),
    ),
    fires=(Fire(lifecycle="duty", entity=(c,), over=(c,)),),
    sends=(send(group_output),),
    updates=(
        # Flush before forward: both read the state before this step, so the copy takes the old content.
        assign_all(c, g, p, to=slot_value(c, g, p), value=_saved(c), when=_FLUSHED),
        assign_all(b, g, p, to=block_value(b, g, p), value=will_hold(b, g, p), when=due_block(b)),
    ),
    fairness=Fairness.WEAK, fairness_why="the worker runs the steps that it is given",
    source="contract 6.1, R-31, R-36",
    doc="The worker runs a step: flushes, then the forward, then it queues the stores that came with it.",
)  # fmt: skip

copy_chunk = Action(
    name="copy_chunk", event="copy_chunk", params=(c,), site=WORKER, observed=False,
    fires=(fire("duty", c),),
    updates=(assign_all(g, p, to=slot_value(c, g, p), value=_saved(c)),),
    fairness=Fairness.WEAK, fairness_why="submitted copies end",
    source="contract J8, J10",
    doc="The copy happens, at any moment while it is queued.",
)  # fmt: skip

report_store = Action(
    name="report_store", event="report_store", params=(c,), site=WORKER, observed=False,
    fires=(fire("duty", c),),
    sends=(send(store_report, c),),
    updates=(assign(reported(c), True),),
    fairness=Fairness.WEAK, fairness_why="every store is reported once",
    source="contract J10, R-49",
    doc="The worker reports that slot c is stored.",
)  # fmt: skip

report_again = Action(
    name="report_again", event="report_again", params=(c,), site=WORKER, observed=False, fault=True,
    guard=(need("has-reported", reported(c)), need("first-fault", ~strayed())),
    sends=(send(store_report, c),),
    updates=(assign(strayed(), True),),
    source="contract R-40, R-49: a surplus report; I-47: job ids are never used again",
    doc=(
        "The worker reports a store again that it has reported. A job is named by its slot here, so this is for "
        "slices in which a slot is used once."
    ),
)  # fmt: skip

mislay_pending = Action(
    name="mislay_pending", event="mislay_pending", params=(c,), site=SCHEDULER, observed=False, fault=True,
    guard=(need("is-pending", awaited(c)), need("first-loss", ~mislaid())),
    updates=(assign(awaited(c), False), assign(mislaid(), True)),
    source="B-027 vllm #42761: a job lists a block twice, and its pending entry is removed twice",
    doc="The table of pending jobs loses the entry of a store that is still open.",
)  # fmt: skip

acknowledge_store = Action(
    name="acknowledge_store", event="acknowledge_store", params=(c,), site=SCHEDULER,
    receives=(receive(store_report, c),),
    fires=(fire("slot", c),),
    guard=(need("known", awaited(c)),),
    updates=(*closed_updates(), assign(awaited(c), False)),
    fairness=Fairness.STRONG,
    fairness_why="update_from_output delivers every report; between outputs the scheduler does not listen",
    source="contract J11",
    doc="The scheduler learns that slot c is stored: lookups see it, and its fence falls.",
)  # fmt: skip

_CONTAINED = unknown_job.is_("contain")
_OPEN = slot_state(c).eq(slot_states["pending"])

reject_report = Action(
    name="reject_report", event="reject_report", params=(c,), site=SCHEDULER,
    receives=(receive(store_report, c),),
    # Fired for all slots that are c: a store that has ended already cannot fail any more.
    fires=(fire_all("slot", c2, when=c2.eq(c)),),
    guard=(need("unknown", ~awaited(c)),),
    updates=(
        assign(raised(), ite(unknown_job.is_("raise"), True, raised())),
        assign(contained(), ite(_CONTAINED, contained() + 1, contained())),
        *fail_updates(_CONTAINED & _OPEN),
    ),
    fairness=Fairness.STRONG,
    fairness_why="update_from_output delivers every report; between outputs the scheduler does not listen",
    source="seeds 003: removing an unknown pending job raises, or is contained and fails that job; contract R-49",
    doc="A report about a store that nobody knows: the engine stops rather than guess, or the store fails, counted.",
)  # fmt: skip

update_from_output = Action(
    name="update_from_output", event="update_from_output", site=SCHEDULER,
    receives=(receive(group_output),),
    guard=(need("in-step", in_step()),),
    updates=(
        assign(in_step(), False),
        assign_all(b, to=due_block(b), value=False),
        assign_all(b, g, p, to=will_hold(b, g, p), value=False),
    ),
    fairness=Fairness.WEAK, fairness_why="the engine processes the output of a step that has run",
    source="contract 6.1 update_from_output",
    doc="The step is over.",
)  # fmt: skip

SOURCE_ACTIONS = (
    start_without_lookup, allocate_block, slide_out, plan_store_from, skip_forgotten, build_connector_meta,
    run_group_step, copy_chunk, report_store, report_again, mislay_pending, acknowledge_store, reject_report,
    update_from_output,
)  # fmt: skip
