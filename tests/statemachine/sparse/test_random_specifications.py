"""Whatever a specification says, the sparse reading of it and the plain one agree: random guards, updates and invariants."""

from __future__ import annotations

import random

import pytest
from support import reference
from support.saying import SIZE, said
from support.small import system

from interlock.statemachine.sparse import Checker, Interpreter, Program, StepFault, World


class Both:
    """One state in the plain and in the sparse reading."""

    def __init__(self, of) -> None:
        self.system = of
        self.plain = reference.Reference(of, {"thing": SIZE})
        self.world = World(Program(of), {"thing": SIZE})
        for thing in self.plain.elements("thing"):
            self.world.know("thing", thing)
        self.sparse = Interpreter(self.world)
        self.checker = Checker(self.world, of.properties)
        self.known = set().union(*self.invariants())
        """Invariants that are false or not defined: what is said of them once is not said again."""

    def invariants(self) -> tuple[set[str], set[str]]:
        """Those that are false, and those that are not defined."""
        false, undefined = set(), set()
        for p in self.system.properties:
            try:
                if not self.plain.holds(p.formula):
                    false.add(p.id)
            except reference.Undefined:
                undefined.add(p.id)
        return false, undefined

    def cells(self) -> dict:
        return {(name, key): value for name, key, value in self.world.cells()}

    def enabled(self) -> list:
        """What can happen, which both agree on."""
        found = []
        for step in self.system.steps:
            try:
                expected = sorted(self.plain.enabled(step))
            except reference.Undefined:
                continue  # one of them may find that out before the other
            assert sorted(self.sparse.instances(step)) == expected, step.name
            found += [(step, arguments) for arguments in expected]
        return found

    def refused(self, rng: random.Random) -> None:
        """Of each action one instance, with the first conjunct that is false."""
        for step in self.system.steps:
            arguments = tuple(rng.choice(self.plain.elements(p.sort)) for p in step.params)
            env = {p.name: a for p, a in zip(step.params, arguments, strict=True)}
            try:
                values = [self.plain.value(c.term, env, self.plain.state) for c in step.guard]
            except reference.Undefined:
                continue
            assert self.sparse.false_conjunct(step, arguments) == (values.index(False) if False in values else -1)
            assert self.sparse.false_conjuncts(step, arguments) == [i for i, v in enumerate(values) if not v]

    def fire(self, step, arguments) -> bool:
        """Whether the step is one; both agree on what it does, and on what is false then."""
        before, mark = self.cells(), self.world.mark()
        try:
            self.plain.fire(step, arguments)
        except (reference.OutOfRange, reference.Undefined):
            with pytest.raises(StepFault):
                self.sparse.fire(step, arguments)
            assert self.cells() == before
            return False
        writes = self.sparse.writes(step, arguments)
        around = self.checker.before(step, arguments, writes)
        self.world.apply(writes)
        broken = {b.property for b in self.checker.after(around)}
        assert self.cells() == self.plain.cells(), (step.name, arguments)
        after = self.world.since(mark)
        self.world.undo(mark)
        assert self.cells() == before
        self.world.put(after)
        false, undefined = self.invariants()
        assert {b.property for b in self.checker.everywhere()} - undefined == false
        assert broken - undefined <= false
        assert false - self.known <= broken
        self.known = false | undefined
        return True


@pytest.mark.parametrize("seed", range(20))
def test_both_readings_of_a_random_specification_agree(seed):
    rng, both, fired = random.Random(seed), Both(system(said(seed))), set()
    for _ in range(25):
        both.refused(rng)
        choices = both.enabled()
        step, arguments = rng.choice(choices)
        if both.fire(step, arguments):
            fired.add(step.name)

    assert len(fired) > 2
