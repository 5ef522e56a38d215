"""What is particular to stores under a pipelined scheduler: how its counterexamples come about."""

from __future__ import annotations

import pytest

from interlock.proofs.check import Run, Violation, run_check
from interlock.proofs.mutation.changes import apply
from interlock.spec.pipeline import SPECIFICATION

DEPTHS = pytest.mark.parametrize("slice_", ["depth_one", "depth_two"])


def _run(property_: str, slice_: str, change: str = "", **switches: str) -> Run:
    spec = apply(SPECIFICATION, change) if change else SPECIFICATION
    (run,) = run_check(spec=spec, slices=[slice_], sets=switches, properties=[property_]).runs
    return run


def _shortest(property_: str, slice_: str, change: str = "", **switches: str) -> Violation:
    (violation,) = _run(property_, slice_, change, **switches).violations
    return violation


@DEPTHS
def test_a_flush_after_the_zeroing_was_ordered_and_comes_too_late(slice_: str) -> None:
    found = _shortest("store-source-stable-in-pipeline", slice_, flush_point="after_zero")

    names = [a.split("(")[0] for a in found.actions]
    assert names[-1] == "run_step"
    assert "order_flush" in names


@DEPTHS
def test_a_metadata_may_not_go_without_the_flush(slice_: str) -> None:
    change = "drop-conjunct:dispatch:fenced-are-flushed"
    found = _shortest("store-source-stable-in-pipeline", slice_, change)

    names = [a.split("(")[0] for a in found.actions]
    assert (names[-1], "order_flush" in names) == ("dispatch", False)


def test_at_depth_two_a_second_store_is_planned_before_the_first_was_handed_to_a_worker() -> None:
    found = _shortest("no-block-stored-twice-until-delivery", "depth_two", pipeline_dedup="per_step")

    assert "run_step" not in {a.split("(")[0] for a in found.actions}


@DEPTHS
def test_a_finish_store_and_the_reallocation_of_its_block_in_one_metadata_are_clean(slice_: str) -> None:
    boundary = f"finish-store-and-reallocation-in-one-metadata-at-{slice_.replace('_', '-')}"
    named = [boundary, "no-block-stored-twice-until-delivery", "store-source-stable-in-pipeline"]
    (run,) = run_check(spec=SPECIFICATION, slices=[slice_], properties=named).runs

    assert run.properties == dict.fromkeys(named, "holds")


def test_an_executor_that_ignores_the_order_of_dispatch_spoils_the_source() -> None:
    run = _run("store-source-stable-in-pipeline", "depth_two", "drop-conjunct:hand_over:in-order")

    assert run.properties == {"store-source-stable-in-pipeline": "violated"}
