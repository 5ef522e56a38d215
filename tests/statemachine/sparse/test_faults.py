"""What no step may do is a violation that names the variable, and never a clamp."""

from __future__ import annotations

from dataclasses import replace

import pytest

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import elaborate
from interlock.statemachine.sparse import (
    Interpreter,
    OutOfRangeError,
    OutsideDomainError,
    Program,
    UndefinedError,
    World,
)

SYSTEM = elaborate(SPECIFICATION, SPECIFICATION.switch_values())


def planned(system) -> Interpreter:
    interpreter = Interpreter(World(Program(system), {"worker": 1}))
    interpreter.world.know("worker", "worker0")
    for name, arguments in (
        ("add_request", ("A",)),
        ("allocate", ("A", "7")),
        ("publish", ("A", "7", "h")),
        ("plan_store", ("A", "7", "c", "j")),
        ("build_connector_meta", ()),
        ("run_step", ("worker0",)),
        ("copy_store", ("worker0", "j")),
        ("report", ("worker0", "j")),
    ):
        step = interpreter.steps[name]
        interpreter.know(step, arguments)
        assert interpreter.false_conjunct(step, arguments) == -1, name
        interpreter.fire(step, arguments)
    return interpreter


def mutated(action: str, symbol: str, value) -> object:
    """The system with another value in one update."""

    def change(step):
        if step.name != action:
            return step
        updates = tuple(u.model_copy(update={"value": value(u)}) if u.symbol == symbol else u for u in step.updates)
        return replace(step, updates=updates)

    return replace(SYSTEM, steps=tuple(change(s) for s in SYSTEM.steps))


def test_subtracting_twice_is_a_range_violation():
    system = mutated("acknowledge", "pending_count", lambda u: u.value - 1)
    interpreter = planned(system)

    with pytest.raises(OutOfRangeError, match=r"pending_count\(j\) would become -1, below 0") as caught:
        interpreter.fire(interpreter.steps["acknowledge"], ("j",))

    assert caught.value.rule == "range-of-pending-count"


def test_counting_beyond_the_declared_bound_is_a_range_violation():
    system = mutated("plan_store", "pending_count", lambda u: u.value + 1)

    with pytest.raises(OutOfRangeError, match=r"would become 2, above 1"):
        planned(system)


def test_applying_a_partial_function_outside_its_domain_names_it():
    interpreter = planned(SYSTEM)
    reads = T.Apply(symbol="job_block", args=(T.Var(name="x", sort="job"),))
    compiled = interpreter.program.term("reads_job_block", (T.Var(name="x", sort="job"),), reads)
    run = interpreter.world.bind(compiled)

    assert run("j") == "7"
    with pytest.raises(UndefinedError, match=r"job_block\(other\) is applied where it is not defined") as caught:
        run("other")
    assert caught.value.rule == "domain-of-job-block"


def test_a_partial_function_loses_its_value_with_its_domain():
    interpreter = planned(SYSTEM)
    world = interpreter.world
    mark = world.mark()

    world.apply([(world.live["job_state"], "j", "completed")])

    assert repr(world.read("job_block", "j")) == "undefined"
    world.undo(mark)
    assert world.read("job_block", "j") == "7"


@pytest.mark.parametrize(("name", "ended"), [("job_block", "completed"), ("job_chunk", "absent")])
def test_a_value_given_outside_the_domain_is_a_violation_and_changes_nothing(name, ended):
    world = planned(SYSTEM).world
    before = dict.fromkeys(world.cells())

    with pytest.raises(OutsideDomainError, match=rf"{name}\(j\) is given a value where it is not defined") as caught:
        world.apply([(world.live["job_state"], "j", ended), (world.live[name], "j", "7")])

    assert caught.value.rule == f"domain-of-{name.replace('_', '-')}"
    assert dict.fromkeys(world.cells()) == before


def test_a_value_given_where_the_step_makes_room_stays():
    world = planned(SYSTEM).world

    world.apply([(world.live["job_block"], "other", "8"), (world.live["job_state"], "other", "planned")])

    assert world.read("job_block", "other") == "8"
