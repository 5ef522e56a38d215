"""The formulas are the explorer's machine, and a formula of another machine is found out."""

import pytest
from support.mutants import subtract_twice, with_action, without_conjunct, without_update

from interlock.proofs.smt.agreement import check_agreement
from interlock.proofs.smt.conditions import agreement_condition
from interlock.proofs.smt.induction import invariants_of
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System

SIZES = {s.name: 2 for s in SPECIFICATION.sorts}


def at_two(spec: Specification = SPECIFICATION, **switches: str) -> System:
    return elaborate(spec, spec.switch_values("interlock", switches), WHOLE, SIZES)


SYSTEM = at_two()
INVARIANTS = invariants_of(SYSTEM, "no-block-stored-twice-in-flight")


@pytest.mark.slow
def test_ten_thousand_states() -> None:
    found = check_agreement(SYSTEM, INVARIANTS)

    assert found.difference is None
    assert (found.states, found.reachable, found.rare) == (10_000, 5_000, [])
    assert found.violations["range"] > 100
    assert found.axioms > 1_000
    assert found.spot_checks > 30
    assert agreement_condition(found).status == "holds"


def test_too_few_states_say_nothing() -> None:
    found = check_agreement(SYSTEM, INVARIANTS, states=60)

    assert found.difference is None
    assert agreement_condition(found).status == "unknown"


@pytest.mark.parametrize(
    ("action", "change", "difference"),
    [
        ("acknowledge", subtract_twice, "different successors"),
        ("plan_store", without_conjunct("not-in-flight"), "enabled for the formulas only"),
        ("allocate", without_update("fresh"), "different successors"),
        ("publish", without_update("block_hash"), "domain"),
    ],
)
def test_another_machine_is_found_out(action: str, change, difference: str) -> None:
    found = check_agreement(SYSTEM, INVARIANTS, states=2_000, encoded=at_two(with_action(action, change)))

    assert found.difference is not None
    assert found.difference.startswith(f"{action}(")
    assert difference in found.difference
    assert agreement_condition(found).status == "fails"
