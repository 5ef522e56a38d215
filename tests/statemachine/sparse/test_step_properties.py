"""What the sparse checker says of a step is what the explorer says: each property on its own, and only where defined."""

from __future__ import annotations

import pytest
from support.small import CLAIM, HERE, THING, TURN_OFF, TURN_ON, act, at, explored, on, specification, system, x, y

from interlock.spec.language.actions import assign, assign_all
from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.terms import FALSE, Add, Int, Primed, Sub, Term, card, exists, forall
from interlock.spec.language.variables import counter, function, relation
from interlock.spec.shared.frames import unchanged
from interlock.statemachine.sparse import Broken, Checker, Interpreter, Program, UndefinedError, World
from interlock.statemachine.sparse.world import Write

z = THING.var("z")


def said(**formulas: Term) -> tuple[set[str], set[str]]:
    """What is broken when one thing is turned on and off again: as the explorer has it, and as the checker has it."""
    properties = stated(formulas)
    found = explored((on, at), (TURN_ON, TURN_OFF), *properties)
    return {i for i, v in found.verdicts.items() if v == "violated"}, set(said_in_order(**formulas))


def stated(formulas: dict[str, Term]) -> list[ActionProperty]:
    """Of every step by ``turn_off``."""
    return [ActionProperty(id=i, actions=("turn_off",), formula=f, **CLAIM) for i, f in formulas.items()]


def said_in_order(**formulas: Term) -> list[str]:
    """What the checker says is broken."""
    made = system(specification((on, at), (TURN_ON, TURN_OFF), stated(formulas)))
    world = World(Program(made), {"thing": 2})
    for i in range(2):
        world.know("thing", f"thing{i}")
    interpreter, checker = Interpreter(world), Checker(world, made.properties)
    steps = {s.name: s for s in made.steps}
    interpreter.fire(steps["turn_on"], ("thing0",))
    writes = interpreter.writes(steps["turn_off"], ("thing0",))
    around = checker.before(steps["turn_off"], ("thing0",), writes)
    return [b.property for b in around.broken]


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


def test_of_many_only_those_that_a_condition_means_are_looked_at_if_nothing_before_it_is_undefined() -> None:
    shielded = forall(y, (~on(y) & Primed(body=on(y)) & Primed(body=at(y)).eq(y)) >> FALSE)
    early = forall(y, (Primed(body=at(y)).eq(y) & Primed(body=on(y))) >> on(y))

    assert said(shielded=shielded, early=early) == ({"early"}, {"early"})


def test_of_a_frame_only_what_the_step_has_written_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    others = forall(y, y.ne(x) >> unchanged(on(y)))
    all_of_them, itself = forall(y, unchanged(on(y))), forall(y, y.eq(x) >> unchanged(on(y)))
    besides = forall(y, z, y.ne(x) >> unchanged(on(y), on(z)))

    broken = {"all-of-them", "itself", "besides"}
    formulas = {"others": others, "all-of-them": all_of_them, "itself": itself, "besides": besides}
    assert said(**formulas) == (broken, broken)

    monkeypatch.setattr(World, "elements", lambda *_: pytest.fail("every element was looked at"))
    assert said_in_order(others=others, itself=itself) == ["itself"]


def test_a_frame_of_what_is_not_always_defined_is_read_everywhere() -> None:
    undefined = forall(y, y.ne(x) >> unchanged(at(y)))

    assert said(undefined=undefined) == ({"undefined"}, {"undefined"})


def test_the_writes_of_a_step_are_applied_once_for_all_that_is_said_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled and read formulas alike, and they are taken back."""
    applied: list[World] = []
    apply = World.apply

    def count(world: World, writes: list[Write]) -> None:
        applied.append(world)
        apply(world, writes)

    monkeypatch.setattr(World, "apply", count)
    compiled, goes = Primed(body=on(x)), forall(y, on(y) >> Primed(body=on(y)))

    assert said(compiled=compiled, goes=goes, also=~Primed(body=on(x))) == ({"compiled", "goes"}, {"compiled", "goes"})
    assert len(applied) == 2  # turn_on itself, and once what turn_off would write


def test_findings_keep_the_order_of_the_kinds() -> None:
    goes, compiled = forall(y, on(y) >> Primed(body=on(y))), Primed(body=on(x))

    assert said_in_order(goes=goes, compiled=compiled) == ["compiled", "goes"]


@pytest.mark.parametrize(("before", "after", "holds"), [(1, 0, True), (1, 1, False), (0, 0, False)])
def test_what_is_counted_is_counted_in_its_own_state(before: int, after: int, holds: bool) -> None:
    """One thing is on before the step, and none after it."""
    counted = card(z, on(z)).eq(before) & card(z, Primed(body=on(z))).eq(after)

    assert said_in_order(counted=counted) == ([] if holds else ["counted"])


def test_what_an_invariant_says_of_a_thing_that_is_not_defined_is_a_finding_with_its_reason() -> None:
    lit = relation("lit", x, site=HERE, doc="x gives light")
    light = act("light", do=(assign(lit(x), True),), params=(x,))
    claims = [Invariant(id="lit-is-at-itself", formula=forall(x, lit(x) >> at(x).eq(x)), **CLAIM)]
    made = system(specification((on, at, lit), (TURN_ON, light), claims))
    world = World(Program(made), {"thing": 2})
    interpreter, checker = Interpreter(world), Checker(world, made.properties)
    assert not world.elements("thing")
    (thing,) = interpreter.know(interpreter.steps["light"], ("thing0",))
    assert world.elements("thing") == (thing,)
    writes = interpreter.writes(interpreter.steps["light"], (thing,))
    around = checker.before(interpreter.steps["light"], (thing,), writes)
    world.apply(writes)

    assert checker.after(around) == checker.everywhere() == [
        Broken("lit-is-at-itself", (), "at(thing0) is applied where it is not defined")
    ]  # fmt: skip


def test_a_counter_may_start_at_a_number_of_elements() -> None:
    things = THING.size
    free = counter("free", site=HERE, doc="as many as there are, and one more, but for two").model_copy(
        update={"init": Sub(left=Add(left=things, right=Int(value=1)), right=Int(value=2)), "low": Int(value=-1)}
    )
    world = World(Program(system(specification((on, free), ()))), {"thing": 3})

    assert world.read("free", ()) == 2
    assert list(world.cells()) == [("free", (), 2)]
    world.write("free", (), 0)
    assert list(world.cells()) == []


def test_of_a_function_whose_values_outlive_its_domain_only_what_is_defined_counts_as_of_either_state() -> None:
    """That a domain is that of one argument cannot be told from its form where there is a quantifier."""
    held = function("held", x, result=THING, site=HERE, domain=on(x) & exists(y, y.eq(x)), doc="what x holds")
    turn_on = act("turn_on", ~on(x), do=(assign(on(x), True), assign(held(x), x)), params=(x,))
    ends = ActionProperty(id="ends", actions=("turn_off",), formula=Primed(body=held(x)).eq(x), **CLAIM)
    made = system(specification((on, held), (turn_on, TURN_OFF), [ends]))
    world = World(Program(made), {"thing": 2})
    world.know("thing", "thing0")
    interpreter, checker = Interpreter(world), Checker(world, made.properties)
    interpreter.fire(interpreter.steps["turn_on"], ("thing0",))
    assert set(world.cells()) == {("on", "thing0", True), ("held", "thing0", "thing0")}

    writes = interpreter.writes(interpreter.steps["turn_off"], ("thing0",))
    around = checker.before(interpreter.steps["turn_off"], ("thing0",), writes)
    world.apply(writes)

    assert explored((on, held), (turn_on, TURN_OFF), ends).verdicts["ends"] == "violated"
    assert [b.property for b in around.broken] == ["ends"]
    assert list(world.cells()) == []
    reads = world.bind(world.program.term("reads_held", (x,), held(x)))
    with pytest.raises(UndefinedError, match=r"held\(thing0\) is applied where it is not defined"):
        reads("thing0")
    world.write("on", "thing0", True)
    assert reads("thing0") == "thing0"


def test_what_was_not_defined_is_given_to_many_at_once() -> None:
    all_on = act("all_on", do=(assign_all(y, to=on(y), value=True), assign_all(y, to=at(y), value=x)), params=(x,))
    interpreter = Interpreter(World(Program(system(specification((on, at), (all_on,)))), {"thing": 2}))
    for i in range(2):
        interpreter.world.know("thing", f"thing{i}")
    interpreter.fire(interpreter.steps["all_on"], ("thing0",))

    assert [interpreter.world.read("at", f"thing{i}") for i in range(2)] == ["thing0", "thing0"]


@pytest.mark.parametrize("links", [True, False])
def test_two_formulas_that_are_to_be_equal_are_parted_by_what_begins_and_by_what_ends(links: bool) -> None:
    link = relation("link", x, y, site=HERE, doc="x leads to y")
    change = act("change", do=(assign(link(x, y), links),), params=(x, y))
    claim = Invariant(id="leads-if-on", formula=forall(x, on(x).eq(exists(y, link(x, y)))), **CLAIM)
    made = system(specification((on, link), (change,), [claim]))
    world = World(Program(made), {"thing": 2})
    for i in range(2):
        world.know("thing", f"thing{i}")
    if not links:
        world.write("on", "thing0", True)
        world.write("link", ("thing0", "thing1"), True)
    interpreter, checker = Interpreter(world), Checker(world, made.properties)
    assert checker.everywhere() == []
    writes = interpreter.writes(interpreter.steps["change"], ("thing0", "thing1"))
    around = checker.before(interpreter.steps["change"], ("thing0", "thing1"), writes)
    world.apply(writes)

    assert [b.property for b in checker.after(around)] == ["leads-if-on"]
