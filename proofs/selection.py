"""Which slices of which modules a check is about, from the names that were given."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.proofs.claims import is_claimed
from interlock.proofs.mutation.changes import EVERY_KIND, PROOF_KINDS, apply, parse
from interlock.proofs.mutation.generate import of_action
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.properties import Property
from interlock.spec.language.settings import Slice
from interlock.spec.language.specification import Specification, UnknownName
from interlock.spec.modules import Modules, modules, owner, presets, under


@dataclass(frozen=True, slots=True)
class Chosen:
    """A slice to explore under switch values, and the properties to judge in it."""

    spec: Specification
    slice: Slice
    switches: dict[str, str]
    scope: dict[str, int]
    properties: list[Property]

    @property
    def sizes_of_sorts(self) -> set[str]:
        """The sorts that have a size here."""
        return {*self.slice.scope, *self.scope}


def values(
    specs: Modules, preset: str, sets: dict[str, str], *, named: bool
) -> dict[str, tuple[Specification, dict[str, str]]]:
    """The modules that a preset and switch values are about, and the value of each of their switches.

    Args:
        named: slices or properties say which modules are meant; else switch values do.

    Raises:
        UnknownName: a preset, switch or value that no module has.
    """
    # Of `vllm-0.32.0/X` a module without connectors takes `vllm-0.32.0`; some module must have it as a whole.
    if all(under(m, preset) is None for m in specs) or preset not in {*presets(specs), *presets(modules())}:
        raise UnknownName("preset", preset, presets(specs))
    for switch in sets:
        owner(specs, "switch", switch)
    chosen: dict[str, tuple[Specification, dict[str, str]]] = {}
    for m in specs:
        own = under(m, preset)
        changes = {s: v for s, v in sets.items() if any(s == x.name for x in m.switches)}
        if own is not None and (named or changes or not sets):
            chosen[m.name] = (m, m.switch_values(own, changes))
    return chosen


_NAMED_MOST = 4
"""Slices that one line can name."""

INT_MAX = "int_max"
"""Of a scope: a bound of integers, beside the sizes of sorts."""


def choose(
    specs: Modules,
    *,
    slices: list[str] | None = None,
    scope: dict[str, int] | None = None,
    preset: str = "interlock",
    sets: dict[str, str] | None = None,
    properties: list[str] | None = None,
    quick: bool = False,
) -> list[Chosen]:
    """The slices to explore: those named, those that cover the named properties, or the default ones.

    Args:
        scope: sizes of sorts, and ``int_max``: the largest value of an integer that has no declared upper bound.

    Raises:
        UnknownName: a slice, sort, preset, switch, value or property that no module has.
        SpecificationError: a slice that is named judges none of the properties that are named.
    """
    for sort, size in (scope or {}).items():
        if sort != INT_MAX:
            owner(specs, "sort", sort)
        if size < 1:
            raise UnknownName(f"size of sort {sort}", str(size), ["1", "2", "3"])
    _require_known(specs, slices, properties)
    chosen: list[Chosen] = []
    for m, switches in values(specs, preset, sets or {}, named=bool(slices or properties)).values():
        own = m.properties_by_name()
        wanted = [own[p] for p in properties if p in own] if properties else list(m.properties)
        sizes = {sort: size for sort, size in (scope or {}).items() if sort in {s.name for s in m.sorts}}
        for s in _slices(m, slices, wanted, named=bool(properties), quick=quick):
            covered = [p for p in wanted if (s.name in p.slices if properties else is_claimed(p, m, switches, s.name))]
            wide = s.model_copy(update={INT_MAX: scope[INT_MAX]}) if scope and INT_MAX in scope else s
            chosen.append(Chosen(m, wide, switches, sizes, covered))
    if not chosen:
        meant = concerned(specs, slices, properties)
        if meant and all(under(m, preset) is None for m in meant):
            raise UnknownName(f"preset of {' and '.join(m.name for m in meant)}", preset, presets(meant))
        if quick and meant:
            raise SpecificationError(
                " and ".join(m.name for m in meant), "has no quick slice for what was named", "leave out --quick"
            )
        raise UnknownName("slice for these names", "none", [s.name for m in specs for s in m.slices])
    _refuse_slices_without(properties or [], chosen)
    for sort in scope or ():
        if sort != INT_MAX and not any(sort in c.sizes_of_sorts for c in chosen):
            where = " and ".join(dict.fromkeys(c.spec.name for c in chosen))
            raise UnknownName(f"sort of {where}", sort, sorted({s for c in chosen for s in c.sizes_of_sorts}))
    for switch in sets or ():
        having = {s.name for c in chosen for s in c.spec.switches}
        if switch not in having:
            where = " and ".join(dict.fromkeys(c.spec.name for c in chosen))
            raise UnknownName(f"switch of {where}", switch, sorted(having))
    return chosen


def _slices(
    spec: Specification, names: list[str] | None, wanted: list[Property], *, named: bool, quick: bool
) -> list[Slice]:
    if names:
        own = {s.name: s for s in spec.slices}
        return [own[n] for n in dict.fromkeys(names) if n in own]
    covering = {s for p in wanted for s in p.slices}
    return [s for s in spec.slices if s.name in covering and (s.quick if quick else s.default or named)]


def _refuse_slices_without(named: list[str], chosen: list[Chosen]) -> None:
    """To explore a slice that has nothing to say takes time, and is no pass."""
    for c in chosen if named else ():
        if not c.properties:
            own = c.spec.properties_by_name()
            slices = list(dict.fromkeys(s for p in named if p in own for s in own[p].slices))
            more = ", or others" if len(slices) > _NAMED_MOST else ""
            right = f"take {', '.join(slices[:_NAMED_MOST])}{more}" if slices else "leave it out"
            raise SpecificationError(f"slice {c.slice.name}", f"does not judge {', '.join(named)}", right)


def _require_known(specs: Modules, slices: list[str] | None, properties: list[str] | None) -> None:
    for name in slices or ():
        owner(specs, "slice", name)
    for name in properties or ():
        owner(specs, "property", name)


def concerned(specs: Modules, slices: list[str] | None, properties: list[str] | None) -> Modules:
    """The modules that have one of the named slices and one of the named properties, where any are named.

    Raises:
        UnknownName: no module has one of them.
    """
    _require_known(specs, slices, properties)

    def has(m: Specification) -> bool:
        return (not slices or not {s.name for s in m.slices}.isdisjoint(slices)) and (
            not properties or not m.properties_by_name().keys().isdisjoint(properties)
        )

    return [m for m in specs if has(m)]


def changed(specs: Modules, change: str) -> Modules:
    """The modules that have what a change is about, with the change made.

    Modules share names of actions (each has its ``build_connector_meta``), and not what these are made of.

    Raises:
        UnknownName: it is of a proof, or no module has it; known is what any of those that have the action has.
    """
    kinds = [kind for kind in EVERY_KIND if kind not in PROOF_KINDS]
    try:
        asked = parse(change)
    except UnknownName as problem:
        known = kinds if problem.kind == "kind of change" else problem.known
        raise UnknownName(problem.kind, problem.name, known) from None
    if asked.about_a_proof:
        raise UnknownName("kind of change that check can show", asked.kind, kinds)
    having = [m for m in specs if any(a.name == asked.action for a in m.actions)]
    if not having:
        raise UnknownName("action", asked.action, list(dict.fromkeys(a.name for m in specs for a in m.actions)))
    made: list[Specification] = []
    lacking: list[UnknownName] = []
    for m in having:
        try:
            made.append(apply(m, asked))
        except UnknownName as problem:
            if problem.kind == "place":
                problem.known = [c.name for c in of_action(m, m.action(asked.action)) if c.kind == asked.kind]
            lacking.append(problem)
    if not made:
        known = list(dict.fromkeys(name for problem in lacking for name in problem.known))
        raise UnknownName(lacking[0].kind, lacking[0].name, known)
    return made
