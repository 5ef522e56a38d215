"""Which property notices that a module of the specification has been changed, anywhere in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.proofs.explorer.program import Fault
from interlock.proofs.mutation.baseline import Baseline, Broken, TooLarge
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import ActionProperty, Witness, terms_of
from interlock.spec.language.settings import Slice
from interlock.spec.language.specification import Specification

STATES, SECONDS = 60_000, 60.0
"""Slices that are larger as they are, are left out; one that a change makes larger, or slower, says nothing."""


class _Explored(Baseline):
    """A slice explored to its end, or to the first named property that fails; ``automatic`` are ranges and domains."""

    def _went_wrong(self, wrong: Exception) -> None:
        if not isinstance(wrong, Fault):
            return
        if any(p.id == wrong.property_id for p in self.spec.properties):
            raise Broken(wrong.property_id, self.slice.name)
        self.automatic.add(wrong.property_id)

    def _explore(self, most: int, deadline: float) -> None:
        self.automatic: set[str] = set()
        super()._explore(most, deadline)


@dataclass
class _Usual:
    """A slice as it is: what is met there, and how large it is."""

    slice: Slice
    met: frozenset[str]
    size: tuple[int, int]


@dataclass
class Judge:
    """Judges changes of one module in its slices, the small ones first, under the values of the first preset."""

    spec: Specification
    usual: list[_Usual] = field(default_factory=list)

    def __post_init__(self) -> None:
        for s in self.spec.slices:
            try:
                explored = _explored(self.spec, s)
            except TooLarge:
                continue
            self.usual.append(_Usual(s, _met(explored), _size(explored)))
        self.usual.sort(key=lambda u: u.size)

    def noticed(self, changed: Specification) -> str | None:
        """What notices, and where; ``None`` if nothing does. A change that leaves everything as it was is noticed so.

        Returns:
            ``PROPERTY in SLICE`` (violated), ``PROPERTY unmet in SLICE`` (a witness, a premise, or an action that a
            property is about); else the id of a range or domain that is left, which no named property is about; or
            ``equivalent``: each slice has as many states and transitions, and says the same.
        """
        equivalent = True
        automatic: set[str] = set()
        for u in self.usual:
            before, after = _meaning(self.spec, u.slice), _meaning(changed, u.slice)
            if before == after:
                continue
            try:
                explored = _explored(changed, u.slice)
                lost = u.met - _met(explored)
            except Broken as broken:
                return f"{broken.property_id} in {u.slice.name}"
            except TooLarge:
                equivalent = False
                continue
            if lost:
                return f"{min(lost)} unmet in {u.slice.name}"
            automatic |= explored.automatic
            equivalent &= _size(explored) == u.size and before[1] == after[1]
        if automatic:
            return min(automatic)
        return "equivalent" if equivalent else None


def _explored(spec: Specification, s: Slice) -> _Explored:
    return _Explored(spec, dict(spec.presets[0].values), s, states=STATES, seconds=SECONDS)


def _size(explored: Baseline) -> tuple[int, int]:
    return len(explored.states), len(explored.edges)


def _met(explored: Baseline) -> frozenset[str]:
    """What says that a slice is not empty: witnesses and premises reached, properties of steps that are taken."""
    taken = {a for a in explored.actions if explored.sources(a)}
    steps = {p.id for p in explored.system.properties if isinstance(p, ActionProperty) and taken & set(p.actions)}
    return frozenset(explored.reached | set(explored.met_by_steps) | steps | {p.id for p in explored.leads_to()})


def _meaning(spec: Specification, s: Slice) -> tuple[object, object]:
    """What a slice comes to under the values of the first preset: what happens, and what is said of it."""
    system = elaborate(spec, dict(spec.presets[0].values), s)
    steps = {
        step.name: (tuple(c.term for c in step.guard), frozenset(step.updates), step.action.fairness)
        for step in system.steps
    }
    # A witness that is still met says no less, and those of rows are made from guards.
    asked = (p for p in system.properties if not isinstance(p, Witness))
    said = {p.id: (terms_of(p), getattr(p, "actions", ())) for p in asked}
    return (steps, system.variables), said
