"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.groups.actions import ACTIONS
from interlock.spec.groups.lifecycles import LIFECYCLES
from interlock.spec.groups.sources import SOURCE_ACTIONS
from interlock.spec.groups.vocabulary import unknown_job
from interlock.spec.language.rows import row_witnesses

ROWS = row_witnesses(
    LIFECYCLES,
    (*ACTIONS, *SOURCE_ACTIONS),
    in_slice="recency",
    elsewhere={
        "evict_any": "recency_of_groups",
        "acknowledge_store": "store_reports",
        "allocate_block": "store_reports",
        "copy_chunk": "store_reports",
        "plan_store_from": "store_reports",
        "report_store": "store_reports",
        "row-duty-idle-run-group-step": "store_reports",
        "start_without_lookup": "store_reports",
        "row-duty-queued-run-group-step": "two_stores",
        "skip_forgotten": "two_stores",
        "preempt": "two_readers",
        "reject_report": "store_reports",
    },
    under={"row-slot-pending-reject-report": unknown_job.is_("contain")},
)
