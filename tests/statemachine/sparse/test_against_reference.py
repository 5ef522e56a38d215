"""The sparse interpreter and the plain reading agree on every state of random walks."""

from __future__ import annotations

import random

import pytest
from support import reference

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.properties import Invariant
from interlock.spec.modules import simple
from interlock.statemachine.sparse import Checker, Interpreter, Program, StepFault, World, without_policy

SCOPE = {"request": 2, "block": 2, "chunk": 2, "job": 2, "worker": 2, "hash": 2}


def world_of(system, scope) -> World:
    world = World(Program(system), scope)
    for sort, size in scope.items():
        for i in range(size):
            world.know(sort, f"{sort}{i}")
    return world


class Both:
    """The same state twice: in the plain reading and in the sparse world."""

    def __init__(self, system, scope) -> None:
        self.system = system
        self.ref = reference.Reference(system, scope)
        self.world = world_of(system, scope)
        self.interpreter = Interpreter(self.world)
        self.checker = Checker(self.world, system.properties)
        self.invariants = [p for p in system.properties if isinstance(p, Invariant)]
        self.false = self.read_invariants()[0]

    def cells(self) -> dict:
        return {(n, k): v for n, k, v in self.world.cells()}

    def read_invariants(self) -> tuple[set[str], set[str]]:
        false, undefined = set(), set()
        for p in self.invariants:
            try:
                if not self.ref.holds(p.formula):
                    false.add(p.id)
            except reference.Undefined:
                undefined.add(p.id)
        return false, undefined

    def choices(self) -> list:
        """All enabled instances, which both must agree on."""
        found = []
        for step in self.system.steps:
            try:
                expected = sorted(self.ref.enabled(step))
            except reference.Undefined:
                with pytest.raises(StepFault, match="not defined"):
                    self.interpreter.instances(step)
                continue

            assert sorted(self.interpreter.instances(step)) == expected, step.name
            found += [(step, a) for a in expected]
        return found

    def fire(self, step, arguments) -> bool:
        """Take a step in both; ``False`` if it is a fault in both."""
        assert self.interpreter.false_conjunct(step, arguments) == -1
        try:
            self.ref.fire(step, arguments)
        except (reference.OutOfRange, reference.Undefined):
            with pytest.raises(StepFault, match=r"would become|not defined"):
                self.interpreter.fire(step, arguments)
            return False
        mark, old = self.world.mark(), self.cells()
        writes = self.interpreter.writes(step, arguments)
        around = self.checker.before(step, arguments, writes)
        self.world.apply(writes)
        broken = self.checker.after(around)
        assert self.cells() == self.ref.cells(), (step.name, arguments)
        self.back_and_forth(mark, old)
        self.compare_findings({b.property for b in broken}, (step.name, arguments))
        return True

    def back_and_forth(self, mark, old) -> None:
        delta = self.world.since(mark)
        self.world.undo(mark)
        assert self.cells() == old
        self.world.put(delta)
        assert self.cells() == self.ref.cells()

    def compare_findings(self, broken: set[str], what) -> None:
        false, undefined = self.read_invariants()
        reported = broken & {p.id for p in self.invariants}

        assert {b.property for b in self.checker.everywhere()} - undefined == false, what
        assert reported - undefined <= false, what
        assert false - self.false - undefined <= reported, what

        self.false = false


def walk(system, scope, seed, steps):
    """Walk at random in both; compare enabled actions, states and invariants at each step."""
    rng = random.Random(seed)
    both = Both(system, scope)
    assert not both.false
    for _ in range(steps):
        choices = both.choices()
        if not choices:
            return
        name = rng.choice(sorted({s.name for s, _ in choices}))
        step, arguments = rng.choice([c for c in choices if c[0].name == name])
        if not both.fire(step, arguments):
            return
        yield step


def all_systems():
    base = SPECIFICATION.switch_values()
    for switch in SPECIFICATION.switches:
        for value in switch.values:
            yield pytest.param({**base, switch.name: value}, id=f"{switch.name}={value}")


QUICK = [pytest.param(m, s, id=s.name) for m in simple() if m is not SPECIFICATION for s in m.slices if s.quick]


@pytest.mark.parametrize(("spec", "slice_"), QUICK)
def test_random_walks_of_every_module(spec, slice_):
    """Every module says things in its own way; the sparse reading must not depend on that of one."""
    system = elaborate(spec, spec.switch_values(), slice_)

    taken = [s.name for seed in range(2) for s in walk(system, slice_.scope, seed, 40)]

    assert len(set(taken)) > 3


@pytest.mark.parametrize("switches", list(all_systems()))
@pytest.mark.parametrize("judge", [False, True])
def test_random_walks_of_the_whole(switches, judge):
    system = elaborate(SPECIFICATION, switches, WHOLE)
    if judge:
        system = without_policy(system)

    taken = [s.name for seed in range(2) for s in walk(system, SCOPE, seed, 60)]

    assert len(set(taken)) > 8
