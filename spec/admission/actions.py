"""The actions: arrivals, the two loops of schedule(), metadata, processed steps, deadlines, and the workers' transfers.

The engine thread goes round: schedule() (running loop, waiting loop, metadata), then update_from_output() of
the oldest step; with overlapping batches a second schedule() may come first. Empty steps are steps.
"""

from __future__ import annotations

from interlock.spec.admission.scheduling import (
    add_request,
    admit,
    admit_load,
    admit_loaded,
    begin_step,
    begin_step_ahead,
    build_connector_meta,
    end_running_loop,
    end_waiting_loop,
    grow,
    plan_prefix_store,
    preempt,
    schedule_running,
    skip_waiting,
    stop_scan,
)
from interlock.spec.admission.updating import (
    abort,
    crosses_block,
    end_update,
    evict_prefix,
    expire_hold,
    expire_lookup,
    finish,
    finished_recving,
    flush_ends,
    flush_reported,
    load_copied,
    lose_store_report,
    process_step,
    resume_storing,
    stays_in_its_block,
    store_copied,
    store_for_another,
    store_reported,
    stored_before,
)

ACTIONS = (
    add_request, begin_step, begin_step_ahead,
    schedule_running, grow, preempt, end_running_loop,
    skip_waiting, admit, admit_load, admit_loaded, stop_scan, end_waiting_loop,
    plan_prefix_store, build_connector_meta,
    process_step, crosses_block, stays_in_its_block, finish, abort, finished_recving, store_reported, end_update,
    stored_before, store_for_another, evict_prefix, expire_lookup, expire_hold, flush_reported, resume_storing,
    load_copied, store_copied, lose_store_report, flush_ends,
)  # fmt: skip
