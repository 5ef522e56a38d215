"""What the sparse checker says of a step is what the explorer says: each property on its own, and only where defined."""

from __future__ import annotations

from support.small import CLAIM, TURN_OFF, TURN_ON, at, explored, on, specification, system, x, y

from interlock.spec.language.properties import ActionProperty
from interlock.spec.language.terms import FALSE, Primed, Term, forall
from interlock.statemachine.sparse import Checker, Interpreter, Program, World


def said(**formulas: Term) -> tuple[set[str], set[str]]:
    """What is broken when one thing is turned on and off again: as the explorer has it, and as the checker has it."""
    properties = [ActionProperty(id=i, actions=("turn_off",), formula=f, **CLAIM) for i, f in formulas.items()]
    found = explored((on, at), (TURN_ON, TURN_OFF), *properties)
    made = system(specification((on, at), (TURN_ON, TURN_OFF), properties))
    world = World(Program(made), {"thing": 2})
    for i in range(2):
        world.know("thing", f"thing{i}")
    interpreter, checker = Interpreter(world), Checker(world, made.properties)
    steps = {s.name: s for s in made.steps}
    interpreter.fire(steps["turn_on"], ("thing0",))
    writes = interpreter.writes(steps["turn_off"], ("thing0",))
    around = checker.before(steps["turn_off"], ("thing0",), writes)
    return {i for i, v in found.verdicts.items() if v == "violated"}, {b.property for b in around.broken}


def test_what_a_condition_shields_is_not_evaluated() -> None:
    shielded = Primed(body=on(x)) >> Primed(body=at(x)).eq(x)

    assert said(shielded=shielded) == (set(), set())


def test_one_property_hides_no_other_and_takes_no_blame() -> None:
    undefined = Primed(body=at(x)).eq(x)

    assert said(true=on(x), undefined=undefined, false=FALSE) == ({"undefined", "false"}, {"undefined", "false"})


def test_what_a_quantifier_binds_may_be_primed() -> None:
    goes = forall(y, on(y) >> Primed(body=on(y)))
    stays = forall(y, Primed(body=on(y)) >> on(y))

    assert said(goes=goes, stays=stays) == ({"goes"}, {"goes"})
