"""Specifications of a few lines, for tests of what the language and the engines do with each construct."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interlock.proofs.explorer.result import Exploration
from interlock.proofs.explorer.search import Limits, explore
from interlock.spec.language.actions import Action, Conjunct, Fairness, Update, assign
from interlock.spec.language.build import build
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Property
from interlock.spec.language.settings import Preset, Slice
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System
from interlock.spec.language.terms import Term, Var
from interlock.spec.language.variables import Site, StateVar, counter, function, relation

HERE = Site.ENVIRONMENT
THING = Sort(name="thing", doc="a thing")
x, y = THING.var("x"), THING.var("y")

on = relation("on", x, site=HERE, doc="x is on")
at = function("at", x, result=THING, site=HERE, domain=on(x), doc="where x is, while it is on")
count = counter("count", site=HERE, doc="a number", high=300)

LIMITS = Limits()

CLAIM: dict[str, Any] = {"source": "test", "doc": "test", "slices": ("all",)}
"""What every property needs besides its formula."""


def act(name: str, *guard: Term, do: Iterable[Update] = (), params: tuple[Var, ...] = (), fair: bool = False) -> Action:
    """An action at the one site that there is."""
    return Action(
        name=name,
        event=name,
        params=params,
        site=HERE,
        guard=tuple(Conjunct(id=f"g{i}", term=g) for i, g in enumerate(guard)),
        updates=tuple(do),
        fairness=Fairness.WEAK if fair else Fairness.NONE,
        fairness_why="a test" if fair else "",
        source="test",
        doc="test",
    )


TURN_ON = act("turn_on", ~on(x), do=(assign(on(x), True), assign(at(x), x)), params=(x,))
TURN_OFF = act("turn_off", on(x), do=(assign(on(x), False),), params=(x,))


def specification(
    variables: Iterable[StateVar],
    actions: Iterable[Action],
    properties: Iterable[Property] = (),
    enums: Iterable[Enumeration] = (),
    slices: Iterable[Slice] = (),
    size: int = 2,
) -> Specification:
    """A specification that the builder has accepted, with the slice ``all``."""
    return build(
        Specification(
            name="small",
            sorts=(THING,),
            enums=tuple(enums),
            switches=(),
            presets=(Preset(name="interlock", values={}, doc="test"),),
            variables=tuple(variables),
            channels=(),
            lifecycles=(),
            actions=tuple(actions),
            properties=tuple(properties),
            slices=(Slice(name="all", scope={"thing": size}, doc="test"), *slices),
        )
    )


def system(spec: Specification, slice_: str = "all") -> System:
    """Its system in a slice."""
    return elaborate(spec, {}, spec.slice(slice_))


def explored(
    variables: Iterable[StateVar], actions: Iterable[Action], *properties: Property, limits: Limits = LIMITS
) -> Exploration:
    """Everything that can happen, with the verdicts."""
    return explore(system(specification(variables, actions, properties)), limits=limits)
