"""What is particular to the module: the shapes of its counterexamples, and the tests that the seeds name."""

from __future__ import annotations

import pytest
from support.counterexamples import Judge, names

from interlock.spec.kv import SPECIFICATION

judge = Judge(SPECIFICATION)

# -- seeds 002: the last step -------------------------------------------------------------------------


def test_with_no_flush_the_engine_rests_while_the_last_store_is_open() -> None:
    found = judge.names("tiny", "issued-jobs-complete", idle="none")

    assert found.index("plan_store") < found.index("finish") < found.index("rest")
    assert "order_flush" not in found
    assert "acknowledge" not in found


def test_the_seeds_flush_misses_what_the_last_metadata_plans() -> None:
    found = judge.shortest("last_step", "last-step-flushes-every-job", idle="flush_before_plan", finish_store="yes")

    assert found.length == 9
    assert names(found.actions)[-3:] == ["finish", "plan_finish_store", "build_connector_meta"]


def test_and_so_that_store_is_never_acknowledged() -> None:
    found = judge.names("last_step", "issued-jobs-complete", idle="flush_before_plan", finish_store="yes")

    assert "plan_finish_store" in found
    assert "order_flush" not in found
    assert "rest" in found


@pytest.mark.parametrize("slice_", ["tiny", "load_ack"])
@pytest.mark.parametrize("idle", ["flush_before_plan", "flush", "drain"])
def test_a_load_whose_request_was_aborted_ends_without_a_new_request(slice_: str, idle: str) -> None:
    run = judge.run(slice_, "issued-jobs-complete", "held-requests-are-released", idle=idle, finish_store="no")

    assert set(run.properties.values()) == {"holds"}


def test_the_flush_of_the_last_step_names_loads_too() -> None:
    assert judge.holds("load_ack", "last-step-flushes-a-load")


def test_an_empty_request_table_triggers_nothing() -> None:
    """No request, no job: the engine has no reason to step, and no flush can be ordered."""
    run = judge.run("tiny", "last-step-flushes-every-job", change="guard-false:add_request")

    assert {"order_flush", "order_flush_of_load", "build_connector_meta"} <= set(run.never_enabled)


def test_a_preemption_that_flushes_nothing_leaves_its_store_open() -> None:
    change = "drop-update:preempt:must_flush"

    assert judge.names("busy", "preempted-stores-are-flushed", change=change)[-1] == "preempt"


# -- R-18 ----------------------------------------------------------------------------------------------


def test_a_preempted_request_that_may_load_at_once_mixes_loads_and_stores() -> None:
    found = judge.shortest("busy", "loads-and-stores-never-mixed", match_busy="proceed")

    assert names(found.actions)[-1] == "plan_load"
    assert names(found.actions).count("preempt") == 2
    assert names(found.actions).count("plan_store") == 2


# -- resets --------------------------------------------------------------------------------------------


def test_a_reset_that_the_tier_ignores_leaves_old_chunks_to_be_found() -> None:
    found = judge.shortest("reset", "after-reset-nothing-old-is-served", kv_reset="ignored")

    assert found.length == 12
    assert names(found.actions)[-1] == "reset_cache"


def test_a_reset_that_forgets_lets_the_chunk_go_while_the_copy_runs() -> None:
    found = judge.names("reset", "stale-job-touches-nothing", kv_reset="forget")

    assert found[-2:] == ["reset_cache", "plan_store"]


def test_and_the_late_copy_overwrites_what_was_stored_since() -> None:
    found = judge.names("reset", "after-reset-nothing-old-is-served", kv_reset="forget")

    assert found.index("reset_cache") < found.index("copy_store") < found.index("acknowledge")


def test_late_reports_settle_nothing_unless_stale_jobs_are_taken_for_live_ones() -> None:
    assert judge.holds("tiny", "late-report-settles-nothing")


# -- references ----------------------------------------------------------------------------------------

PINNED = "vllm-0.32.0/SimpleCPUOffloadConnector"


@pytest.mark.parametrize(
    ("slice_", "property_", "last"),
    [
        ("dedup", "pinned-source-is-in-use", "finish"),
        ("dedup", "pinned-source-keeps-its-hash", "allocate"),
        ("reset", "refused-reset-keeps-hashes", "reset_cache"),
    ],
)
def test_a_finish_that_drops_the_reference_of_a_store(slice_: str, property_: str, last: str) -> None:
    """Its source goes to the free queue; who comes next takes it, or resets the cache while it is being read."""
    change = "drop-row-conjunct:finish:block.used.free#3"
    found = judge.names(slice_, property_, change=change, preset=PINNED)

    assert found.count("finish") == 1
    assert found[-1] == last


# -- seeds 004 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["interlock", "vllm-0.32.0/OffloadingConnector"])
def test_a_finish_time_store_and_the_reallocation_of_its_block_in_one_metadata_is_clean(preset: str) -> None:
    wanted = ["finish-store-of-a-reallocated-block", "store-source-stable", "ready-chunk-holds-its-prefix"]
    run = judge.run("at_finish", *wanted, preset=preset)

    assert set(run.properties.values()) == {"holds"}


# -- seeds 004: lazy mode is unaffected ---------------------------------------------------------------


@pytest.mark.parametrize("dedup", SPECIFICATION.switch("store_dedup").values)
def test_a_lazy_store_needs_a_reference_and_no_dedup_set(dedup: str) -> None:
    lazily = {"store_mode": "lazy", "store_dedup": dedup}

    assert judge.holds("lazy_store", "no-block-stored-twice-in-flight", **lazily, source_hold="pin")
    found = judge.names("lazy_store", "no-block-stored-twice-in-flight", **lazily, source_hold="fence")
    assert found[-2:] == ["plan_lazy_store", "plan_lazy_store"]


def test_a_lazy_store_that_looks_at_no_hash_of_the_tier_stores_what_is_there() -> None:
    asked = {"store_mode": "lazy", "source_hold": "pin"}
    found = judge.names(
        "lazy_store",
        "lazy-store-reads-what-the-cache-may-lose",
        change="drop-conjunct:plan_lazy_store:not-stored",
        **asked,
    )

    assert found.count("plan_lazy_store") == 2
