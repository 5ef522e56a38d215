"""What is particular to the copy that a connector keeps: how its counterexamples come about."""

from __future__ import annotations

from support.counterexamples import Judge, names

from interlock.spec.mirror import SPECIFICATION

judge = Judge(SPECIFICATION)


def test_cancel_before_the_first_schedule_has_nothing_to_store() -> None:
    found = judge.shortest("mirror_table", "stored-range-is-computed", finish_range="all_keys")
    assert found.actions == ["add_request(request0)", "cancel(request0)", "finish(request0)"]


def test_half_a_block_is_rounded_up() -> None:
    found = judge.shortest("mirror_table", "stored-range-is-computed", finish_range="rounded_up")
    assert found.actions.count("token_computed(request0)") == 1
    assert found.actions[-1] == "finish(request0)"


def test_placeholder_counts_as_computed() -> None:
    found = judge.shortest("mirror_table", "stored-range-is-computed", storable="with_placeholders")
    assert names(found.actions[-2:]) == ["schedule_token", "scan"]
    assert found.actions.count("token_computed(request0)") == 1


def test_list_is_cleared_and_cursor_is_not() -> None:
    found = judge.shortest("mirror_table", "cursor-within-mirror", cursor_at_resume="kept")
    assert found.length == 21
    assert names(found.actions)[-3:] == ["preempt", "resume_request", "build_connector_meta"]
    assert names(found.actions).count("scan") == 2


def test_resumed_blocks_are_appended() -> None:
    found = judge.shortest("mirror_table", "mirror-equals-block-table", resume_blocks="append")
    assert found.length == 7
    assert names(found.actions[-3:]) == ["preempt", "resume_request", "build_connector_meta"]


def test_refused_store_costs_another_request_its_rows() -> None:
    found = judge.shortest("mirror_batch", "mirror-advances-with-every-metadata", refused_store="ends_the_loop")
    refused = next(a for a in found.actions if a.startswith("refuse_store"))
    admitted = [a for a in found.actions if a.startswith("admit_request")]
    other = "request1" if "request0" in refused else "request0"
    assert other in admitted[-1]


def test_full_hit_and_impossible_hits() -> None:
    assert (
        judge.shortest("mirror_match", "hit-count-in-range", hit_cap="full").actions[1]
        == "answer_match(request0, whole)"
    )
    found = judge.shortest("mirror_match", "hit-count-in-range", change="drop-conjunct:admit_request:answer-in-range")
    assert found.actions[1].startswith("match_out_of_range")


def test_second_store_replaces_the_first() -> None:
    found = judge.names("mirror_saves", "open-store-has-its-block", save_table="one_per_request")
    assert found.count("plan_save") + found.count("plan_shared_save") == 2
    assert found.count("save_done") == 1
    assert found.index("finish") < found.index("save_done")
