"""What is particular to two tiers and to tasks: how their counterexamples come about."""

from __future__ import annotations

import pytest
from support.counterexamples import Judge

from interlock.proofs.check import run_check
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action
from interlock.spec.language.terms import TRUE
from interlock.spec.tiers import SPECIFICATION

judge = Judge(SPECIFICATION)


def test_queued_promotion_outlives_its_request() -> None:
    found = judge.names(
        "tier_rounds", "no-operation-outlives-its-request", change="drop-conjunct:finalise:nothing-queued"
    )
    assert found == ["add_request", "plan_promotion", "finish", "finalise"]


def test_failed_read_is_tried_for_ever() -> None:
    scope = {"hash": 1, "chunk": 1, "operation": 1}
    switches = {"failed_read": "verdict_kept", "pending_wait": "unbounded"}
    found = judge.names("tier_missing_file", "deferral-ends", scope=scope, **switches)
    assert found.count("file_vanishes") == 1
    assert found.count("promotion_failed") >= 2
    assert "admit" not in found


@pytest.mark.parametrize(
    ("slice_", "property_", "action", "scope"),
    [
        ("tier_reset_read", "a-late-read-makes-garbage-of-anothers-slot", "tier_read", None),
        ("tier_reset_write", "a-late-write-makes-garbage-of-its-file", "tier_write", {"hash": 2}),
    ],
)
def test_bytes_under_another_key_count_as_garbage(
    slice_: str, property_: str, action: str, scope: dict[str, int] | None
) -> None:
    """Where a reset frees slots that are in use, what fails must fail for the bytes that end up in them."""

    def whose(t: T.Term) -> T.Term | None:
        return TRUE if isinstance(t, T.Eq) and "slot_key" in T.symbols(t) else None

    def blind(a: Action) -> Action:
        updates = [
            u.model_copy(update={"value": T.transform(u.value, whose)}) if u.symbol.endswith("_value") else u
            for u in a.updates
        ]
        return a.model_copy(update={"updates": tuple(updates)})

    actions = tuple(blind(a) if a.name == action else a for a in SPECIFICATION.actions)
    faulty = SPECIFICATION.model_copy(update={"actions": actions})
    (run,) = run_check(
        spec=faulty, slices=[slice_], properties=[property_], scope=scope, sets={"tier_reset": "frees_in_flight"}
    ).runs
    assert run.properties == {property_: "violated"}


def test_hanging_store_defers_whoever_asks() -> None:
    found = judge.names("tier_stall", "deferral-ends", pending_wait="unbounded")
    assert "copy_stalls" in found
    assert "lookup_wait" in found


def test_first_round_ends_the_second() -> None:
    found = judge.shortest("tier_rounds", "each-transfer-has-one-result", completion_names="request")
    assert found.actions[-1] in ("fill_done(operation0, operation1)", "fill_done(operation1, operation0)")
    assert found.length == 6


def test_late_read_overwrites_a_slot_that_reset_freed() -> None:
    found = judge.names("tier_reset_read", "ready-slot-holds-its-key", tier_reset="frees_in_flight")
    assert found.index("reset_tiers") < found.index("plan_fill") < found.index("tier_read")


def test_pin_dropped_twice_costs_another_request_its_slot() -> None:
    found = judge.names("tier_retrieve", "evicted-only-when-nobody-reads", retrieval_unpins="again_at_save")
    assert found[-2:] == ["save_ends", "evict_slot"]
    assert found.count("add_request") == 2


@pytest.mark.parametrize(
    ("switch", "value", "last"),
    [("failed_write", "entry_kept", "cascade_failed"), ("evict_when", "backup_started", "plan_cascade")],
)
def test_evicted_without_a_backup(switch: str, value: str, last: str) -> None:
    found = judge.names("tier_backup", "evicted-only-after-backup", **{switch: value})
    assert found[-2:] == [last, "evict_slot"]


def test_cancelled_prefetch_keeps_its_slot() -> None:
    found = judge.names("tier_promote", "pending-slot-has-one-writer", cancelled_prefetch="abandoned")
    assert found[-3:] == ["finish", "tier_read", "fill_done"]


def test_escape_looks_at_stores_only() -> None:
    found = judge.names(
        "task_hang", "loaded-block-belongs-to-its-request", change="drop-conjunct:escape:no-load-under-way"
    )
    assert found[-1] == "escape"
    assert {"create_load", "create_store"} <= set(found)


def test_buffered_store_finds_its_block_gone() -> None:
    found = judge.names("task_blocks", "accepted-store-is-not-dropped", buffered_store="holds_nothing")
    assert found[-3:] == ["free_blocks", "give_block", "cancel_task"]
