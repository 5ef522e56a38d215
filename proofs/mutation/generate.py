"""All mutants of a specification: every change of every kind, less those that change nothing.

Each action is elaborated once as it is and once per change, under the preset's switches: a change
that folds to the same step is no mutant, one that comes to the same step as an earlier change is
its duplicate, and one that the builder refuses is listed as refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from interlock.proofs.mutation import places
from interlock.proofs.mutation.changes import EVERY_KIND, Change, apply
from interlock.proofs.mutation.rows import find_row, rows_of
from interlock.proofs.mutation.widening import widenings
from interlock.spec.language.actions import Action, Fairness
from interlock.spec.language.build import signature_of
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.properties import Invariant
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import Step
from interlock.spec.language.typecheck import Signature
from interlock.spec.language.wellformed_actions import check_action, check_step
from interlock.spec.language.wellformed_state import check_lifecycle, check_rows


@dataclass(frozen=True, slots=True)
class Refused:
    """A change that gives no specification at all, and what the builder says."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A change that comes to the same system as an earlier one."""

    id: str
    same_as: str


@dataclass(slots=True)
class Mutants:
    """What can be changed in a specification.

    Args:
        same: how many changes fold to the specification as it is.
        usual: how many come to what they come to under the usual values, and are left to a run under those.
    """

    changes: list[Change] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    same: int = 0
    usual: int = 0


def mutants(
    spec: Specification,
    switches: dict[str, str],
    *,
    kinds: Collection[str] = EVERY_KIND,
    actions: Collection[str] | None = None,
    usual: dict[str, str] | None = None,
) -> Mutants:
    """Every mutant of a specification under switch values, in a fixed order.

    Args:
        actions: those to change; default: all, and the proofs.
        usual: switch values under which others are judged: a step that is the same there, as it is and changed,
            is left out.
    """
    found = Mutants()
    signature = signature_of(spec)

    def meanings(change: Change, values: dict[str, str]) -> tuple[object, object]:
        """What an action is, as it is and changed."""
        one, other = only(spec, change.action), only(apply(spec, change), change.action)
        return _meaning(step_of(one, values)), _meaning(step_of(other, values))

    for action in spec.actions:
        if actions is not None and action.name not in actions:
            continue
        known: dict[object, str] = {}
        original = _meaning(step_of(only(spec, action.name), switches))
        for change in of_action(spec, action):
            if change.kind not in kinds:
                continue
            try:
                changed = apply(spec, change)
                step = step_of(only(changed, action.name), switches)
                if change.kind != "delete-action":
                    _build(signature, spec, changed, change, step, switches)
            except SpecificationError as error:
                found.refused.append(Refused(str(change), str(error)))
                continue
            meaning = _meaning(step)
            if meaning == original:
                found.same += 1
            elif meaning in known:
                found.duplicates.append(Duplicate(str(change), known[meaning]))
            elif usual is not None and meanings(change, usual) == (original, meaning):
                known[meaning] = str(change)
                found.usual += 1
            else:
                known[meaning] = str(change)
                found.changes.append(change)
    if actions is None:
        found.changes += [c for c in of_proofs(spec) if c.kind in kinds]
    return found


def of_action(spec: Specification, action: Action) -> Iterator[Change]:
    """The changes of one action, the crudest first."""
    yield Change("guard-false", action.name)
    yield Change("delete-action", action.name)
    for c in action.guard:
        yield Change("drop-conjunct", action.name, c.id)
    for symbol in dict.fromkeys(u.symbol for u in action.updates):
        yield Change("drop-update", action.name, symbol)
    for name in widenings(spec, action):
        yield Change("widen-update", action.name, name)
    for channel in dict.fromkeys(s.channel for s in action.sends):
        yield Change("drop-send", action.name, channel)
    for channel in dict.fromkeys(r.channel for r in action.receives):
        yield Change("drop-receive", action.name, channel)
    for name, _, r in rows_of(spec, action.name):
        yield Change("delete-row", action.name, name)
        yield Change("swap-target", action.name, name)
        for number in range(1, len(places.conjuncts(r.guard)) + 1):
            yield Change("drop-row-conjunct", action.name, f"{name}#{number}")
        for e in r.effects:
            yield Change("drop-effect", action.name, f"{name}.{e.symbol}")
    for place, terms in places.places(spec, action):
        if place.startswith(("update/", "effect/")):
            for number in range(1, sum(map(places.members, terms[::2])) + 1):
                yield Change("swap-value", action.name, f"{place}#{number}")
        for number in range(1, places.bounds(terms) + 1):
            yield Change("shift-bound", action.name, f"{place}#{number}")
        for number in range(1, places.numbers(terms) + 1):
            yield Change("shift-number", action.name, f"{place}#{number}")
    if action.fairness != Fairness.NONE:
        yield Change("drop-fairness", action.name)


def of_proofs(spec: Specification) -> list[Change]:
    """The lemmas that proofs name."""
    return [Change("drop-lemma", p.id, i) for p in spec.properties if isinstance(p, Invariant) for i in p.proof]


def only(spec: Specification, action: str) -> Specification:
    """The specification with one action, or with none if there is none of that name: cheap to elaborate."""
    return spec.model_copy(update={"actions": tuple(a for a in spec.actions if a.name == action)})


def step_of(spec: Specification, switches: dict[str, str]) -> Step | None:
    """The step of a specification's only action; ``None`` if it is never enabled under these switch values."""
    steps = elaborate(spec, switches, WHOLE, properties=()).steps
    return steps[0] if steps else None


def described(spec: Specification, change: Change) -> str:
    """What a change is about, for a person: a row as (from, event, to), else the action and the part."""
    if change.about_a_proof:
        return f"proof of {change.action}: {change.name}"
    row = change.name.partition("#")[0].rpartition("/")[2]
    if change.kind == "drop-effect" or "effect/" in change.name:
        row = row.rpartition(".")[0]
    if row.count(".") != 2:
        return f"{change.action}: {change.name}" if change.name else change.action
    life, r = find_row(spec, change.action, row)
    return f"{life.name} ({r.source_state}, {r.event}, {r.target_state})"


def _meaning(step: Step | None) -> object:
    """What an action does and what is assumed of it; equal for two that behave alike by what is written."""
    if step is None:
        return None
    return tuple(c.term for c in step.guard), frozenset(step.updates), step.action.fairness


def _build(
    signature: Signature,
    spec: Specification,
    changed: Specification,
    change: Change,
    step: Step | None,
    switches: dict[str, str],
) -> None:
    """What the builder says of the changed parts.

    Raises:
        SpecificationError: it refuses them.
    """
    check_action(changed, signature, changed.action(change.action))
    if step is not None:
        check_step(changed, signature, step)
    for life, old in zip(changed.lifecycles, spec.lifecycles, strict=True):
        if life is not old:
            check_lifecycle(changed, signature, life)
            check_rows(life, switches)
