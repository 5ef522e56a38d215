"""Counterexamples to induction: small, about what matters, and never clamped."""

import pytest
from support.mutants import subtract_twice, with_action, without_conjunct, without_update
from support.small import CLAIM, act, on, specification, x

from interlock.proofs.smt.cti import Cti
from interlock.proofs.smt.induction import Induction, invariants_of
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.actions import assign
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Invariant
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import Var, forall

DOUBLE_STORE = "no-block-stored-twice-in-flight"


def induction(spec: Specification = SPECIFICATION, **switches: str) -> Induction:
    system = elaborate(spec, spec.switch_values("interlock", switches))
    return Induction(system, invariants_of(system, DOUBLE_STORE))


def two_states(proof: Induction, obligation: str) -> Cti:
    found = proof.counterexample(obligation)
    assert found is not None
    return found


def test_two_stores_of_one_block() -> None:
    cti = two_states(induction(store_dedup="per_step"), f"plan_store / {DOUBLE_STORE}")

    assert cti.action == "plan_store(r=request0, b=block0, c=chunk0, j=job0)"
    assert cti.scope == {"request": 1, "block": 1, "chunk": 1, "job": 2, "worker": 1, "hash": 1}
    assert (cti.before["job_state(job1)"], cti.before["job_block(job1)"]) == ("store_in_flight", "block0")
    assert (cti.before["job_state(job0)"], cti.after["job_state(job0)"]) == ("absent", "planned")
    assert "job_block(job0)" not in cti.before
    assert cti.after["job_block(job0)"] == "block0"
    assert len(cti.before) < 25
    assert "  * job_state(job0): absent -> planned" in cti.lines()


def test_what_is_proved_has_none() -> None:
    assert induction().counterexample(f"plan_store / {DOUBLE_STORE}") is None


def test_subtracting_twice_is_a_range_violation_for_both_solvers() -> None:
    proof = induction(with_action("acknowledge", subtract_twice))
    for solver in ("z3", "cvc5"):
        failed = {a.claim for a in proof.ask(solver, "acknowledge", timeout_s=10) if a.answer == "failed"}

        assert "range:pending_count" in failed
    cti = two_states(proof, "acknowledge / range:pending_count")

    assert cti.before["pending_count(job0)"] == "1"
    assert cti.after["pending_count(job0)"] == "-1"


@pytest.mark.parametrize(
    ("action", "change", "claim"),
    [
        ("plan_store", without_conjunct("hashed"), "domain:guard"),
        ("publish", without_update("block_hash"), "value:block_hash"),
        ("plan_store", without_conjunct("not-in-flight"), DOUBLE_STORE),
        ("plan_store", without_update("in_flight"), "open-stores-are-in-dedup-set"),
    ],
)
def test_a_fault_breaks_the_obligation(action: str, change, claim: str) -> None:
    proof = induction(with_action(action, change))
    failed = {a.claim for a in proof.ask("z3", action, timeout_s=10) if a.answer == "failed"}

    assert claim in failed
    assert two_states(proof, f"{action} / {claim}").before


def test_a_truth_value_is_no_element_that_could_be_renamed() -> None:
    flag = Var(name="flag", sort="bool")
    turn_on = act("turn_on", flag, do=(assign(on(x), True),), params=(flag, x))
    off = Invariant(id="nothing-is-on", formula=forall(x, ~on(x)), **CLAIM)
    spec = specification([on], [turn_on], [off])
    system = elaborate(spec, spec.switch_values())
    proof = Induction(system, invariants_of(system, off.id))

    assert two_states(proof, f"turn_on / {off.id}").action == "turn_on(flag=true, x=thing0)"
