"""Faults of which one slice is the place to see them: there a named property notices, and not only elsewhere."""

import pytest

from interlock.proofs.check import run_check
from interlock.spec.modules import module

FAULTS = [
    # A request goes on, or its block is let go, after the first of several workers' reports on a load.
    ("kv", "failing_load", "drop-conjunct:loaded:loads-have-ended", "load-target-stays-owned"),
    ("kv", "three_workers", "drop-conjunct:loaded:loads-have-ended", "block-being-loaded-is-in-use"),
    ("kv", "failing_load", "drop-conjunct:publish:computed-here", "loaded-blocks-are-not-addressable-yet"),
    ("kv", "three_workers", "delete-row:acknowledge:chunk.pending.absent", "pending-chunk-has-one-store"),
    # What is stored is stored again.
    ("kv", "dedup", "drop-conjunct:plan_store:not-stored", "what-is-stored-is-not-stored-again"),
    ("kv", "last_step", "drop-conjunct:plan_finish_store:not-stored", "what-is-stored-is-not-stored-at-the-finish"),
    # A request that ends with its output, and not by an abort, leaves counts and blocks behind.
    ("engine", "decoding", "drop-update:stop:external", "ended-request-leaves-no-record"),
    ("engine", "decoding", "drop-update:stop:cached", "ended-request-leaves-no-record"),
    ("engine", "load_async", "drop-update:stop:refused", "ended-request-leaves-no-record"),
    ("engine", "decoding", "drop-update:stop:parked", "no-step-writes-a-free-block"),
    ("engine", "late_write_at_stop", "drop-update:stop:parked", "load-target-has-no-late-writer"),
    # A request that was loaded as a whole is left without a token to compute (R-05, I-10).
    ("engine", "load_async", "drop-update:promote:computed", "promoted-request-has-a-token-left"),
    ("engine", "load_async", "drop-update:promote:computed", "a-token-is-left-to-compute"),
    # An id that comes again stands where its request before stood among the arrivals.
    ("encoder", "ec_arrivals", "drop-update:free_id:came_before", "came-before-orders-members-only"),
    # A preemption although a block is free: nobody is worse off for it at once.
    ("admission", "scheduled_victim", "drop-conjunct:preempt:no-block-is-free", "no-preemption-while-a-block-is-free"),
    ("admission", "pressure_quick", "drop-conjunct:preempt:no-block-is-free", "no-preemption-while-a-block-is-free"),
    # What is done to one is done to all.
    ("encoder", "ec_pool", "widen-update:finish:gave_up#1", "an-end-forgets-no-budget-of-others"),
    ("encoder", "ec_pool", "widen-update:fail_unavailable:gave_up#1", "an-end-forgets-no-budget-of-others"),
    ("encoder", "ec_pool", "widen-update:expire:gave_up#1", "a-deadline-is-of-one-request-and-item"),
    ("encoder", "ec_twice", "widen-update:expire:gave_up#2", "a-deadline-is-of-one-request-and-item"),
    ("encoder", "ec_tight", "widen-update:no_kv:visited#1", "a-visit-is-to-one-request"),
    ("encoder", "ec_loads", "widen-update:run_step:embedding#1", "a-step-fills-the-cache-of-its-worker"),
    ("pipeline", "depth_one", "widen-update:plan_store:acks_due#1", "a-plan-changes-no-other-job"),
    ("pipeline", "depth_one_preempt", "widen-update:plan_load:lost#1", "a-plan-changes-no-other-job"),
    ("pipeline", "depth_one_preempt_blocks", "widen-update:plan_load:used#1", "a-plan-is-of-one-block"),
    ("pipeline", "depth_one", "widen-update:plan_finish_store:leftover#1", "a-plan-is-of-one-block"),
    (
        "mirror",
        "mirror_batch",
        "widen-update:token_computed:executing#1",
        "an-output-ends-the-step-of-its-request-alone",
    ),
    ("mirror", "mirror_two_saves", "widen-update:preempt:report_row#1", "a-preemption-reports-for-no-other"),
    ("mirror", "mirror_saves", "widen-update:plan_save:listed_twice#1", "a-plan-lists-the-block-of-one-store"),
    ("tiers", "task_tables", "widen-update:create_load:task_loads#1", "a-new-task-turns-no-other-around"),
    ("tiers", "task_tables", "widen-update:create_store:task_loads#1", "a-new-task-turns-no-other-around"),
    ("tiers", "task_tables", "widen-update:give_block:in_table#2", "a-request-is-given-one-block"),
    ("engine", "load_pair", "widen-update:finish:refused#1", "a-failed-load-refuses-its-request-alone"),
    ("delivery", "two_leases", "widen-update:renew:overdue#2", "a-word-on-one-lease-changes-no-other"),
    ("delivery", "lease", "widen-update:sweep_leases:overdue#1", "a-sweep-is-of-one-worker"),
    ("delivery", "loaded_content", "widen-update:finish:ended_in#1", "what-becomes-of-one-request-changes-no-other"),
    (
        "delivery",
        "composite_finish",
        "widen-update:answers_empty:answer#1",
        "a-word-of-one-connector-is-of-one-request",
    ),
    *(
        ("delivery", "merged_reports", f"widen-update:{change}#2", "a-word-of-one-connector-is-of-one-request")
        for change in (
            "answers_empty:answer",
            "answers_real:answer",
            "count_producer:produces",
            "sub_reports_finished:sub_finished",
            "sub_reports_failed:sub_finished",
            "sub_reports_failed:sub_failed",
        )
    ),
    ("delivery", "two_leases", "widen-update:peer_beats:beaten#1", "a-heartbeat-is-of-one-consumer"),
    ("delivery", "two_prefills", "widen-update:accept_cancel:cancelled#1", "a-cancel-is-of-one-request"),
    ("engine", "beside_a_reset", "widen-update:reset_running:confirmed#1", "a-request-is-counted-alone"),
    ("engine", "beside_a_reset", "widen-update:inflate_entry:entry_wrong#1", "a-step-goes-on-for-the-others"),
    ("engine", "beside_a_guess", "widen-update:draft:table#1", "a-table-is-of-one-request"),
    ("engine", "load_resumed", "widen-update:admit_refused:start#2", "a-step-is-built-and-processed-alone"),
    ("engine", "decoding", "widen-update:decode:addressable#1", "a-token-goes-into-one-block"),
    ("engine", "late_sync", "widen-update:withhold_report:delayed#1", "the-load-of-one-block-fails-alone"),
    ("engine", "load_pair", "widen-update:expire_load:broke#1", "a-load-ends-alone"),
    ("engine", "guess_again", "drop-conjunct:draft:nothing-held-there", "table-has-one-block-a-place"),
    ("engine", "victim_hit", "drop-fairness:decode", "running-request-is-scheduled"),
    ("kv", "two_chunks", "widen-update:plan_finish_store:cpu_value#2", "a-chunk-is-reserved-or-evicted-alone"),
    ("kv", "two_chunks", "widen-update:copy_store:cpu_value#2", "ready-chunk-holds-its-prefix"),
    ("kv", "two_failing", "widen-update:plan_load:failure_seen#1", "a-job-is-planned-and-reported-alone"),
    ("kv", "two_blocks_slide", "widen-update:slide_out:scanned#2", "one-block-slides-out-of-one-table"),
    ("tiers", "task_hang_beside", "widen-update:escape:in_table#1", "what-one-request-gives-up-is-its-own"),
    ("tiers", "tier_missing_file", "widen-update:file_vanishes:unreadable#1", "a-file-vanishes-alone"),
    ("admission", "admission_quick", "drop-update:expire_hold:flushing", "a-held-store-is-flushed-once"),
]


@pytest.mark.parametrize(("name", "slice_", "change", "property_"), FAULTS, ids=lambda v: v)
def test_the_fault_is_noticed_in_its_slice(name: str, slice_: str, change: str, property_: str) -> None:
    asked = {"slices": [slice_], "properties": [property_], "spec": module(name)}

    (sound,), (faulty,) = run_check(**asked).runs, run_check(change=change, **asked).runs
    assert set(sound.properties.values()) == {"holds"}
    assert faulty.properties[property_] == "violated"
