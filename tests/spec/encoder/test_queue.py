"""The place of a deferred request in the waiting queue, and who is asked at all."""

from __future__ import annotations

import pytest

from interlock.proofs.check import Run, run_check
from interlock.spec.encoder import SPECIFICATION
from interlock.spec.encoder.predicates import is_, stands
from interlock.spec.encoder.vocabulary import feature_item, i, kv_held, p, position, r, transit, visited
from interlock.spec.language.properties import ActionProperty, Invariant, Property, Witness
from interlock.spec.language.terms import Term, exists, forall

_ARRIVALS = "ec_arrivals"


def run(slice_: str, *properties: str, change: str | None = None, **sets: str) -> Run:
    """One slice of the module."""
    (result,) = run_check(
        spec=SPECIFICATION, slices=[slice_], properties=list(properties), sets=sets, change=change
    ).runs
    return result


def verdict(slice_: str, goal: Property, **scope: int) -> str:
    """The verdict of a property that is no part of the module."""
    spec = SPECIFICATION.model_copy(update={"properties": (*SPECIFICATION.properties, goal)})
    (result,) = run_check(spec=spec, slices=[slice_], properties=[goal.id], scope=scope).runs
    return result.properties[goal.id]


def shortest(result: Run) -> list[str]:
    """The names of the actions of the one counterexample."""
    (violation,) = result.violations
    return [a.partition("(")[0] for a in violation.actions]


def test_put_at_the_end_a_deferred_request_sees_a_later_one_take_the_kv() -> None:
    actions = shortest(run(_ARRIVALS, "later-arrival-is-not-admitted-first", ec_defer="requeued"))

    assert actions.count("add_request") == 3, "the deferred one, the runner, and one more"
    assert actions.index("defer") < actions.index("complete") < len(actions) - 1
    assert actions[-1] == "admit"


@pytest.mark.parametrize("visit", ["admit", "defer", "no_kv", "start_fetch", "start_kv_load", "claim_cached"])
def test_each_visit_keeps_to_the_turn(visit: str) -> None:
    name = "queue-is-visited-in-order"

    result = run("ec_tight", name, change=f"drop-conjunct:{visit}:in-its-turn")

    assert result.properties == {name: "violated"}
    assert shortest(result)[-1] == visit


def test_out_of_turn_a_deferred_request_is_overtaken_for_ever() -> None:
    name = "deferred-is-scheduled-though-others-arrive"

    assert run(_ARRIVALS, name).properties[name] == "holds"
    result = run(_ARRIVALS, name, change="drop-conjunct:admit:in-its-turn")
    assert "complete" in shortest(result), "others come and go meanwhile"
    assert result.properties[name] == "violated"


@pytest.mark.parametrize(
    ("gate", "visit", "conjunct"), [("none", "defer", "is-asked"), ("waiting_only", "stall", "is-asked")]
)
def test_a_connector_that_is_not_asked_puts_nobody_off(gate: str, visit: str, conjunct: str) -> None:
    name = "nobody-is-put-off-unasked"

    assert run("ec_ask", name, ec_gate=gate).properties[name] == "holds"
    result = run("ec_ask", name, change=f"drop-conjunct:{visit}:{conjunct}", ec_gate=gate)
    assert shortest(result)[-1] == visit


# The tests that came with vLLM PR 41627, in the words of the specification.


def test_the_method_is_asked_once_in_a_schedule_and_with_nothing_computed() -> None:
    computed = kv_held(r) | exists(p, stands(r, p, "entered", "counted", "passed"))
    once = ActionProperty(
        id="test-goal", actions=("defer",), formula=~visited(r) & ~computed, doc="x", slices=("ec_tight",), source="x"
    )

    assert verdict("ec_tight", once) == "holds"
    again = run("ec_tight", "one-visit-per-schedule", change="drop-conjunct:defer:not-visited")
    assert again.properties == {"one-visit-per-schedule": "violated"}


def test_partial_overlap_is_a_reason_to_defer_and_equality_is_none() -> None:
    # The match ends with the first feature (offset + length = computed) and before the end of the second.
    q = position.var("q")
    partial = exists(r, p, q, is_(r, "deferred") & stands(r, p, "matched") & stands(r, q, "ahead"))
    equal = exists(r, is_(r, "deferred") & forall(p, stands(r, p, "none", "matched")))

    assert verdict("ec_twice", _reached(partial)) == "holds"
    # A match that grows after the answer is no reason of that answer: only a deferral from such a state would be.
    from_there = ActionProperty(
        id="test-goal",
        actions=("defer",),
        formula=~forall(p, stands(r, p, "none", "matched")),
        doc="x",
        slices=("ec_twice",),
        source="x",
    )
    assert verdict("ec_twice", from_there) == "holds"
    assert verdict("ec_twice", _reached(equal)) == "holds", "the two differ"


def test_a_repeated_hash_is_one_transfer_and_each_place_is_asked_about() -> None:
    q = position.var("q")
    same = feature_item(r, p).eq(feature_item(r, q))
    one_ahead = exists(r, p, q, is_(r, "deferred") & stands(r, p, "matched") & stands(r, q, "ahead") & same)
    single = Invariant(id="test-goal", formula=forall(i, transit(i) <= 1), doc="x", slices=("ec_twice",), source="x")

    assert verdict("ec_twice", _reached(one_ahead), item=1) == "holds"
    assert verdict("ec_twice", single, item=1) == "holds"


def _reached(formula: Term) -> Witness:
    return Witness(id="test-goal", formula=formula, doc="x", slices=("ec_twice",), source="x")
