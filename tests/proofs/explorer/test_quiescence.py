"""Where no fair action can change anything, the system may stand still for ever, and must owe nothing."""

from __future__ import annotations

import pytest
from support.small import CLAIM, TURN_OFF, TURN_ON, act, at, explored, on, specification, system, x, y

from interlock.proofs.choice import explore_with
from interlock.proofs.explorer.search import Limits
from interlock.spec.language.actions import Action, Fairness
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.terms import FALSE, exists, forall

ALL_OFF = Quiescence(id="rests-dark", formula=forall(x, ~on(x)), **CLAIM)
FAIR_OFF = TURN_OFF.model_copy(update={"fairness": Fairness.WEAK, "fairness_why": "a test"})
FAIR_ON = TURN_ON.model_copy(update={"fairness": Fairness.WEAK, "fairness_why": "a test"})
NEVER_BOTH = act("turn_on", ~exists(y, on(y)), do=TURN_ON.updates, params=(x,))


def test_what_has_to_end_does_not_stand_still() -> None:
    found = explored((on, at), (TURN_ON, FAIR_OFF), ALL_OFF)

    assert found.verdicts == {"rests-dark": "holds"}
    assert (found.states, found.quiescent) == (4, 1)


def test_an_action_that_need_not_happen_leaves_its_debt() -> None:
    found = explored((on, at), (TURN_ON, TURN_OFF), ALL_OFF)
    (counterexample,) = found.counterexamples

    assert found.verdicts == {"rests-dark": "violated"}
    assert (found.quiescent, counterexample.length) == (4, 1)
    assert "which no fair action can change" in counterexample.message


def test_a_deadlock_is_a_state_at_rest() -> None:
    found = explored((on, at), (NEVER_BOTH,), ALL_OFF)

    assert found.verdicts == {"rests-dark": "violated"}
    assert found.counterexamples[0].length == 1


def test_an_engine_that_steps_and_changes_nothing_stands_still() -> None:
    spins = act("spin", fair=True)
    found = explored((on, at), (TURN_ON, TURN_OFF, spins), ALL_OFF)

    assert found.verdicts == {"rests-dark": "violated"}
    assert found.quiescent == 4


def test_where_nothing_ever_rests_a_formula_is_vacuous_and_false_holds() -> None:
    always = Quiescence(id="never-rests", formula=FALSE, **CLAIM)
    found = explored((on, at), (FAIR_ON, FAIR_OFF), ALL_OFF, always)

    assert found.quiescent == 0
    assert found.verdicts == {"rests-dark": "vacuous", "never-rests": "holds"}


@pytest.mark.parametrize(("off", "verdict"), [(FAIR_OFF, "holds"), (TURN_OFF, "violated")])
def test_the_vectorised_explorer_judges_it_alone(off: Action, verdict: str) -> None:
    spec = specification((on, at), (TURN_ON, off), (ALL_OFF,))
    found = explore_with("vectorised", "cpu", system(spec), limits=Limits())

    assert found.engine == "vectorised"
    assert found.verdicts == {"rests-dark": verdict}
    assert found.quiescent == (1 if verdict == "holds" else 4)
