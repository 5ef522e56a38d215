"""What is particular to stores under a pipelined scheduler: how its counterexamples come about."""

from __future__ import annotations

import pytest
from support.counterexamples import Judge

from interlock.spec.pipeline import SPECIFICATION

judge = Judge(SPECIFICATION)
DEPTHS = pytest.mark.parametrize("slice_", ["depth_one", "depth_two"])


@DEPTHS
def test_a_flush_after_the_zeroing_was_ordered_and_comes_too_late(slice_: str) -> None:
    found = judge.names(slice_, "store-source-stable-in-pipeline", flush_point="after_zero")

    assert found[-1] == "run_step"
    assert "order_flush" in found


@DEPTHS
def test_a_metadata_may_not_go_without_the_flush(slice_: str) -> None:
    change = "drop-conjunct:dispatch:fenced-are-flushed"
    found = judge.names(slice_, "store-source-stable-in-pipeline", change=change)

    assert (found[-1], "order_flush" in found) == ("dispatch", False)


def test_at_depth_two_a_second_store_is_planned_before_the_first_was_handed_to_a_worker() -> None:
    found = judge.names("depth_two", "no-block-stored-twice-until-delivery", pipeline_dedup="per_step")

    assert "run_step" not in found


@DEPTHS
def test_a_finish_store_and_the_reallocation_of_its_block_in_one_metadata_are_clean(slice_: str) -> None:
    boundary = f"finish-store-and-reallocation-in-one-metadata-at-{slice_.replace('_', '-')}"
    named = [boundary, "no-block-stored-twice-until-delivery", "store-source-stable-in-pipeline"]

    assert judge.run(slice_, *named).properties == dict.fromkeys(named, "holds")


def test_an_executor_that_ignores_the_order_of_dispatch_spoils_the_source() -> None:
    assert judge.shortest("depth_two", "store-source-stable-in-pipeline", change="drop-conjunct:hand_over:in-order")
