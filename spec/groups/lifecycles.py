"""The lifecycle tables: a request's prompt, a slot of the tier, and the store of a slot at the worker."""

from __future__ import annotations

from interlock.spec.groups.vocabulary import c, flush_order, r, store_order, unknown_job
from interlock.spec.language.lifecycles import Lifecycle, row

PROMPT = Lifecycle(
    name="prompt",
    entity=(r,),
    variable="prompt_state",
    initial="absent",
    doc="A request, as far as the external hit of its prompt and the stores of its chunks are concerned.",
    rows=(
        row("absent", "add_request", "waiting", source="contract Q1"),
        row("waiting", "match_none", "running", source="contract Q10"),
        row("waiting", "match_later", "waiting", source="contract Q4, R-02"),
        row("waiting", "match", "matched", source="contract Q8; 5(d)"),
        row("waiting", "start_without_lookup", "running", source="contract R-08"),
        row("matched", "admit", "loading", source="contract Q8, L1"),
        row("matched", "drop_hit", "waiting", source="contract Q5, Q7, R-11"),
        row("loading", "load_done", "running", source="contract Q12, Q13, L3, L4"),
        row("held", "load_done", "absent", source="contract Q32, L5"),
        row("running", "plan_store", "running", source="contract J1, J4"),
        row("running", "plan_store_from", "running", source="contract J1, J4"),
        row("running", "skip_chunk", "running", source="contract J3"),
        row("running", "skip_forgotten", "running", source="contract J1, 5(d)"),
        row("running", "advance_cursor", "running", source="contract I-50"),
        row("running", "allocate_block", "running", source="contract Q20, G1"),
        row("running", "preempt", "waiting", source="contract Q22"),
        row("waiting", "finish", "absent", source="contract Q30, Q31"),
        row("matched", "finish", "absent", source="contract Q30, Q31, R-11"),
        row("running", "finish", "absent", source="contract Q26, Q30, Q31"),
        row("loading", "finish", "held", source="contract Q31, L5"),
    ),
)

SLOT = Lifecycle(
    name="slot",
    entity=(c,),
    variable="slot_state",
    initial="absent",
    doc="A slot of the tier: reserved by a store, visible once stored, dropped when evicted.",
    rows=(
        row("absent", "plan_store", "pending", source="contract 3.2 prepare_store"),
        row("absent", "plan_store_from", "pending", source="contract 3.2 prepare_store"),
        row("pending", "complete_store", "ready", source="contract 3.2 complete_store"),
        row("pending", "acknowledge_store", "ready", source="contract J11, 3.2 complete_store"),
        row(
            "pending",
            "reject_report",
            "absent",
            guard=unknown_job.is_("contain"),
            source="seeds 003: containment fails the job",
        ),
        row("ready", "evict_oldest", "absent", source="contract 3.2, I-40"),
        row("ready", "evict_any", "absent", source="contract 3.2, I-40"),
    ),
)

DUTY = Lifecycle(
    name="duty",
    entity=(c,),
    variable="duty_state",
    initial="idle",
    doc="The store of a slot at the worker: queued with its step, copied at any moment or at a flush, reported.",
    rows=(
        row("idle", "run_group_step", "queued", guard=store_order(c) > 0, source="contract J6, J8"),
        row("queued", "run_group_step", "copied", guard=flush_order(c) > 0, source="contract J9, R-31"),
        row("queued", "copy_chunk", "copied", source="contract J8, J10"),
        row("copied", "report_store", "idle", source="contract J10, R-49"),
    ),
)  # fmt: skip

LIFECYCLES = (PROMPT, SLOT, DUTY)
