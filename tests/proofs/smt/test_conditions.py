"""A proof counts for any size only if it says something about this machine."""

from dataclasses import replace

import pytest

from interlock.proofs.smt.conditions import (
    Condition,
    action_has_successor,
    confirmed,
    judge_ground,
    model_sizes,
    no_sort_bounded,
    premise_satisfiable,
    start_satisfiable,
)
from interlock.proofs.smt.encode import Encoding
from interlock.proofs.smt.induction import invariant, invariants_of
from interlock.proofs.smt.owed import Claim
from interlock.spec.kv import SPECIFICATION
from interlock.spec.kv.vocabulary import j, job_state, job_states
from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Ground
from interlock.spec.language.terms import forall

DOUBLE_STORE = "no-block-stored-twice-in-flight"
SYSTEM = elaborate(SPECIFICATION, SPECIFICATION.switch_values())
INVARIANTS = invariants_of(SYSTEM, DOUBLE_STORE)
PREMISE = invariant(SYSTEM, DOUBLE_STORE).premise
NO_JOBS = Claim("no-jobs", forall(j, job_state(j).eq(job_states["absent"])))


@pytest.fixture(scope="module")
def encoding() -> Encoding:
    return Encoding(SYSTEM)


def test_they_hold(encoding: Encoding) -> None:
    assert no_sort_bounded(encoding).status == "holds"
    assert start_satisfiable(encoding, INVARIANTS).status == "holds"
    assert premise_satisfiable(encoding, INVARIANTS, PREMISE).status == "holds"


@pytest.mark.parametrize("action", [s.name for s in SYSTEM.steps])
def test_every_action_has_a_successor(encoding: Encoding, action: str) -> None:
    assert action_has_successor(encoding, INVARIANTS, action).status == "holds"


def test_a_bounded_sort_is_seen(encoding: Encoding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Encoding, "sizes", lambda self: [s == 2 for s in self.values.sizes.values()])

    assert no_sort_bounded(encoding).status == "fails"


def test_an_invariant_that_forbids_everything_is_seen(encoding: Encoding) -> None:
    assert premise_satisfiable(encoding, (*INVARIANTS, NO_JOBS), PREMISE).status == "unknown"
    assert action_has_successor(encoding, (*INVARIANTS, NO_JOBS), "plan_store").status == "unknown"
    assert premise_satisfiable(encoding, INVARIANTS, None).status == "fails"


def test_contradictory_axioms_have_no_model(encoding: Encoding) -> None:
    assert model_sizes(encoding, [encoding.formula(T.FALSE)], []) is None


def test_a_ground_is_needed_and_shown() -> None:
    found = judge_ground(SYSTEM, DOUBLE_STORE, INVARIANTS, Ground(action="plan_store", conjunct="not-in-flight"))

    assert found.condition().status == "holds"
    assert found.cti is not None
    assert found.run is not None
    assert found.run.property_id == DOUBLE_STORE
    assert found.run.actions[-1].startswith("plan_store(")


def test_a_conjunct_on_which_nothing_rests_is_no_ground() -> None:
    ground = Ground(action="plan_store", conjunct="not-stored")

    assert judge_ground(SYSTEM, DOUBLE_STORE, INVARIANTS, ground).condition().status == "fails"


def test_a_ground_of_an_action_that_the_switches_rule_out_is_unknown() -> None:
    gone = replace(
        SYSTEM,
        steps=tuple(s for s in SYSTEM.steps if s.name != "plan_finish_store"),
        never={"plan_finish_store": "why"},
    )
    ground = Ground(action="plan_finish_store", conjunct="not-in-flight")
    condition = judge_ground(gone, DOUBLE_STORE, INVARIANTS, ground).condition()

    assert condition.status == "unknown"
    assert condition.detail == "there is no plan_finish_store under these switch values (why is false)"


def test_a_ground_that_the_switches_make_true_is_unknown() -> None:
    ground = Ground(action="plan_finish_store", conjunct="nothing")

    assert judge_ground(SYSTEM, DOUBLE_STORE, INVARIANTS, ground).condition().status == "unknown"


def test_a_proof_for_any_size_needs_a_second_solver() -> None:
    assert confirmed({"z3": "proved", "cvc5": "proved"}).status == "holds"
    assert confirmed({"z3": "proved"}) == Condition("unknown", "only z3 was asked: a second solver must confirm")
    assert confirmed({"z3": "proved", "cvc5": "unknown"}).status == "unknown"
