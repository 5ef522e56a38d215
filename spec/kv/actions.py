"""The actions: scheduler visits, metadata, workers' steps and copies, reports.

Pipeline depth 1: the scheduler acts between steps, workers act while a step is with them, copies
happen at any moment between submission and report.
"""

from __future__ import annotations

from interlock.spec.kv.allocation import add_request, allocate, hit, publish, publish_loaded
from interlock.spec.kv.endings import finish, preempt, reset_cache, slide_out
from interlock.spec.kv.loads import admit_loaded, loaded, look_up_anew, plan_load
from interlock.spec.kv.reports import acknowledge, acknowledge_failure
from interlock.spec.kv.steps import build_connector_meta, order_flush, order_flush_of_load, rest, update_from_output
from interlock.spec.kv.stores import evict, plan_finish_store, plan_lazy_store, plan_store, skip_store
from interlock.spec.kv.workers import copy_fails, copy_load, copy_store, load_fails, report, report_failure, run_step

ACTIONS = (
    add_request, hit, allocate, publish, publish_loaded,
    plan_store, plan_finish_store, plan_lazy_store, skip_store, evict, plan_load, order_flush,
    order_flush_of_load, preempt, slide_out,
    build_connector_meta, rest, run_step, copy_store, copy_load, copy_fails, load_fails, report, report_failure,
    update_from_output, acknowledge, acknowledge_failure, loaded, look_up_anew, admit_loaded, finish,
    reset_cache,
)  # fmt: skip
