"""The lifecycle tables: a step, a job at the scheduler, its shard at a worker."""

from __future__ import annotations

from interlock.spec.language.lifecycles import Lifecycle, row
from interlock.spec.language.terms import Term
from interlock.spec.pipeline.predicates import last_report
from interlock.spec.pipeline.vocabulary import (
    b,
    flush_order,
    forward_order,
    j,
    load_order,
    nofwd_save,
    store_order,
    t,
    w,
)

SLOT = Lifecycle(
    name="slot", entity=(t,), variable="slot_state", initial="idle",
    doc="A step from its schedule() until its output is processed.",
    rows=(
        row("idle", "begin_schedule", "building", source="contract R-24"),
        row("idle", "schedule_arrival", "building", source="contract Q1, R-24"),
        row("building", "dispatch", "dispatched", source="contract R-22, R-23"),
        row("dispatched", "update_from_output", "idle", source="contract 6.1, R-24"),
    ),
)  # fmt: skip

STOW = Lifecycle(
    name="stow", entity=(j,), variable="stow_state", initial="absent",
    doc="A job from its plan until the last worker has acknowledged it.",
    rows=(
        row("absent", "plan_store", "planned", source="contract J4"),
        row("absent", "plan_finish_store", "planned", source="contract J1, J4"),
        row("absent", "plan_load", "planned", source="contract 2.1 load job"),
        row("planned", "dispatch", "in_flight", source="contract J6"),
        row("planned", "order_flush", "flush_ordered", source="contract J5"),
        row("in_flight", "order_flush", "flush_ordered", source="contract J9, I-28"),
        *(
            r
            for state in ("in_flight", "flush_ordered")
            for r in (
                row(state, "acknowledge", state, guard=~last_report(j), source="contract J11"),
                row(state, "acknowledge", "absent", guard=last_report(j), source="contract J11"),
            )
        ),
    ),
)  # fmt: skip

_flushed: Term = flush_order(w, j, t) > 0
_saved: Term = nofwd_save.is_("call") | (forward_order(w, t) > 0)
_arrives: Term = (load_order(w, j, t) > 0) | ((store_order(w, j, t) > 0) & _saved)
"""Loads are started in any step (start_load_kv), stores by wait_for_save."""
SHARD = Lifecycle(
    name="shard", entity=(w, j), variable="shard_state", initial="idle",
    doc="A job at one worker: what is flushed is copied and reported before the forward of that step.",
    rows=(
        row("idle", "run_step", "queued", guard=_arrives & ~_flushed, source="contract J6, L2, R-35"),
        row("queued", "run_step", "idle", guard=_flushed, source="contract J9"),
        row("copied", "run_step", "idle", guard=_flushed, source="contract J9, J10"),
        row("queued", "copy_shard", "copied", source="contract J8, J10"),
        row("copied", "report_shard", "idle", source="contract J10, R-49"),
    ),
)  # fmt: skip

COMEBACK = Lifecycle(
    name="comeback", entity=(b,), variable="comeback_state", initial="nobody",
    doc="A request from its preemption until it comes back or ends. It goes by the block that it has lost.",
    rows=(
        row("nobody", "preempt", "waits", source="contract Q22"),
        row("waits", "resume_request", "nobody", source="contract Q9, Q10"),
        row("waits", "finish_preempted", "nobody", source="contract Q27, R-52"),
    ),
)  # fmt: skip

LIFECYCLES = (SLOT, STOW, SHARD, COMEBACK)
