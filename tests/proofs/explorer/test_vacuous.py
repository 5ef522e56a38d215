"""A property about nothing that happens in a slice is vacuous there, not true."""

from __future__ import annotations

from support.small import CLAIM, HERE, TURN_OFF, TURN_ON, act, at, explored, on, specification, system, x

from interlock.proofs.explorer.search import explore
from interlock.spec.language.properties import ActionProperty, BoundaryClause, LeadsTo, Witness
from interlock.spec.language.settings import Slice
from interlock.spec.language.terms import FALSE, exists
from interlock.spec.language.variables import relation

broken = relation("broken", x, site=HERE, doc="never true")
REPAIR = act("repair", broken(x), params=(x,))


def test_a_property_of_steps_that_are_never_taken_is_vacuous() -> None:
    found = explored(
        (on, at, broken),
        (TURN_ON, TURN_OFF, REPAIR),
        ActionProperty(id="of-repairs", actions=("repair",), formula=FALSE, **CLAIM),
        ActionProperty(id="of-some", actions=("repair", "turn_on"), formula=~on(x), **CLAIM),
        BoundaryClause(id="at-repairs", action="repair", formula=FALSE, **CLAIM),
        BoundaryClause(id="at-some", action="turn_on", formula=~on(x), **CLAIM),
    )

    assert found.verdicts == {
        "of-repairs": "vacuous",
        "of-some": "holds",
        "at-repairs": "vacuous",
        "at-some": "holds",
    }


def test_a_leads_to_whose_premise_is_met_in_another_slice_only_is_vacuous() -> None:
    spec = specification(
        (on, at),
        (TURN_ON.model_copy(update={"fairness": "none"}), TURN_OFF),
        (
            Witness(id="some-on", formula=exists(x, on(x)), **CLAIM),
            LeadsTo(
                id="goes-off",
                source="test",
                doc="test",
                slices=("all", "dark"),
                vars=(x,),
                premise=on(x),
                conclusion=~on(x),
            ),
        ),
        slices=(Slice(name="dark", remove=("turn_on",), scope={"thing": 2}, doc="nothing turns on"),),
    )

    assert explore(system(spec, "dark")).verdicts == {"goes-off": "vacuous"}
    assert explore(system(spec)).verdicts == {"some-on": "holds", "goes-off": "violated"}
