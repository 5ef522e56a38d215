"""The sparse interpreter and the plain reading agree on every state of random walks."""

from __future__ import annotations

import random

import pytest
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.properties import BoundaryClause, Invariant
from interlock.statemachine.sparse import Checker, Interpreter, Program, World, without_policy

from support import reference

SCOPE = {"request": 2, "block": 2, "chunk": 2, "job": 2, "worker": 2, "hash": 2}


def world_of(system, scope) -> World:
    world = World(Program(system), scope)
    for sort, size in scope.items():
        for i in range(size):
            world.know(sort, f"{sort}{i}")
    return world


def walk(system, scope, seed, steps):
    """Walk at random in both; compare enabled actions, states and invariants at each step."""
    rng = random.Random(seed)
    ref = reference.Reference(system, scope)
    world = world_of(system, scope)
    interpreter = Interpreter(world)
    checker = Checker(world, system.properties)
    invariants = [p for p in system.properties if isinstance(p, Invariant)]
    false = {p.id for p in invariants if not ref.holds(p.formula)}
    assert not false
    for _ in range(steps):
        choices = []
        for step in system.steps:
            try:
                expected = sorted(ref.enabled(step))
            except reference.Undefined:
                with pytest.raises(Exception, match="not defined"):
                    interpreter.instances(step)
                continue

            assert sorted(interpreter.instances(step)) == expected, step.name
            choices += [(step, a) for a in expected]
        if not choices:
            return
        names = sorted({s.name for s, _ in choices})
        name = rng.choice(names)
        step, arguments = rng.choice([c for c in choices if c[0].name == name])
        assert interpreter.false_conjunct(step, arguments) == -1
        mark = world.mark()
        cells = {(n, k): v for n, k, v in world.cells()}
        try:
            ref.fire(step, arguments)
        except (reference.OutOfRange, reference.Undefined):
            with pytest.raises(Exception, match=r"would become|not defined"):
                interpreter.fire(step, arguments)
            return
        writes = interpreter.writes(step, arguments)
        around = checker.before(step, arguments, writes)
        world.apply(writes)
        broken = checker.after(around)

        assert {(n, k): v for n, k, v in world.cells()} == ref.cells(), (step.name, arguments)

        delta = world.since(mark)
        world.undo(mark)
        assert {(n, k): v for n, k, v in world.cells()} == cells
        world.put(delta)
        assert {(n, k): v for n, k, v in world.cells()} == ref.cells()

        now_false = set()
        undefined = set()
        for p in invariants:
            try:
                if not ref.holds(p.formula):
                    now_false.add(p.id)
            except reference.Undefined:
                undefined.add(p.id)
        ids = {p.id for p in invariants}
        everywhere = {b.property for b in checker.everywhere()}
        assert everywhere - undefined == now_false, (step.name, arguments)
        reported = {b.property for b in broken} & ids
        assert reported - undefined <= now_false
        assert now_false - false - undefined <= reported, (step.name, arguments)
        false = now_false
        yield step, arguments, broken


def all_systems():
    base = SPECIFICATION.switch_values()
    for switch in SPECIFICATION.switches:
        for value in switch.values:
            yield pytest.param({**base, switch.name: value}, id=f"{switch.name}={value}")


@pytest.mark.parametrize("switches", list(all_systems()))
@pytest.mark.parametrize("judge", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_random_walk_of_the_whole(switches, judge, seed):
    system = elaborate(SPECIFICATION, switches, WHOLE)
    if judge:
        system = without_policy(system)

    taken = [s.name for s, _, _ in walk(system, SCOPE, seed, 60)]

    assert len(set(taken)) > 8
