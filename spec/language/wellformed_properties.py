"""What a property may say, and what it needs to say anything."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import applies
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.properties import (
    ActionProperty,
    BoundaryClause,
    Invariant,
    LeadsTo,
    Property,
    Quiescence,
    Witness,
)
from interlock.spec.language.settings import Slice
from interlock.spec.language.sites import observable
from interlock.spec.language.sorts import BOOL
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System
from interlock.spec.language.typecheck import Signature, TypeChecker
from interlock.spec.language.wellformed_names import known


def check_properties(spec: Specification, signature: Signature, systems: Sequence[System]) -> None:
    """Each property is typed, covered, and about something."""
    seen = observable(spec, systems[0].steps)
    for p in spec.properties:
        place = f"property {p.id}"
        of_steps = isinstance(p, ActionProperty) or (isinstance(p, Witness) and bool(p.actions))
        checker = TypeChecker(signature, place, primes=of_steps)
        _check_coverage(spec, p, place)
        TypeChecker(signature, place).require(p.applies, BOOL, frozenset())
        for name, condition in p.applies_in.items():
            known(place, "slice", name, list(p.slices))
            TypeChecker(signature, place).require(condition, BOOL, frozenset())
        for s in systems:
            for name in ("", *p.applies_in):
                applies(p, s.switches, name)
        match p:
            case Invariant():
                checker.require(p.formula, BOOL, frozenset())
                if p.premise is not None:
                    checker.require(p.premise, BOOL, frozenset())
                _check_proof(spec, p, place, systems)
            case Quiescence():
                checker.require(p.formula, BOOL, frozenset())
            case Witness() if not p.actions:
                checker.require(p.formula, BOOL, frozenset())
            case LeadsTo():
                _check_leads_to(spec, checker, p, place)
            case ActionProperty() | Witness():
                for name in _acting(spec, p.actions, p, place):
                    checker.require(p.formula, BOOL, frozenset(spec.action(name).params))
            case BoundaryClause():
                _acting(spec, (p.action,), p, place)
                _check_clause(spec, checker, p, place, seen)


def _check_coverage(spec: Specification, p: Property, place: str) -> None:
    if not p.slices and not (isinstance(p, Invariant) and p.proved):
        raise SpecificationError(place, "no slice and no proof covers it", "name a slice")
    for name in p.slices:
        known(place, "slice", name, [s.name for s in spec.slices])


def _check_proof(spec: Specification, p: Invariant, place: str, systems: Sequence[System]) -> None:
    invariants = {i.id: i for i in spec.properties if isinstance(i, Invariant)}
    others = {o.id for o in spec.properties} - set(invariants)
    for i in (*p.proof, *p.given):
        if i in others:
            raise SpecificationError(place, f"lemma {i} is no invariant", "only invariants hold in every state")
        if i not in invariants:
            raise SpecificationError(place, f"unknown lemma {i}", "declare it as an invariant")
        for s in systems:
            if applies(p, s.switches) and not applies(invariants[i], s.switches):
                values = ", ".join(f"{name}={value}" for name, value in s.switches.items())
                raise SpecificationError(place, f"lemma {i} is not claimed under {values}", "let it apply there too")
    backed = {i for o in invariants.values() if o.proved and not o.given and o is not p for i in (o.id, *o.proof)}
    for i in p.given:
        if i not in backed:
            raise SpecificationError(
                place, f"{i} is given, but no proof has it", "name what another proof, with nothing given, proves"
            )
    for g in p.grounds:
        known(place, "action", g.action, [a.name for a in spec.actions])
        # Rows and messages have become conjuncts too, under names of their own.
        conjuncts = {c.id for system in systems for s in system.steps if s.name == g.action for c in s.guard}
        if g.conjunct not in conjuncts | {c.id for c in spec.action(g.action).guard}:
            raise SpecificationError(
                place, f"{g.action} has no conjunct {g.conjunct}", "name one of its guard's conjuncts"
            )
    if p.proved and p.premise is None:
        raise SpecificationError(place, "is to be proved without a premise", "name what it says something about")
    if not p.proved and (p.proof or p.given or p.grounds):
        raise SpecificationError(place, "has lemmas or grounds but no proof", "set proved=True, or leave them out")


def _check_leads_to(spec: Specification, checker: TypeChecker, p: LeadsTo, place: str) -> None:
    scope = checker.bind(p.vars, frozenset())
    checker.require(p.premise, BOOL, scope)
    checker.require(p.conclusion, BOOL, scope)
    witnessed = [w.formula for w in spec.properties if isinstance(w, Witness) and not w.actions]
    some = T.exists(*p.vars, p.premise) if p.vars else p.premise
    if some not in witnessed:
        raise SpecificationError(place, "its premise may never come true", f"add the witness {some}")


def _acting(spec: Specification, actions: tuple[str, ...], p: Property, place: str) -> tuple[str, ...]:
    """The actions of a property about steps: they exist, and no slice that it names removes them all."""
    if not actions:
        raise SpecificationError(place, "names no action", "it would be about no step: name one")
    for name in actions:
        known(place, "action", name, [a.name for a in spec.actions])
    for sl in _slices_of(spec, p):
        if set(actions) <= set(sl.remove):
            raise SpecificationError(
                place, f"slice {sl.name} removes {', '.join(actions)}", "leave the slice out, or keep an action"
            )
    return actions


def _slices_of(spec: Specification, p: Property) -> list[Slice]:
    return [s for s in spec.slices if s.name in p.slices]


def _check_clause(
    spec: Specification, checker: TypeChecker, p: BoundaryClause, place: str, seen: frozenset[str]
) -> None:
    action = spec.action(p.action)
    checker.require(p.formula, BOOL, frozenset(action.params))
    if hidden := T.symbols(p.formula) - seen:
        raise SpecificationError(
            place,
            f"reads {sorted(hidden)[0]}, which observed events do not determine",
            "state it over observable variables",
        )
    if not action.observed:
        raise SpecificationError(place, f"{action.name} is hidden", "a call at a boundary is observed")
    if p.invariant is not None:
        known(place, "invariant", p.invariant, [i.id for i in spec.properties if isinstance(i, Invariant)])
