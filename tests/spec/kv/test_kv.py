"""What is particular to the module: the shapes of its counterexamples, and the tests that the seeds name."""

from __future__ import annotations

import pytest

from interlock.proofs.check import Violation, run_check
from interlock.proofs.mutation.changes import apply
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.specification import Specification


def shortest(
    slice_: str, property_: str, spec: Specification = SPECIFICATION, preset: str = "interlock", **sets: str
) -> Violation:
    """The counterexample to one property."""
    (run,) = run_check(slices=[slice_], properties=[property_], preset=preset, sets=sets, spec=spec).runs
    (violation,) = run.violations
    return violation


def events(violation: Violation) -> list[str]:
    """The names of its actions."""
    return [a.partition("(")[0] for a in violation.actions]


# -- seeds 002: the last step -------------------------------------------------------------------------


def test_with_no_flush_the_engine_rests_while_the_last_store_is_open() -> None:
    found = events(shortest("tiny", "issued-jobs-complete", idle="none"))

    assert found.index("plan_store") < found.index("finish") < found.index("rest")
    assert "order_flush" not in found
    assert "acknowledge" not in found


def test_the_seeds_flush_misses_what_the_last_metadata_plans() -> None:
    found = shortest("last_step", "last-step-flushes-every-job", idle="flush_before_plan", finish_store="yes")

    assert found.length == 9
    assert events(found)[-3:] == ["finish", "plan_finish_store", "build_connector_meta"]


def test_and_so_that_store_is_never_acknowledged() -> None:
    found = events(shortest("last_step", "issued-jobs-complete", idle="flush_before_plan", finish_store="yes"))

    assert "plan_finish_store" in found
    assert "order_flush" not in found
    assert "rest" in found


@pytest.mark.parametrize("slice_", ["tiny", "load_ack"])
@pytest.mark.parametrize("idle", ["flush_before_plan", "flush", "drain"])
def test_a_load_whose_request_was_aborted_ends_without_a_new_request(slice_: str, idle: str) -> None:
    (run,) = run_check(
        slices=[slice_],
        properties=["issued-jobs-complete", "held-requests-are-released"],
        sets={"idle": idle, "finish_store": "no"},
        spec=SPECIFICATION,
    ).runs

    assert set(run.properties.values()) == {"holds"}


def test_the_flush_of_the_last_step_names_loads_too() -> None:
    (run,) = run_check(slices=["load_ack"], properties=["last-step-flushes-a-load"], spec=SPECIFICATION).runs

    assert run.properties == {"last-step-flushes-a-load": "holds"}


def test_an_empty_request_table_triggers_nothing() -> None:
    """No request, no job: the engine has no reason to step, and no flush can be ordered."""
    spec = apply(SPECIFICATION, "guard-false:add_request")
    (run,) = run_check(slices=["tiny"], spec=spec, properties=["last-step-flushes-every-job"]).runs

    assert {"order_flush", "order_flush_of_load", "build_connector_meta"} <= set(run.never_enabled)


def test_a_preemption_that_flushes_nothing_leaves_its_store_open() -> None:
    spec = apply(SPECIFICATION, "drop-update:preempt:must_flush")

    assert events(shortest("busy", "preempted-stores-are-flushed", spec))[-1] == "preempt"


# -- R-18 ----------------------------------------------------------------------------------------------


def test_a_preempted_request_that_may_load_at_once_mixes_loads_and_stores() -> None:
    found = shortest("busy", "loads-and-stores-never-mixed", match_busy="proceed")

    assert events(found)[-1] == "plan_load"
    assert events(found).count("preempt") == 2
    assert events(found).count("plan_store") == 2


# -- resets --------------------------------------------------------------------------------------------


def test_a_reset_that_the_tier_ignores_leaves_old_chunks_to_be_found() -> None:
    found = shortest("reset", "after-reset-nothing-old-is-served", kv_reset="ignored")

    assert found.length == 12
    assert events(found)[-1] == "reset_cache"


def test_a_reset_that_forgets_lets_the_chunk_go_while_the_copy_runs() -> None:
    found = events(shortest("reset", "stale-job-touches-nothing", kv_reset="forget"))

    assert found[-2:] == ["reset_cache", "plan_store"]


def test_and_the_late_copy_overwrites_what_was_stored_since() -> None:
    found = events(shortest("reset", "after-reset-nothing-old-is-served", kv_reset="forget"))

    assert found.index("reset_cache") < found.index("copy_store") < found.index("acknowledge")


def test_late_reports_settle_nothing_unless_stale_jobs_are_taken_for_live_ones() -> None:
    (run,) = run_check(slices=["tiny"], properties=["late-report-settles-nothing"], spec=SPECIFICATION).runs

    assert run.properties == {"late-report-settles-nothing": "holds"}


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
    spec = apply(SPECIFICATION, "drop-row-conjunct:finish:block.used.free#3")
    found = events(shortest(slice_, property_, spec, PINNED))

    assert found.count("finish") == 1
    assert found[-1] == last


# -- seeds 004 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["interlock", "vllm-0.32.0/OffloadingConnector"])
def test_a_finish_time_store_and_the_reallocation_of_its_block_in_one_metadata_is_clean(preset: str) -> None:
    wanted = ["finish-store-of-a-reallocated-block", "store-source-stable", "ready-chunk-holds-its-prefix"]
    (run,) = run_check(slices=["at_finish"], properties=wanted, preset=preset, spec=SPECIFICATION).runs

    assert set(run.properties.values()) == {"holds"}
