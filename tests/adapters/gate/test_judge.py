"""The judge on hand-made boundary traces: what must be a finding, and what must not be."""

import pytest

from interlock.adapters.gate.judge import CRASH, PENDING, PINNED, UNEXPLAINED, Judge, Played
from interlock.adapters.gate.modules.kv import KV

JUDGE = Judge(source="vllm")


def events(*lines: str) -> list[dict]:
    """``"allocate request=A block=1"`` and so on."""
    return [dict([("event", line.split()[0]), *(w.split("=") for w in line.split()[1:])]) for line in lines]


def broken(*lines: str, **seen) -> list[str]:
    return [b.property for b in JUDGE(Played(events(*lines), [], 1, **seen)).broken]


ADMIT = ("add_request request=A", "allocate request=A block=1", "publish request=A block=1 hash=h1")
STORE = (*ADMIT, "plan_store request=A block=1 chunk=1 job=s0/0", "build_connector_meta", "update_from_output")


def test_a_store_and_its_end_are_clean() -> None:
    assert broken(*STORE, "acknowledge job=s0/0", "finish request=A") == []


def test_a_second_store_of_an_open_block_is_found() -> None:
    assert broken(*STORE, "plan_store request=A block=1 chunk=2 job=s1/0") == ["no-block-stored-twice-in-flight"]


def test_a_second_store_is_found_where_the_metadata_names_no_request() -> None:
    assert broken(*STORE, "plan_store block=1 chunk=2 job=s1/0") == ["no-block-stored-twice-in-flight"]


def test_a_second_store_after_the_first_has_ended_is_clean() -> None:
    assert broken(*STORE, "acknowledge job=s0/0", "plan_store request=A block=1 chunk=2 job=s1/0") == []


def test_storing_nothing_is_clean() -> None:
    assert broken(*ADMIT, "build_connector_meta", "update_from_output", "finish request=A") == []


def test_a_finish_time_store_and_the_reallocation_of_its_block_in_one_metadata_is_clean() -> None:
    """seeds 004, boundary test: OffloadingConnector 0.32.0 does this."""
    assert (
        broken(
            *ADMIT, "build_connector_meta", "update_from_output", "finish request=A",
            "add_request request=B", "allocate request=B block=1", "publish request=B block=1 hash=h2",
            "plan_store request=A block=1 chunk=1 job=7/0", "order_flush job=7/0", "build_connector_meta",
            "update_from_output", "acknowledge job=7/0",
        )
        == []
    )  # fmt: skip


def test_the_same_without_the_flush_is_found() -> None:
    found = broken(
        *ADMIT, "build_connector_meta", "update_from_output", "finish request=A",
        "add_request request=B", "allocate request=B block=1", "publish request=B block=1 hash=h2",
        "plan_store request=A block=1 chunk=1 job=7/0", "build_connector_meta",
        "update_from_output", "acknowledge job=7/0",
    )  # fmt: skip

    assert "ready-chunk-holds-its-prefix" in found or "store-source-stable" in found


def test_what_the_model_cannot_explain_is_the_gates_fault() -> None:
    judgement = JUDGE(Played(events("hit request=A block=1"), [], 1))
    (found,) = judgement.broken

    assert (found.property, found.side) == (UNEXPLAINED, "gate")


@pytest.mark.parametrize("side", ["scheduler", "connector"])
def test_an_exception_is_a_finding_of_its_side(side) -> None:
    error = {
        "kind": "crash",
        "type": "RuntimeError",
        "message": "m",
        "where": "x.py:1 f",
        "side": side,
        "file": "x.py",
        "line": 1,
    }
    (found,) = JUDGE(Played(events(*ADMIT), [], 1, error)).broken

    assert (found.property, found.side, found.file, found.line) == (CRASH, side, "x.py", 1)


def test_the_oracle_breaks_the_property_that_it_stands_for() -> None:
    fault = {"kind": "read", "event": 2, "block": 1, "request": "A", "expected": "x", "found": None}
    (found,) = JUDGE(Played(events(*ADMIT), [fault], 1)).broken

    assert found.property == "forward-reads-own-prefix"
    assert "block 1" in found.message


def test_an_answer_out_of_range_is_the_connectors_fault() -> None:
    fault = {"kind": "answer", "event": 1, "request": "A", "expected": "between 0 and 16 tokens", "found": "32"}
    (found,) = JUDGE(Played(events(*ADMIT), [fault], 1)).broken

    assert (found.id, found.side) == ("hit-count-in-range:answer", "connector")
    assert found.message == "request A is answered 32, not between 0 and 16 tokens"


@pytest.mark.parametrize("property_", [PENDING, PINNED])
def test_chunks_in_use_at_rest_are_judged_where_somebody_has_looked(property_) -> None:
    judge = Judge(source="vllm", at_rest=KV.at_rest)
    unseen, none, left = (
        judge(Played(events(*ADMIT), [], 1, owed=o)) for o in ({}, {property_: []}, {property_: ["chunk 3"]})
    )

    assert [property_ in j.judged for j in (unseen, none, left)] == [False, True, True]
    assert [[(b.id, b.side) for b in j.broken] for j in (unseen, none, left)] == [
        [], [], [(f"{property_}:rest", "connector")]
    ]  # fmt: skip


def test_rules_are_counted_only_where_their_premise_came_true() -> None:
    judged = JUDGE(Played(events(*ADMIT), [], 1)).judged

    assert "hashed-block-holds-its-prefix" not in judged
    assert "pinned-chunk-is-never-evicted" not in judged
    assert "no-block-stored-twice-in-flight" in JUDGE(Played(events(*STORE), [], 1)).judged


def test_a_store_into_a_chunk_that_a_store_still_writes_is_the_connectors_fault() -> None:
    """The model cannot follow it, and the clause needs no model behind it."""
    more = ("allocate request=A block=2", "publish request=A block=2 hash=h2")
    judgement = JUDGE(Played(events(*STORE, *more, "plan_store request=A block=2 chunk=1 job=s1/0"), [], 1))

    assert [(b.property, b.side) for b in judgement.broken] == [("store-target-is-in-no-open-job", "connector")]


def test_a_load_from_a_chunk_that_is_still_written_is_the_connectors_fault() -> None:
    other = ("add_request request=B", "allocate request=B block=2", "plan_load request=B block=2 chunk=1 job=l0/0")
    judgement = JUDGE(Played(events(*STORE, *other), [], 1))

    assert [(b.property, b.side) for b in judgement.broken] == [("load-source-is-not-being-written", "connector")]


def test_a_store_of_a_block_that_was_never_published_is_the_connectors_fault() -> None:
    """As OffloadingConnector of 0.26 to 0.29 stores, at the end, a block that the last sampled token fills."""
    ends = ("finish request=A", "plan_store request=A block=2 chunk=1 job=s1/0")
    judgement = JUDGE(Played(events(*ADMIT, "allocate request=A block=2", *ends), [], 1))

    assert [(b.property, b.side) for b in judgement.broken] == [("store-source-was-published", "connector")]


def test_what_stopped_the_replay_is_what_is_said() -> None:
    (found,) = JUDGE(Played(events(*ADMIT, "hit request=B block=1"), [], 1)).broken

    assert "hit" in found.message
    assert "premise" not in found.message
