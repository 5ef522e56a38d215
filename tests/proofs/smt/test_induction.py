"""The proof itself, at any size, by both solvers."""

from collections import Counter

import pytest

from interlock.proofs.smt.induction import Induction, invariants_of, proved_ids
from interlock.proofs.smt.owed import reads
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.specification import UnknownName

DOUBLE_STORE = "no-block-stored-twice-in-flight"


def induction(**switches: str) -> Induction:
    system = elaborate(SPECIFICATION, SPECIFICATION.switch_values("interlock", switches))
    return Induction(system, invariants_of(system, DOUBLE_STORE))


@pytest.mark.parametrize("source_hold", ["fence", "pin"])
def test_z3_proves_every_obligation(source_hold: str) -> None:
    proof = induction(source_hold=source_hold)
    answers = [a for place in proof.places for a in proof.ask("z3", place, timeout_s=10)]

    assert [a.obligation for a in answers if a.answer != "proved"] == []
    assert len(answers) == len(proof.obligations) > 200


@pytest.mark.parametrize("place", ["start", "state", "plan_store", "acknowledge", "report"])
def test_cvc5_proves_the_obligations_of(place: str) -> None:
    assert {a.answer for a in induction().ask("cvc5", place, timeout_s=10)} == {"proved"}


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_both_solvers_refute_what_per_step_breaks(solver: str) -> None:
    answers = induction(store_dedup="per_step").ask(solver, "plan_store", timeout_s=10)

    assert {a.claim for a in answers if a.answer == "failed"} == {DOUBLE_STORE, "one-open-store-per-block"}
    assert {a.answer for a in answers} == {"proved", "failed"}


def test_obligations_cover_ranges_definedness_and_every_action() -> None:
    proof = induction()
    kinds = Counter(o.claim.name.partition(":")[0] for o in proof.obligations)

    assert {"range", "domain", "value", "defined", DOUBLE_STORE} <= set(kinds)
    (target,) = (c for c in proof.invariants if c.name == DOUBLE_STORE)
    moving = [s for s in proof.system.steps if {u.symbol for u in s.updates} & reads(proof.system, target.term)]
    assert kinds[DOUBLE_STORE] == len(moving) + 1 > 5
    assert proof.named("acknowledge / range:pending_count").enabled
    assert proof.named("publish / value:block_hash")
    assert not proof.named("plan_store / domain:guard").enabled


def test_nothing_is_proved_after_the_deadline() -> None:
    assert {a.answer for a in induction().ask("z3", "hit", timeout_s=10, deadline=0)} == {"unknown"}


def test_what_says_that_it_is_proved() -> None:
    system = elaborate(SPECIFICATION, SPECIFICATION.switch_values())

    assert DOUBLE_STORE in proved_ids(system)
    with pytest.raises(UnknownName):
        invariants_of(system, "issued-jobs-complete")
