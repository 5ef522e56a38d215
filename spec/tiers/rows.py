"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.language.rows import row_witnesses
from interlock.spec.tiers.actions import SCHEDULER_ACTIONS
from interlock.spec.tiers.lifecycles import LIFECYCLES
from interlock.spec.tiers.tasks_actions import TASK, TASK_ACTIONS
from interlock.spec.tiers.transfers import TRANSFER_ACTIONS
from interlock.spec.tiers.vocabulary import cancelled_plan, cancelled_prefetch, failed_read, failed_write, tier_reset

ROWS = row_witnesses(
    (*LIFECYCLES, TASK),
    (*SCHEDULER_ACTIONS, *TRANSFER_ACTIONS, *TASK_ACTIONS),
    in_slice="tier_promote",
    elsewhere={
        "escape": "task_hang",
        "row-task-given-up-task-ends": "task_hang",
        "cancel_task": "task_tables",
        "create_load": "task_tables",
        "create_store": "task_tables",
        "forget_request": "task_tables",
        "row-task-started-task-ends": "task_tables",
        "start_task": "task_tables",
        "row-cpu-slot-absent-promotion-failed": "tier_reset_fail",
        "row-cpu-slot-stale-promotion-failed": "tier_reset_fail",
        "row-entry-absent-promotion-failed": "tier_reset_fail",
        "row-entry-pending-promotion-failed": "tier_reset_fail",
        "row-entry-stale-promotion-failed": "tier_reset_fail",
        "row-record-recorded-reset-tiers": "tier_reset_read",
        "cascade_done": "tier_reset_write",
        "cascade_failed": "tier_reset_write",
        "plan_cascade": "tier_reset_write",
        "retrieval_done": "tier_reset_write",
        "retrieve": "tier_reset_write",
        "row-cpu-slot-absent-fill-done": "tier_reset_write",
        "row-cpu-slot-pending-reset-tiers-to-absent": "tier_reset_write",
        "row-cpu-slot-pending-reset-tiers-to-stale": "tier_reset_write",
        "row-cpu-slot-ready-cancel-plan": "tier_reset_write",
        "row-cpu-slot-ready-reset-tiers-to-absent": "tier_reset_write",
        "row-cpu-slot-ready-reset-tiers-to-stale": "tier_reset_write",
        "row-cpu-slot-stale-fill-done": "tier_reset_write",
        "row-entry-pending-cancel-plan": "tier_reset_write",
        "row-entry-pending-reset-tiers-to-absent": "tier_reset_write",
        "row-entry-pending-reset-tiers-to-stale": "tier_reset_write",
        "row-entry-ready-reset-tiers": "tier_reset_write",
        "row-operation-planned-reset-tiers": "tier_reset_write",
        "row-record-granted-reset-tiers": "tier_reset_write",
        "row-record-settled-reset-tiers": "tier_reset_write",
        "save_ends": "tier_reset_write",
    },
    under={
        "row-cpu-slot-pending-cancel-plan-to-pending": cancelled_plan.is_("dropped"),
        "row-cpu-slot-pending-fill-done-to-pending": cancelled_prefetch.is_("abandoned"),
        "row-record-recorded-plan-promotion": failed_read.is_("verdict_kept"),
        "row-entry-pending-cascade-failed-to-ready": failed_write.is_("entry_kept"),
        "row-cpu-slot-absent-cascade-done": tier_reset.is_("frees_in_flight"),
        "row-cpu-slot-absent-cascade-failed": tier_reset.is_("frees_in_flight"),
        "row-cpu-slot-absent-fill-done": tier_reset.is_("frees_in_flight"),
        "row-cpu-slot-absent-promotion-failed": tier_reset.is_("frees_in_flight"),
        "row-cpu-slot-absent-retrieval-done": tier_reset.is_("frees_in_flight"),
        "row-cpu-slot-pending-cascade-done": tier_reset.is_("frees_in_flight"),
        "row-cpu-slot-pending-cascade-failed": tier_reset.is_("frees_in_flight"),
        "row-cpu-slot-pending-retrieval-done": tier_reset.is_("frees_in_flight"),
        "row-entry-absent-cascade-done": tier_reset.is_("frees_in_flight"),
        "row-entry-absent-cascade-failed": tier_reset.is_("frees_in_flight"),
        "row-entry-ready-cascade-done": tier_reset.is_("frees_in_flight"),
        "row-entry-ready-cascade-failed": tier_reset.is_("frees_in_flight"),
    },
)
