"""What is particular to the engine: the shapes of the seeds' and the defects' counterexamples."""

from __future__ import annotations

import pytest
from support.counterexamples import Judge, in_order

from interlock.spec.engine import SPECIFICATION
from interlock.spec.engine.vocabulary import b, r, table
from interlock.spec.language.actions import assign
from interlock.spec.language.properties import Invariant
from interlock.spec.language.specification import Specification

judge = Judge(SPECIFICATION, engine="plain")


def test_frozen_count_misses_a_block_after_resumption() -> None:
    """Seeds 001, contract 5(b): preempted, resumed, and the bad block lies above the count of the first admission."""
    found = judge.names("resume", "no-token-from-invalid-block", recovery_base="cached_tokens")
    assert in_order(found, "admit", "reset_running", "offer_sync", "sync_block_fails", "process_outputs")
    assert "claim" not in found
    assert len(found) == 18


def test_scheduled_tokens_are_not_enough_when_steps_overlap() -> None:
    """Seeds 001: a sharer that only the later step schedules keeps tokens of that step."""
    found = judge.names("share_overlap", "computed-within-valid-prefix", recovery_base="computed_minus_scheduled")
    assert in_order(found, "dispatch", "hit", "dispatch", "begin_update", "claim", "keep_base")
    assert len(found) == 19


def test_scheduled_tokens_are_enough_at_depth_one() -> None:
    """Seeds 001: the change is right at pipeline depth 1."""
    assert judge.holds(
        "share_overlap", "computed-within-valid-prefix", recovery_base="computed_minus_scheduled", pipeline="one"
    )


def test_wrong_entry_hides_an_invalid_block() -> None:
    """Seeds 001: a wrong entry of the scheduled-tokens map is a fault; Interlock does not read the map."""
    found = judge.names(
        "resume", "no-token-from-invalid-block", recovery_base="computed_minus_scheduled", pipeline="one"
    )
    assert found[-2:] == ["inflate_entry", "process_outputs"]


def test_scheduled_tokens_of_an_earlier_life_are_not_to_be_subtracted() -> None:
    """Seeds 001: one formula for loading requests, too, which the step of an ended life still schedules."""
    found = judge.names("load_resumed", "computed-within-valid-prefix", recovery_base="computed_minus_scheduled")
    assert in_order(
        found, "dispatch", "reset_running", "offer_async", "block_load_fails", "begin_update", "finished_recving"
    )
    assert "recover_loading" not in found
    assert len(found) == 20


@pytest.mark.parametrize(
    ("change", "last"),
    [("guard-false:turn_away", "hit"), ("drop-fairness:admit", "hit"), ("drop-fairness:turn_away", "hit")],
)
def test_a_visit_needs_its_end(change: str, last: str) -> None:
    """Contract Q7: a request that has found a prefix and gets no block would keep schedule() from ending."""
    assert judge.names("victim", "a-schedule-ends", change=change)[-1] == last


@pytest.mark.parametrize(
    ("slice_", "property_", "sets", "wanted"),
    [
        ("share", "hashed-block-is-valid-or-being-recomputed", {"invalid_hash": "keep"}, ("finish", "run_forward")),
        (
            "decoding",
            "no-token-from-invalid-block",
            {"in_flight_output": "deliver"},
            ("dispatch", "decode", "dispatch", "claim", "process_outputs", "begin_update", "process_outputs"),
        ),
        (
            "late_report",
            "no-token-from-invalid-block",
            {"invalid_scan": "running_and_loading", "load_failure_policy": "fail"},
            ("withhold_report", "promote", "begin_update", "compute_new", "process_outputs"),
        ),
        (
            "load_progress",
            "failed-load-makes-progress",
            {"reoffer": "allowed"},
            ("retry", "offer_async", "retry", "offer_async"),
        ),
    ],
    ids=["D1", "D2", "D8", "D9"],
)
def test_defects_of_0_32(slice_: str, property_: str, sets: dict[str, str], wanted: tuple[str, ...]) -> None:
    """Contract section 9, each by its own switch."""
    assert in_order(judge.names(slice_, property_, **sets), *wanted)


def without_removal(slice_: str, *actions: str) -> Specification:
    """The specification with these actions back in a slice."""
    slices = tuple(
        x.model_copy(update={"remove": tuple(a for a in x.remove if a not in actions)}) if x.name == slice_ else x
        for x in SPECIFICATION.slices
    )
    return SPECIFICATION.model_copy(update={"slices": slices})


def test_what_is_in_flight_is_not_confirmed() -> None:
    """Seeds 001: the base of PR 38096 keeps, for a sharer, tokens of the step after the one that is processed."""
    found = judge.names("share_overlap", "counted-tokens-are-confirmed", recovery_base="computed_minus_scheduled")
    assert in_order(found, "dispatch", "hit", "dispatch", "begin_update", "claim", "keep_base")
    assert found[-1] == "keep_base"


def test_what_an_update_leaves_counted_is_owed_only_if_others_have_claimed_it() -> None:
    """Contract Q24: a request keeps its base only if others compute all of its invalid blocks again."""
    change = "drop-conjunct:keep_base:all-claimed"
    found = judge.names("late_sync", "invalid-block-that-counts-is-recomputed", change=change)
    assert found[-1] == "keep_base"


def test_a_late_report_of_an_ended_request_is_a_known_limit() -> None:
    """Contract R-44: what was computed from the block stays in the prefix cache; no default slice has such reports."""
    changed = Judge(without_removal("late_sync", "finish"), engine="plain")
    found = changed.names("late_sync", "hashed-block-is-valid-or-being-recomputed")
    assert in_order(found, "sync_block_fails", "withhold_report", "process_outputs", "finish", "begin_update")
    assert found[-1] == "begin_update"


def test_a_holder_that_is_lost_with_a_hash_is_seen() -> None:
    """Contract I-33: a recovery that gave the block back as well would change the count of its references."""
    actions = tuple(
        a.model_copy(update={"updates": (*a.updates, assign(table(r, b), False))}) if a.name == "claim" else a
        for a in SPECIFICATION.actions
    )
    changed = Judge(SPECIFICATION.model_copy(update={"actions": actions}), engine="plain")
    assert changed.names("decoding", "dropping-a-hash-leaves-the-holders")[-1] == "claim"


def test_an_empty_pipeline_needs_the_placeholders_of_an_ended_life_to_go() -> None:
    """Contract I-09: outputs of an ended life that are awaited for ever."""
    change = "drop-update:reset_running:placeholders"
    assert judge.shortest("resume", "empty-pipeline-has-nothing-in-flight", change=change)


def test_lemmas_are_named_by_a_proof() -> None:
    """Every lemma of the module backs a proof, and none is a property of its own."""
    invariants = [p for p in SPECIFICATION.properties if isinstance(p, Invariant)]
    assert {p.id for p in invariants if p.lemma} <= {i for p in invariants if p.proved for i in p.proof}
