"""The place of a deferred request in the waiting queue, and who is asked at all."""

from __future__ import annotations

import pytest
from support.counterexamples import Judge

from interlock.spec.encoder import SPECIFICATION
from interlock.spec.encoder.predicates import is_, stands
from interlock.spec.encoder.vocabulary import feature_item, i, kv_held, p, position, r, transit, visited
from interlock.spec.language.terms import exists, forall

_ARRIVALS = "ec_arrivals"

judge = Judge(SPECIFICATION)


def test_put_at_the_end_a_deferred_request_sees_a_later_one_take_the_kv() -> None:
    actions = judge.names(_ARRIVALS, "later-arrival-is-not-admitted-first", ec_defer="requeued")

    assert actions.count("add_request") == 3, "the deferred one, the runner, which ends, and one more"
    assert actions.index("defer") < actions.index("finish") < len(actions) - 1
    assert actions[-1] == "admit"


@pytest.mark.parametrize("visit", ["admit", "defer", "no_kv", "start_fetch", "start_kv_load", "claim_cached"])
def test_each_visit_keeps_to_the_turn(visit: str) -> None:
    change = f"drop-conjunct:{visit}:in-its-turn"

    assert judge.names("ec_tight", "queue-is-visited-in-order", change=change)[-1] == visit


def test_out_of_turn_a_deferred_request_is_overtaken_for_ever() -> None:
    name = "deferred-is-scheduled-though-others-arrive"

    assert judge.holds(_ARRIVALS, name)
    actions = judge.names(_ARRIVALS, name, change="drop-conjunct:admit:in-its-turn")
    assert "complete" in actions, "others come and go meanwhile"


@pytest.mark.parametrize(
    ("gate", "visit", "conjunct"), [("none", "defer", "is-asked"), ("waiting_only", "stall", "is-asked")]
)
def test_a_connector_that_is_not_asked_puts_nobody_off(gate: str, visit: str, conjunct: str) -> None:
    name = "nobody-is-put-off-unasked"

    assert judge.holds("ec_ask", name, ec_gate=gate)
    change = f"drop-conjunct:{visit}:{conjunct}"
    assert judge.names("ec_ask", name, change=change, ec_gate=gate)[-1] == visit


# The tests that came with vLLM PR 41627, in the words of the specification.


def test_the_method_is_asked_once_in_a_schedule_and_with_nothing_computed() -> None:
    computed = kv_held(r) | exists(p, stands(r, p, "entered", "counted", "passed"))

    assert judge.always("ec_tight", ~visited(r) & ~computed, "defer")
    assert judge.shortest("ec_tight", "one-visit-per-schedule", change="drop-conjunct:defer:not-visited")


def test_partial_overlap_is_a_reason_to_defer_and_equality_is_none() -> None:
    # The match ends with the first feature (offset + length = computed) and before the end of the second.
    q = position.var("q")
    partial = exists(r, p, q, is_(r, "deferred") & stands(r, p, "matched") & stands(r, q, "ahead"))
    equal = exists(r, is_(r, "deferred") & forall(p, stands(r, p, "none", "matched")))

    assert judge.reachable("ec_twice", partial)
    # A match that grows after the answer is no reason of that answer: only a deferral from such a state would be.
    assert judge.always("ec_twice", ~forall(p, stands(r, p, "none", "matched")), "defer")
    assert judge.reachable("ec_twice", equal), "the two differ"


def test_a_repeated_hash_is_one_transfer_and_each_place_is_asked_about() -> None:
    q = position.var("q")
    same = feature_item(r, p).eq(feature_item(r, q))
    one_ahead = exists(r, p, q, is_(r, "deferred") & stands(r, p, "matched") & stands(r, q, "ahead") & same)

    assert judge.reachable("ec_twice", one_ahead, scope={"item": 1})
    assert judge.always("ec_twice", forall(i, transit(i) <= 1), scope={"item": 1})
