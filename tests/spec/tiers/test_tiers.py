"""What is particular to two tiers and to tasks: how their counterexamples come about."""

from __future__ import annotations

import pytest

from interlock.proofs.check import Violation, run_check
from interlock.proofs.mutation.changes import apply
from interlock.spec.tiers import SPECIFICATION


def _shortest(
    property_: str, slice_: str, change: str = "", scope: dict[str, int] | None = None, **switches: str
) -> Violation:
    spec = apply(SPECIFICATION, change) if change else SPECIFICATION
    result = run_check(spec=spec, slices=[slice_], sets=switches, scope=scope, properties=[property_])
    (violation,) = result.runs[0].violations
    return violation


def _names(violation: Violation) -> list[str]:
    return [a.split("(")[0] for a in violation.actions]


def test_queued_promotion_outlives_its_request() -> None:
    found = _shortest("no-operation-outlives-its-request", "tier_rounds", "drop-conjunct:finalise:nothing-queued")
    assert _names(found) == ["add_request", "plan_promotion", "finish", "finalise"]


def test_failed_read_is_tried_for_ever() -> None:
    scope = {"hash": 1, "chunk": 1, "operation": 1}
    switches = {"failed_read": "verdict_kept", "pending_wait": "unbounded"}
    found = _shortest("deferral-ends", "tier_missing_file", scope=scope, **switches)
    names = _names(found)
    assert names.count("file_vanishes") == 1
    assert names.count("promotion_failed") >= 2
    assert "admit" not in names


def test_hanging_store_defers_whoever_asks() -> None:
    names = _names(_shortest("deferral-ends", "tier_stall", pending_wait="unbounded"))
    assert "copy_stalls" in names
    assert "lookup_wait" in names


def test_first_round_ends_the_second() -> None:
    found = _shortest("each-transfer-has-one-result", "tier_rounds", completion_names="request")
    assert found.actions[-1] in ("fill_done(operation0, operation1)", "fill_done(operation1, operation0)")
    assert found.length == 6


def test_late_read_overwrites_a_slot_that_reset_freed() -> None:
    names = _names(_shortest("ready-slot-holds-its-key", "tier_reset_read", tier_reset="frees_in_flight"))
    assert names.index("reset_tiers") < names.index("plan_fill") < names.index("tier_read")


def test_pin_dropped_twice_costs_another_request_its_slot() -> None:
    names = _names(_shortest("evicted-only-when-nobody-reads", "tier_retrieve", retrieval_unpins="again_at_save"))
    assert names[-2:] == ["save_ends", "evict_slot"]
    assert names.count("add_request") == 2


@pytest.mark.parametrize(
    ("switch", "value", "last"),
    [("failed_write", "entry_kept", "cascade_failed"), ("evict_when", "backup_started", "plan_cascade")],
)
def test_evicted_without_a_backup(switch: str, value: str, last: str) -> None:
    names = _names(_shortest("evicted-only-after-backup", "tier_backup", **{switch: value}))
    assert names[-2:] == [last, "evict_slot"]


def test_cancelled_prefetch_keeps_its_slot() -> None:
    names = _names(_shortest("pending-slot-has-one-writer", "tier_promote", cancelled_prefetch="abandoned"))
    assert names[-3:] == ["finish", "tier_read", "fill_done"]


def test_escape_looks_at_stores_only() -> None:
    found = _shortest("loaded-block-belongs-to-its-request", "task_hang", "drop-conjunct:escape:no-load-under-way")
    names = _names(found)
    assert names[-1] == "escape"
    assert {"create_load", "create_store"} <= set(names)


def test_buffered_store_finds_its_block_gone() -> None:
    names = _names(_shortest("accepted-store-is-not-dropped", "task_blocks", buffered_store="holds_nothing"))
    assert names[-3:] == ["free_blocks", "give_block", "cancel_task"]
