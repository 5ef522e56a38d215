"""Modules put together: one system in which actions of the same name happen at the same moment.

As in a synchronous product: an action that two modules declare is one event that both take part
in, under both guards, with the updates of both; an action of one module leaves the other's state
alone. So interactions are checked without writing any module twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from interlock.spec.language.actions import Action, Conjunct, Fairness
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.properties import Property
from interlock.spec.language.settings import Expectation, Preset, Slice
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.specification import Specification
from interlock.spec.language.variables import Channel, StateVar


def compose(
    name: str,
    parts: Sequence[Specification],
    slices: tuple[Slice, ...],
    covered: Mapping[str, tuple[str, ...]],
    more: tuple[Property, ...] = (),
    glue: Mapping[str, tuple[Conjunct, ...]] | None = None,
    fair: Mapping[str, str] | None = None,
    expectations: tuple[Expectation, ...] = (),
) -> Specification:
    """The composition of modules, not yet built.

    What two modules declare alike (the phase of the engine, the step message) is one; what a
    shared action does twice in the same words is done once.

    Args:
        glue: further conjuncts by action: what one module's action needs of the other's state.
        fair: actions that are free in their module and weakly fair here, each with the reason: the other
            module waits for them.
        slices: of the composition.
        covered: for each slice, the properties of the parts that are checked in it as well; the
            composition has only these, and ``more``.

    Raises:
        SpecificationError: two parts declare one name differently, or a shared action at two sites.
    """
    return Specification(
        name=name,
        sorts=_union("sort", (s for p in parts for s in p.sorts)),
        enums=_union("enumeration", (e for p in parts for e in p.enums)),
        switches=tuple(s for p in parts for s in p.switches),
        presets=_presets(parts),
        variables=_union("variable", (v for p in parts for v in p.variables)),
        channels=_union("channel", (c for p in parts for c in p.channels)),
        lifecycles=tuple(life for p in parts for life in p.lifecycles),
        actions=tuple(_glued(a, (glue or {}).get(a.name, ()), (fair or {}).get(a.name)) for a in _actions(parts)),
        properties=(*_properties(parts, covered), *more),
        slices=slices,
        expectations=expectations,
    )


_Named = TypeVar("_Named", Sort, Enumeration, StateVar, Channel)


def _union(kind: str, declared: Iterable[_Named]) -> tuple[_Named, ...]:
    found: dict[str, _Named] = {}
    for d in declared:
        if found.setdefault(d.name, d) != d:
            raise SpecificationError(f"{kind} {d.name}", "two modules declare it differently", "rename one of them")
    return tuple(found.values())


def _presets(parts: Sequence[Specification]) -> tuple[Preset, ...]:
    """Those that every part has, with the values of all."""
    shared = [p for p in parts[0].presets if all(p.name in {q.name for q in part.presets} for part in parts)]
    return tuple(
        p.model_copy(update={"values": {k: v for part in parts for k, v in part.preset(p.name).values.items()}})
        for p in shared
    )


def _actions(parts: Sequence[Specification]) -> tuple[Action, ...]:
    found: dict[str, Action] = {}
    for part in parts:
        for a in part.actions:
            found[a.name] = a if a.name not in found else _both(found[a.name], a, part.name)
    return tuple(found.values())


def _both(a: Action, b: Action, module: str) -> Action:
    """One event that both take part in; what it is about is the union of what each is about."""
    if a.site != b.site:
        raise SpecificationError(f"action {a.name}", f"is at two sites, {a.site} and {b.site}", "rename one of them")
    fair = a.fairness if a.fairness == b.fairness else Fairness.NONE
    return a.model_copy(
        update={
            "params": (*a.params, *(p for p in b.params if p not in a.params)),
            "observed": a.observed and b.observed,
            "fault": a.fault or b.fault,
            "guard": (*a.guard, *(_distinct(c, a.guard, module) for c in b.guard if c not in a.guard)),
            "fires": (*a.fires, *(f for f in b.fires if f not in a.fires)),
            "receives": (*a.receives, *(m for m in b.receives if m not in a.receives)),
            "sends": (*a.sends, *(m for m in b.sends if m not in a.sends)),
            "updates": (*a.updates, *(u for u in b.updates if u not in a.updates)),
            "fairness": fair,
            "fairness_why": f"{a.fairness_why}; {b.fairness_why}" if fair != Fairness.NONE else "",
            "source": f"{a.source}; {b.source}",
            "doc": a.doc if a.doc == b.doc else f"{a.doc} {b.doc}",
        }
    )


def _glued(a: Action, more: tuple[Conjunct, ...], why_fair: str | None) -> Action:
    changes: dict[str, object] = {"guard": (*a.guard, *more)} if more else {}
    if why_fair is not None:
        changes |= {"fairness": Fairness.WEAK, "fairness_why": why_fair}
    return a.model_copy(update=changes) if changes else a


def _distinct(c: Conjunct, taken: Sequence[Conjunct], module: str) -> Conjunct:
    return c.model_copy(update={"id": f"{module}-{c.id}"}) if c.id in {t.id for t in taken} else c


def _properties(parts: Sequence[Specification], covered: Mapping[str, tuple[str, ...]]) -> list[Property]:
    """The covered ones, in the slices that cover them; proofs stay with their module."""
    found: list[Property] = []
    for part in parts:
        for p in part.properties:
            slices = tuple(s for s, ids in covered.items() if p.id in ids)
            if slices:
                changes: dict[str, object] = {"slices": slices, "applies_in": {}}
                if p.kind == "invariant":
                    changes |= {"proof": (), "proved": False, "grounds": ()}
                if p.kind == "boundary_clause":
                    changes |= {"invariant": None}
                found.append(p.model_copy(update=changes))
    return found
