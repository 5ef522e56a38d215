"""What must hold of a request's tasks and blocks."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Invariant, LeadsTo, witnesses_of
from interlock.spec.language.terms import Primed, exists, forall, ite
from interlock.spec.tiers.coverage import BLOCKS, HANG, HANG_BESIDE, TABLES, TASKS
from interlock.spec.tiers.judging import open_task
from interlock.spec.tiers.tasks_vocabulary import (
    b,
    end_heard,
    end_note,
    in_table,
    report_withheld,
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

_started = task_state(t).eq(task_states["started"])
_ended_without_load = client_state(r).eq(client_states["ended"]) & ~exists(
    t, task_of(r, t) & open_task(t) & task_loads(t)
)
_created = task_state(t).eq(task_states["created"])

LEAVES_TABLES = Invariant(
    id="ended-task-is-in-no-table",
    source="B-174 FlexKV #161",
    doc="A request's table names a task exactly as long as the task is created or started, and for one request.",
    slices=TASKS,
    formula=forall(r, t, task_of(r, t) >> (open_task(t) & forall(r2, task_of(r2, t) >> r2.eq(r))))
    & forall(t, open_task(t) >> exists(r, task_of(r, t))),
    premise=exists(r, t, task_of(r, t)),
)
GOES_BACK_UNSTORED = ActionProperty(
    id="block-goes-back-unstored-by-choice-only",
    source="B-174 FlexKV #161",
    doc="A request that ends lets an unstored block go only while a store of it could be planned: its table is right.",
    slices=(TABLES, BLOCKS),
    actions=("free_blocks",),
    formula=(client_state(r).ne(client_states["running"]) & exists(b, in_table(r, b) & ~stored(b)))
    >> forall(t, task_of(r, t) >> open_task(t)),
)
PLANS_KNOW = ActionProperty(
    id="a-plan-knows-what-is-done",
    source="B-179 ATOM #2146",
    doc="When a store is planned, each store of its request that counts as under way is, or its report is there.",
    slices=(TABLES, BLOCKS),
    actions=("create_store",),
    formula=forall(
        t2,
        (task_of(r, t2) & ~task_loads(t2) & task_state(t2).eq(task_states["started"]))
        >> ((task_order(t2, r) + task_report(t2)) > 0),
    ),
)
TARGET_BELONGS = Invariant(
    id="loaded-block-belongs-to-its-request",
    source="B-183 ATOM #2053; contract I-24",
    doc="A load that is open writes a block that its request still has.",
    slices=(TABLES, HANG),
    formula=forall(r, t, (task_of(r, t) & open_task(t) & task_loads(t)) >> in_table(r, task_block(t))),
    premise=exists(t, _started & task_loads(t)),
)
STORE_KEEPS = Invariant(
    id="accepted-store-keeps-its-block",
    source="B-186 LMCache #4847; contract R-28",
    doc="The block of a store that is planned, buffered or started is not given to anybody else.",
    slices=TASKS,
    formula=forall(
        r,
        r2,
        t,
        (task_of(r, t) & open_task(t) & ~task_loads(t) & in_table(r2, task_block(t))) >> r.eq(r2),
    ),
    premise=exists(t, _created & ~task_loads(t)),
)
ONE_OWNER = Invariant(
    id="block-is-in-one-table",
    source="contract G1",
    doc="A block is given to one request at a time.",
    slices=(BLOCKS,),
    formula=forall(r, r2, b, (in_table(r, b) & in_table(r2, b)) >> r.eq(r2)),
    premise=exists(r, b, in_table(r, b)),
)
TASK_WITH_WORKER = Invariant(
    id="started-task-is-with-the-worker-once",
    source="contract R-20, I-46",
    doc="Of a task there is one order, one report or one withheld report, and none after its end.",
    slices=(TABLES, BLOCKS),
    only_in_slices="of a task that hangs nothing is heard any more",
    formula=forall(
        t,
        _started >> exists(r, ((task_order(t, r) > 0) | report_withheld(t, r) | (task_report(t) > 0))),
    )
    & forall(t, (_created | task_state(t).eq(task_states["absent"])) >> task_report(t).eq(0)),
    premise=exists(t, _started),
)
HOLDER_STAYS = Invariant(
    id="table-belongs-to-a-request",
    source="contract Q31, I-51",
    doc="A block, or a task, is in the tables of a request that is running or has ended, never of one forgotten.",
    slices=TASKS,
    only_in_slices="finalise, of the tiers, forgets a request whatever its tasks do",
    formula=forall(
        r,
        (exists(b, in_table(r, b)) | exists(t, task_of(r, t)))
        >> client_states.one_of(client_state(r), "running", "ended"),
    ),
    premise=exists(r, b, in_table(r, b)),
)
NOT_DROPPED = ActionProperty(
    id="accepted-store-is-not-dropped",
    source="B-186 LMCache #4847",
    doc="A store that has been accepted is dropped only because its block is stored already.",
    slices=TASKS,
    actions=("cancel_task",),
    formula=~task_loads(t) & stored(task_block(t)),
)
STORED_IS_HELD = Invariant(
    id="stored-is-said-of-held-blocks",
    source="contract 5(e); B-174 FlexKV #161",
    doc="That what a block holds is stored, is forgotten when the block is let go.",
    slices=TASKS,
    formula=forall(b, stored(b) >> exists(r, in_table(r, b))),
    premise=exists(b, stored(b)),
)
STORED_BY_A_STORE = ActionProperty(
    id="only-a-store-that-ran-stores-its-block",
    source="contract J11; B-189 FlexKV #176",
    doc=(
        "The end of a task makes its own block a stored one, if and only if the task was a store that was started, "
        "whatever becomes of others; and no other block."
    ),
    slices=TASKS,
    actions=("task_ends",),
    formula=forall(b, Primed(body=stored(b)).eq(stored(b) | (~task_loads(t) & _started & task_block(t).eq(b)))),
)
CREATED_TO_LOAD = ActionProperty(
    id="a-load-is-created-as-a-load",
    source="contract 2.1 load job, I-48",
    doc="A task that is created to load a block is a load, into that block, whatever its id was used for before.",
    slices=(TABLES, HANG, HANG_BESIDE),
    actions=("create_load",),
    formula=Primed(body=task_loads(t)) & Primed(body=task_block(t)).eq(b),
)
CREATED_TO_STORE = ActionProperty(
    id="a-store-is-created-as-a-store",
    source="contract J4, I-48",
    doc="A task that is created to store a block is a store, of that block, whatever its id was used for before.",
    slices=TASKS,
    actions=("create_store",),
    formula=~Primed(body=task_loads(t)) & Primed(body=task_block(t)).eq(b),
)
LET_GO_WHOLE = ActionProperty(
    id="who-lets-go-keeps-no-block",
    source="contract Q22, Q31 to Q33",
    doc="A request that lets its blocks go, because it has ended or is preempted, has none of them afterwards.",
    slices=TASKS,
    actions=("free_blocks",),
    formula=forall(b, ~Primed(body=in_table(r, b))),
)
STARTED_TO_SOME_END = ActionProperty(
    id="a-store-that-starts-has-something-to-store",
    source="B-189 FlexKV #176; contract 5(e)",
    doc="A store is started only of a block that is not stored yet.",
    slices=TASKS,
    actions=("start_task",),
    formula=task_loads(t) | ~stored(task_block(t)),
)
END_TOLD_ONCE = Invariant(
    id="end-of-a-request-is-told-once",
    source="R-26, contract I-51; B-179 ATOM #2146",
    doc="While a request has ended and is not forgotten, one word of that is on its way to the worker or back.",
    slices=TASKS,
    only_in_slices="finalise, of the tiers, forgets a request whatever its tasks do",
    formula=forall(
        r, (end_note(r) + end_heard(r)).eq(ite(client_state(r).eq(client_states["ended"]), 1, 0))
    ),
    premise=exists(r, end_heard(r) > 0),
)  # fmt: skip
ESCAPES = ActionProperty(
    id="an-escape-gives-up-a-store-and-the-blocks",
    source="B-183 ATOM #2053",
    doc=(
        "When the deadline of a request's stores has passed, some store of it was open and is given up, and no block "
        "is kept any longer: a request without open stores lets go in the ordinary way."
    ),
    slices=(HANG, HANG_BESIDE),
    actions=("escape",),
    formula=exists(t, task_of(r, t) & open_task(t) & ~task_loads(t) & ~Primed(body=open_task(t)))
    & forall(b, ~Primed(body=in_table(r, b))),
)
ALL_STARTED = LeadsTo(
    id="every-created-task-is-started-or-cancelled",
    source="B-189 FlexKV #176",
    doc="A task that has been created is started or cancelled; it does not stay in a table for nothing.",
    slices=TASKS,
    vars=(t,),
    premise=_created,
    conclusion=~_created,
)
SAID_AT_ONCE = ActionProperty(
    id="done-is-reported-in-its-step",
    source="B-179 ATOM #2146; contract J10, L3",
    doc="The worker reports a task when it is done: nothing else has to happen first, least of all its request's end.",
    slices=(TABLES, BLOCKS, HANG),
    actions=("run_task",),
    formula=Primed(body=task_report(t)).eq(task_report(t) + 1),
)
FORWARDED = LeadsTo(
    id="completion-is-forwarded",
    source="B-179 ATOM #2146",
    doc="A task that is started ends, whether or not its request goes on.",
    slices=(TABLES, BLOCKS),
    vars=(t,),
    premise=_started,
    conclusion=~_started,
)
ALL_LEAVE = LeadsTo(
    id="ended-request-gives-all-back",
    source="contract V-01, V-02; B-183 ATOM #2053",
    doc="A request that has ended, and loads nothing any more, is forgotten in the end, whatever its stores do.",
    slices=TASKS,
    vars=(r,),
    premise=_ended_without_load,
    conclusion=client_state(r).ne(client_states["ended"]),
)


_witness = witnesses_of("tiers", *TASKS)

TASK_PROPERTIES = (
    LEAVES_TABLES, GOES_BACK_UNSTORED, PLANS_KNOW, TARGET_BELONGS, STORE_KEEPS, NOT_DROPPED, STORED_IS_HELD,
    STORED_BY_A_STORE, CREATED_TO_LOAD, CREATED_TO_STORE, LET_GO_WHOLE,
    ONE_OWNER, TASK_WITH_WORKER, HOLDER_STAYS, STARTED_TO_SOME_END,
    END_TOLD_ONCE, ESCAPES, SAID_AT_ONCE,
    ALL_STARTED, FORWARDED, ALL_LEAVE,
    _witness(
        "some-task-hangs",
        exists(
            r, t,
            _started & task_of(r, t) & task_order(t, r).eq(0) & ~report_withheld(t, r) & task_report(t).eq(0),
        ),
        "A task is with the worker, and nothing will be heard of it.", HANG,
    ),
    _witness("some-task-created", exists(t, _created), "A task is created."),
    _witness("some-task-started", exists(t, _started), "A task is with the worker."),
    _witness("ended-request-without-a-load", exists(r, _ended_without_load), "A request has ended and loads nothing."),
    _witness(
        "load-and-store-of-an-ended-request",
        exists(
            r,
            client_state(r).eq(client_states["ended"])
            & exists(t, task_of(r, t) & task_loads(t) & _started)
            & exists(t, task_of(r, t) & ~task_loads(t) & _started),
        ),
        "A request has ended while a load and a store of it are under way.", HANG,
    ),
    _witness(
        "block-stored-twice-over", exists(t, _created & ~task_loads(t) & stored(task_block(t))),
        "A store task is created of a block that is stored already.",
    ),
)  # fmt: skip
