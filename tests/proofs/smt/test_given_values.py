"""A step owes that the values it gives to partial functions are given in their domains."""

from __future__ import annotations

from support.small import CLAIM, TURN_OFF, TURN_ON, act, at, on, specification, system, x, y

from interlock.proofs.smt.agreement import check_agreement
from interlock.proofs.smt.induction import Induction
from interlock.proofs.smt.owed import Claim
from interlock.spec.language.actions import Action, assign, assign_all
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Invariant
from interlock.spec.language.terms import TRUE

TRIVIAL = Invariant(id="trivial", formula=TRUE, premise=TRUE, proved=True, **CLAIM)
GIVEN = "domain:given-at"


def answers(*actions: Action) -> dict[str, str]:
    spec = specification((on, at), actions, (TRIVIAL,))
    induction = Induction(elaborate(spec, {}), (Claim("trivial", TRUE),))
    return {a.obligation: a.answer for p in induction.places for a in induction.ask("z3", p, timeout_s=5)}


def test_a_value_in_the_domain_after_the_step_is_proved() -> None:
    said = answers(TURN_ON, TURN_OFF)

    assert said[f"turn_on / {GIVEN}"] == "proved"
    assert f"turn_off / {GIVEN}" not in said


def test_a_value_outside_it_is_refuted() -> None:
    lose = act("lose", ~on(x), do=(assign(at(x), x),), params=(x,))
    everywhere = act("everywhere", do=(assign_all(y, to=at(y), value=y),))
    where_on = act("where_on", do=(assign_all(y, to=at(y), value=y, when=on(y)),))
    off = TURN_OFF.model_copy(update={"updates": (*TURN_OFF.updates, assign(at(x), x))})
    said = answers(TURN_ON, lose, everywhere, where_on, off)

    assert {name for name, answer in said.items() if answer == "failed"} == {
        f"lose / {GIVEN}",
        f"everywhere / {GIVEN}",
        f"turn_off / {GIVEN}",
    }


def test_formulas_and_explorer_agree_on_it() -> None:
    lose = act("lose", ~on(x), do=(assign(at(x), x),), params=(x,))
    spec = specification((on, at), (TURN_ON, TURN_OFF, lose), (TRIVIAL,))
    found = check_agreement(system(spec), (Claim("trivial", TRUE),), states=8)

    assert found.difference is None
    assert found.violations["domain"] > 0
