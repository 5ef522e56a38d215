"""The compiled program does what the specification says, in random behaviours of all of it: updates, rows, and refusals."""

import random

import pytest
from support.walker import Walker

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.variables import Site
from interlock.statemachine.errors import SpecificationViolation
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.offload.asked import wanted
from interlock.statemachine.sparse import StepFault

NAMED = ("request", "hash")
"""Sorts whose elements are names; those of the others are numbers."""
OURS = {v.name: v for v in SPECIFICATION.variables if v.site == Site.SCHEDULER}
SWITCHES = [
    {},
    {"source_hold": "pin"},
    {"store_dedup": "per_step", "store_mode": "lazy"},
    {"store_dedup": "in_flight_by_hash"},
]


def element(sort, name):
    return (
        name
        if sort in NAMED or not isinstance(name, str) or not name.startswith(sort)
        else int(name.removeprefix(sort))
    )


class Both:
    """A walk in the specification, and a ledger that does the scheduler's actions of it."""

    def __init__(self, seed, switches, **how):
        self.walker = Walker(seed, switches=switches)
        sizes = {"worker": self.walker.scope["worker"], "chunk": self.walker.scope["chunk"]}
        self.ledger = Ledger(SPECIFICATION, self.walker.switches, sizes=sizes, **how)
        self.scheduler = [s for s in self.walker.system.steps if s.action.site == Site.SCHEDULER]

    def step(self):
        went_on = self.walker.step()
        if went_on:
            last = self.walker.events[-1]
            step = self.walker.interpreter.steps[last.action]
            if step in self.scheduler:
                self.ledger.do(step.name, *(element(p.sort, last.args[p.name]) for p in step.params))
        return went_on

    def refuse(self, rng):
        """An instance of each of the scheduler's actions is refused unless allowed; messages are not the ledger's."""
        refused = 0
        for step in (s for s in self.scheduler if not s.action.receives):
            arguments = tuple(rng.choice(self.walker.world.elements(p.sort)) for p in step.params)
            try:
                allowed = self.walker.interpreter.false_conjunct(step, arguments) < 0
            except StepFault:
                allowed = False
            if not allowed:
                refused += 1
                with pytest.raises(SpecificationViolation):
                    self.ledger.do(
                        step.name, *(element(p.sort, a) for p, a in zip(step.params, arguments, strict=True))
                    )
        return refused

    def world(self):
        """What is not at its default, by variable."""
        found = {name: {} for name in OURS}
        for name, key, value in self.walker.world.cells():
            if name in OURS:
                keys = key if isinstance(key, tuple) else (key,)
                keys = tuple(element(a.sort, k) for a, k in zip(OURS[name].args, keys, strict=True))
                found[name][keys[0] if len(keys) == 1 else keys] = element(OURS[name].result, value)
        return found

    def agree(self):
        for name, expected in self.world().items():
            if isinstance(next(iter(expected.values()), None), bool):
                assert set(self.ledger.relation(name)) == expected.keys(), name
            elif expected:
                got = self.ledger.function(name)
                assert {k: got.get(k) for k in expected} == expected, name


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@pytest.mark.parametrize("how", [{}, {"wanted": wanted(SPECIFICATION, checking=True)}], ids=["plain", "as-the-machine"])
def test_after_every_action_the_books_say_what_the_specification_says(switches, how):
    rng, refused = random.Random(3), 0
    for seed in (1, 2):
        both = Both(seed, switches, **how)
        for _ in range(120):
            if not both.step():
                break
            refused += both.refuse(rng)
            both.agree()

        assert len(both.walker.events) > 60

    assert refused > 500
