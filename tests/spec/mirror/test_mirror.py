"""What is particular to the copy that a connector keeps: how its counterexamples come about."""

from __future__ import annotations

from interlock.proofs.check import Violation, run_check
from interlock.proofs.mutation.changes import apply
from interlock.spec.mirror import SPECIFICATION


def _shortest(property_: str, slice_: str, change: str = "", **switches: str) -> Violation:
    spec = apply(SPECIFICATION, change) if change else SPECIFICATION
    result = run_check(spec=spec, slices=[slice_], sets=switches, properties=[property_])
    (violation,) = result.runs[0].violations
    return violation


def test_cancel_before_the_first_schedule_has_nothing_to_store() -> None:
    found = _shortest("stored-range-is-computed", "mirror_table", finish_range="all_keys")
    assert found.actions == ["add_request(request0)", "cancel(request0)", "finish(request0)"]


def test_half_a_block_is_rounded_up() -> None:
    found = _shortest("stored-range-is-computed", "mirror_table", finish_range="rounded_up")
    assert found.actions.count("token_computed(request0)") == 1
    assert found.actions[-1] == "finish(request0)"


def test_placeholder_counts_as_computed() -> None:
    found = _shortest("stored-range-is-computed", "mirror_table", storable="with_placeholders")
    assert [a.split("(")[0] for a in found.actions[-2:]] == ["schedule_token", "scan"]
    assert found.actions.count("token_computed(request0)") == 1


def test_list_is_cleared_and_cursor_is_not() -> None:
    found = _shortest("cursor-within-mirror", "mirror_table", cursor_at_resume="kept")
    assert found.length == 21
    names = [a.split("(")[0] for a in found.actions]
    assert names[-3:] == ["preempt", "resume_request", "build_connector_meta"]
    assert names.count("scan") == 2


def test_resumed_blocks_are_appended() -> None:
    found = _shortest("mirror-equals-block-table", "mirror_table", resume_blocks="append")
    assert found.length == 7
    assert [a.split("(")[0] for a in found.actions[-3:]] == ["preempt", "resume_request", "build_connector_meta"]


def test_refused_store_costs_another_request_its_rows() -> None:
    found = _shortest("mirror-advances-with-every-metadata", "mirror_batch", refused_store="ends_the_loop")
    refused = next(a for a in found.actions if a.startswith("refuse_store"))
    admitted = [a for a in found.actions if a.startswith("admit_request")]
    other = "request1" if "request0" in refused else "request0"
    assert other in admitted[-1]


def test_full_hit_and_impossible_hits() -> None:
    assert _shortest("hit-count-in-range", "mirror_match", hit_cap="full").actions[1] == "answer_match(request0, whole)"
    found = _shortest("hit-count-in-range", "mirror_match", "drop-conjunct:admit_request:answer-in-range")
    assert found.actions[1].startswith("match_out_of_range")


def test_second_store_replaces_the_first() -> None:
    found = _shortest("open-store-has-its-block", "mirror_saves", save_table="one_per_request")
    names = [a.split("(")[0] for a in found.actions]
    assert names.count("plan_save") + names.count("plan_shared_save") == 2
    assert names.count("save_done") == 1
    assert names.index("finish") < names.index("save_done")
