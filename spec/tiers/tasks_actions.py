"""Tasks: created, started or cancelled, done, given up; and the blocks of a request, taken and let go."""

from __future__ import annotations

from interlock.spec.language.actions import Action, Fairness, assign, assign_all, fire, fire_all, need, receive, send
from interlock.spec.language.lifecycles import Lifecycle, row
from interlock.spec.language.terms import Term, exists, ite
from interlock.spec.language.variables import Site
from interlock.spec.shared.sorts import request
from interlock.spec.tiers.tasks_vocabulary import (
    b,
    buffered_store,
    end_heard,
    end_note,
    in_table,
    nothing_to_store,
    report_withheld,
    store_report,
    stored,
    t,
    t2,
    task_block,
    task_loads,
    task_of,
    task_order,
    task_report,
    task_state,
    task_states,
)
from interlock.spec.tiers.vocabulary import client_state, client_states, r, r2

SCHEDULER, WORKER = Site.SCHEDULER, Site.WORKER
_r = request.var("rx")

TASK = Lifecycle(
    name="task",
    entity=(t,),
    variable="task_state",
    initial="absent",
    doc="A load or store from its creation until every table has forgotten it.",
    rows=(
        row("absent", "create_load", "created", source="contract 2.1 load job"),
        row("absent", "create_store", "created", source="contract J4"),
        row("created", "start_task", "started", source="contract J6"),
        row("created", "cancel_task", "absent", source="B-189 FlexKV #176"),
        row("started", "task_ends", "absent", source="contract J11; B-174 FlexKV #161"),
        row("given_up", "task_ends", "absent", source="contract I-58"),
        row("started", "escape", "given_up", guard=~task_loads(t), source="B-183 ATOM #2053"),
        row("created", "escape", "absent", guard=~task_loads(t), source="B-183 ATOM #2053"),
    ),
)


def is_open(x: Term) -> Term:
    """Task x is created or started."""
    return task_states.one_of(task_state(x), "created", "started")


def keeps(x: Term) -> Term:
    """Task x keeps its block from being let go."""
    started = task_state(x).eq(task_states["started"])
    return ite(buffered_store.is_("holds_block"), is_open(x), started | (is_open(x) & task_loads(x)))


def is_reused(x: Term) -> Term:
    """The block of task x has been given to another request since."""
    return exists(_r, in_table(_r, task_block(x)) & ~task_of(_r, x))


HAS_BLOCK = need("in-its-table", in_table(r, b))

give_block = Action(
    name="give_block", event="allocate", params=(r, b), site=SCHEDULER,
    guard=(need("running", client_state(r).eq(client_states["running"])), need("free", ~exists(r2, in_table(r2, b)))),
    updates=(assign(in_table(r, b), True),),
    source="contract G1", doc="r gets a free block.",
)  # fmt: skip

create_load = Action(
    name="create_load", event="create_load", params=(r, b, t), site=SCHEDULER,
    fires=(fire("task", t),),
    guard=(need("running", client_state(r).eq(client_states["running"])), HAS_BLOCK),
    updates=(assign(task_loads(t), True), assign(task_block(t), b), assign(task_of(r, t), True)),
    source="contract 2.1 load job", doc="A load into a block of r is planned.",
)  # fmt: skip

create_store = Action(
    name="create_store", event="create_store", params=(r, b, t), site=SCHEDULER,
    fires=(fire("task", t),),
    guard=(
        HAS_BLOCK,
        need(
            "no-task-under-way-after-the-end",
            client_state(r).eq(client_states["running"]) | ~exists(t2, task_of(r, t2)),
            policy=True,
        ),
    ),
    updates=(assign(task_loads(t), False), assign(task_block(t), b), assign(task_of(r, t), True)),
    source="contract J1, J4; B-174 FlexKV #161",
    doc="A store of a block of r is planned or buffered; after the end of r only if the table names no task of r.",
)  # fmt: skip

start_task = Action(
    name="start_task", event="start_task", params=(t,), site=SCHEDULER,
    fires=(fire("task", t),),
    sends=(send(task_order, t, r, over=(r,), when=task_of(r, t)),),
    guard=(
        need("has-something-to-do", task_loads(t) | (~stored(task_block(t)) & ~is_reused(t)), policy=True),
    ),
    fairness=Fairness.WEAK, fairness_why="what is planned goes out with the next metadata",
    source="contract J6", doc="A task is handed to the worker.",
)  # fmt: skip

cancel_task = Action(
    name="cancel_task", event="cancel_task", params=(t,), site=SCHEDULER,
    fires=(fire("task", t),),
    guard=(
        need("is-a-store", ~task_loads(t)),
        need(
            "has-nothing-to-do",
            is_reused(t) | (stored(task_block(t)) & nothing_to_store.is_("task_cancelled")),
        ),
    ),
    updates=(assign_all(r2, to=task_of(r2, t), value=False),),
    fairness=Fairness.WEAK, fairness_why="planning ends with starting or cancelling what it has created",
    source="B-189 FlexKV #176",
    doc="A store has nothing to do: the block is stored already, or has been reused.",
)  # fmt: skip

run_task = Action(
    name="run_task", event="run_task", params=(t, r), site=WORKER, observed=False,
    receives=(receive(task_order, t, r),),
    sends=(send(task_report, t, when=store_report.is_("at_once")),),
    updates=(assign(report_withheld(t, r), store_report.is_("at_finish")),),
    fairness=Fairness.WEAK, fairness_why="a transfer that does not hang is done in the end",
    source="contract J8, R-49", doc="The worker does a task, and says so.",
)  # fmt: skip

task_hangs = Action(
    name="task_hangs", event="task_hangs", params=(t, r), site=WORKER, observed=False, fault=True,
    receives=(receive(task_order, t, r),),
    source="B-183 ATOM #2053", doc="A task hangs; no report on it will ever come.",
)  # fmt: skip

hear_end = Action(
    name="hear_end", event="hear_end", params=(r,), site=WORKER, observed=False,
    receives=(receive(end_note, r),),
    sends=(send(task_report, t, over=(t,), when=report_withheld(t, r)), send(end_heard, r)),
    updates=(assign_all(t, to=report_withheld(t, r), value=False),),
    fairness=Fairness.WEAK, fairness_why="the metadata of the next step says who has finished",
    source="R-26; B-179 ATOM #2146", doc="The worker hears that r has finished, and lets go of what it has kept back.",
)  # fmt: skip

task_ends = Action(
    name="task_ends", event="task_ends", params=(t,), site=SCHEDULER,
    receives=(receive(task_report, t),),
    fires=(fire("task", t),),
    updates=(
        assign_all(r2, to=task_of(r2, t), value=False),
        assign(
            stored(task_block(t)),
            stored(task_block(t)) | (~task_loads(t) & task_state(t).eq(task_states["started"])),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why="a report that is there is read at the next step",
    source="contract J11; B-174 FlexKV #161", doc="The report of a task comes in: it leaves every table.",
)  # fmt: skip

_LET_GO = (
    assign_all(b, to=in_table(r, b), value=False),
    assign_all(b, to=stored(b), value=False, when=in_table(r, b)),
)
free_blocks = Action(
    name="free_blocks", event="free_blocks", params=(r,), site=SCHEDULER,
    guard=(need("no-task-needs-them", ~exists(t, task_of(r, t) & keeps(t))),),
    updates=_LET_GO,
    fairness=Fairness.STRONG,
    fairness_why="a request that ends lets go as soon as it may; late stores come and go meanwhile",
    source="contract Q22, Q31 to Q33",
    doc="The blocks of a request that has ended, or is preempted, are let go when no task needs them.",
)  # fmt: skip

escape = Action(
    name="escape", event="escape", params=(r,), site=SCHEDULER,
    fires=(fire_all("task", t, when=task_of(r, t)),),
    guard=(
        need("has-an-open-store", exists(t, task_of(r, t) & is_open(t) & ~task_loads(t))),
        need("no-load-under-way", ~exists(t, task_of(r, t) & is_open(t) & task_loads(t))),
    ),
    updates=(
        *_LET_GO,
        assign_all(t, to=task_of(r, t), value=False, when=task_of(r, t) & ~task_loads(t)),
    ),
    fairness=Fairness.WEAK, fairness_why="the deadline of a store passes",
    source="B-183 ATOM #2053",
    doc="The deadline of a request's stores has passed: they are given up, and its blocks let go.",
)  # fmt: skip

forget_request = Action(
    name="forget_request", event="forget_request", params=(r,), site=SCHEDULER, observed=False,
    receives=(receive(end_heard, r),),
    fires=(fire("client", r),),
    guard=(need("holds-nothing", ~exists(b, in_table(r, b))),),
    fairness=Fairness.WEAK, fairness_why="it is tried at every step",
    source="contract I-51, R-26", doc="A request that holds nothing any more, and whose worker knows, is forgotten.",
)  # fmt: skip

TASK_ACTIONS = (
    give_block, create_load, create_store, start_task, cancel_task, run_task, task_hangs, hear_end, task_ends,
    free_blocks, escape, forget_request,
)  # fmt: skip
