"""What happens to one task, or to one request's blocks, leaves the others as they are."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Property
from interlock.spec.language.terms import Primed, forall
from interlock.spec.shared.frames import unchanged
from interlock.spec.shared.sorts import block, request
from interlock.spec.tiers.coverage import HANG, HANG_BESIDE, TABLES, TASKS
from interlock.spec.tiers.tasks_vocabulary import b, in_table, stored, t, task, task_loads, task_of
from interlock.spec.tiers.vocabulary import r

_r, _b, _t = request.var("rv"), block.var("bv"), task.var("tv")

TASK_OTHERS: tuple[Property, ...] = (
    ActionProperty(
        id="a-new-task-turns-no-other-around",
        source="contract 2.1 load job, J1, J4",
        doc="When a task is created, which of the others load and which store stays as it is.",
        slices=(TABLES, HANG),
        actions=("create_load", "create_store"),
        formula=forall(_t, _t.ne(t) >> unchanged(task_loads(_t))),
    ),
    ActionProperty(
        id="a-request-is-given-one-block",
        source="contract G1",
        doc="A request that is given a block gets that one, and nobody else gets or loses any.",
        slices=TASKS,
        actions=("give_block",),
        formula=Primed(body=in_table(r, b)) & forall(_r, _b, (_r.ne(r) | _b.ne(b)) >> unchanged(in_table(_r, _b))),
    ),
    ActionProperty(
        id="what-one-request-gives-up-is-its-own",
        source="B-183 ATOM #2053; contract Q31",
        doc=(
            "A request whose stores are given up, or that lets its blocks go, leaves the blocks and tasks of others, "
            "and what is known to be stored."
        ),
        slices=(HANG, HANG_BESIDE),
        actions=("escape", "free_blocks"),
        formula=forall(_r, _b, _r.ne(r) >> unchanged(in_table(_r, _b)))
        & forall(_r, _t, _r.ne(r) >> unchanged(task_of(_r, _t)))
        & forall(_b, ~in_table(r, _b) >> unchanged(stored(_b))),
    ),
)
