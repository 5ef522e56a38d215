"""Whatever a specification says, what is compiled of it does: random guards and updates, however variables are kept."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from support import reference
from support.saying import SIZE, at, on, said, x
from support.small import act, specification, system

from interlock.spec.language.variables import StateVar
from interlock.statemachine.decisions.program import Wanted
from interlock.statemachine.errors import CompileError, GuardViolation, RangeViolation, UndefinedApplication
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.ledger.containers import IndexedRelation

LAYOUTS = {
    "dictionaries": Wanted(once=()),
    "records": Wanted(once=("thing",)),
    "columns": Wanted(once=(), bounded=("thing",)),
    "looked up": Wanted(once=(), lookups=(("link", (0,)), ("link", (1,)), ("kind", ()), ("at", ()))),
    "records looked up": Wanted(once=("thing",), lookups=(("link", (0,)), ("link", (1,)), ("kind", ()), ("at", ()))),
    "columns looked up": Wanted(once=(), bounded=("thing",), lookups=(("link", (1,)), ("kind", ()), ("near", ()))),
}

FOUND = (12, 18, 23, 25, 29, 35)
"""Seeds that have found faults of the compiler: a partial function read before what shields it; elements that nobody has
named left out of those with the first value; what was never looked up by that value taken out of there."""


def number(name: object) -> object:
    """An element as the ledger names it."""
    return int(name.removeprefix("thing")) if isinstance(name, str) and name.startswith("thing") else name


class Both:
    """One state in the plain reading and in a ledger."""

    def __init__(self, seed: int, wanted: Wanted) -> None:
        spec = said(seed, loose_at_first=False)
        self.system = system(spec)
        self.plain = reference.Reference(self.system, {"thing": SIZE})
        self.ledger = Ledger(spec, {}, sizes={"thing": SIZE}, wanted=wanted)
        self.kept = [v for v in spec.variables if v.name in self.ledger._variables]

    def instances(self) -> list:
        """Every action with all arguments, and whether it may happen; left out where that is not defined."""
        found = []
        for step in self.system.steps:
            for env in self.plain.assignments(step.params, {}):
                try:
                    allowed = all(self.plain.value(c.term, env, self.plain.state) for c in step.guard)
                except reference.Undefined:
                    continue
                found.append((step, tuple(env.values()), allowed))
        return found

    def fire(self, step, arguments, *, allowed: bool) -> str:
        """Whether the step is taken, refused, or ends beyond a range, which both agree on."""
        ours = tuple(map(number, arguments))
        before = self.content()
        if not allowed:
            with pytest.raises(GuardViolation, match=f"^{step.name}"):
                self.ledger.do(step.name, *ours)
            assert self.content() == before
            return "refused"
        state = self.plain.state
        try:
            self.plain.fire(step, arguments)
        except reference.Undefined:
            self.plain.state = state
            return "undefined"
        except reference.OutOfRange:
            with pytest.raises(RangeViolation):
                self.ledger.do(step.name, *ours)
            assert self.content() == before
            return "beyond"
        self.ledger.do(step.name, *ours)
        assert self.content() == self.expected(), (step.name, arguments)
        return "taken"

    def expected(self) -> dict:
        """All values, by variable and arguments; of a partial function those in its domain."""
        return {
            (v.name, tuple(map(number, key))): number(value)
            for v in self.kept
            for key, value in self.plain.state[v.name].items()
            if value is not None
        }

    def content(self) -> dict:
        """The same as the ledger has it; what things are looked up by says the same."""
        found = {}
        for v in self.kept:
            held = self.ledger._variables[v.name]
            for key in itertools.product(range(SIZE), repeat=len(v.args)):
                at = key[0] if len(key) == 1 else key
                if v.result == "bool":
                    found[v.name, key] = at in held
                elif self.plain.state[v.name][tuple(f"thing{k}" for k in key)] is not None or v.domain is None:
                    found[v.name, key] = held.get(at, default(v))
            self.look_ups(v, held)
        return found

    def look_ups(self, v: StateVar, held: object) -> None:
        if isinstance(held, IndexedRelation):
            for index in held.indices:
                assert set(index.tuples()) == set(held), (v.name, index.known)
        elif v.result != "bool" and held.inverse is not None:
            by_value = {(key, value) for value, keys in held.inverse.items() for key in keys}
            assert {(k, x) for k, x in by_value if x != default(v)} == {
                (k, x) for k, x in held.items() if x not in (None, default(v))
            }, v.name


def default(v: StateVar) -> object:
    """Of a function: what it is where nothing was assigned."""
    return None if v.init is None else getattr(v.init, "name", getattr(v.init, "value", None))


def test_a_relation_that_is_true_at_first_is_refused_and_not_run_as_one_that_is_false():
    with pytest.raises(CompileError, match=r"loose is true at first; .*: declare its negation$"):
        Ledger(said(0), {}, sizes={"thing": SIZE})


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_function_that_is_not_defined_somewhere_is_named_with_its_arguments(layout):
    peek = act("peek", at(x).eq(x), params=(x,)).model_copy(update={"site": on.site})
    ledger = Ledger(
        specification((on, at), (peek,)), {}, sizes={"thing": SIZE}, wanted=replace(LAYOUTS[layout], lookups=())
    )

    with pytest.raises(UndefinedApplication, match=r"^at\(1\) is not defined now$"):
        ledger.do("peek", 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seeds", [range(6), FOUND], ids=["first", "found"])
def test_what_is_compiled_of_a_random_specification_does_what_it_says(layout, seeds):
    became = set()
    for seed in seeds:
        rng, both = random.Random(seed), Both(seed, LAYOUTS[layout])
        for _ in range(40):
            step, arguments, allowed = rng.choice(both.instances())
            became.add(both.fire(step, arguments, allowed=allowed))

    assert became >= {"taken", "refused"}
