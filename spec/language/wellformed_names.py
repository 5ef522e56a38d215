"""Names and sizes: nothing is declared twice, nothing is empty, nothing names what is not there."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from interlock.spec.language.elaborate import applies
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.settings import Demonstration, Expectation
from interlock.spec.language.sorts import BOOL, INT
from interlock.spec.language.specification import Specification


def known(place: str, kind: str, name: str, names: Collection[str]) -> None:
    """Refuse a name that is not declared.

    Raises:
        SpecificationError: names the place and what is declared.
    """
    if name not in names:
        raise SpecificationError(place, f"unknown {kind} {name}", f"use one of {', '.join(names) or 'none'}")


def check_names(spec: Specification) -> None:
    """Names that one export would fold into one: compared without case, hyphen and underscore."""
    groups: dict[str, Iterable[str]] = {
        "formula": [
            *(BOOL, INT),
            *(s.name for s in spec.sorts),
            *(e.name for e in spec.enums),
            *(v.name for v in spec.variables),
            *(c.name for c in spec.channels),
            *(f"{e.name}.{m}" for e in spec.enums for m in e.members),
        ],
        "action": [a.name for a in spec.actions],
        "lifecycle": [life.name for life in spec.lifecycles],
        "property": [i for p in spec.properties for i in (p.id, *p.aliases)],
        "setting": [*(s.name for s in spec.switches), *(s.name for s in spec.slices)],
        "preset": [p.name for p in spec.presets],
        **{f"switch {s.name}, value": s.values for s in spec.switches},
    }
    for kind, names in groups.items():
        seen: dict[str, str] = {}
        for n in names:
            folded = n.lower().replace("-", "").replace("_", "")
            if n == seen.get(folded):
                raise SpecificationError(f"{kind} name {n}", "is declared twice", "name it otherwise, or leave one out")
            if folded in seen:
                raise SpecificationError(
                    f"{kind} name {n}", f"an export would fold it into {seen[folded]}", "rename one of them"
                )
            seen[folded] = n
    for kind, name, members in (
        *(("enumeration", e.name, e.members) for e in spec.enums),
        *(("switch", s.name, s.values) for s in spec.switches),
        ("specification", spec.name, spec.presets),
    ):
        if not members:
            missing = "preset" if kind == "specification" else "value"
            raise SpecificationError(f"{kind} {name}", f"has no {missing}", f"declare a {missing}")


def check_presets(spec: Specification) -> None:
    """Each preset gives every switch one of its values."""
    for p in spec.presets:
        place = f"preset {p.name}"
        if set(p.values) != {s.name for s in spec.switches}:
            missing = sorted({s.name for s in spec.switches} ^ set(p.values))
            raise SpecificationError(place, f"does not match the switches: {missing[0]}", "give each switch a value")
        for name, value in p.values.items():
            known(place, f"value of {name}", value, spec.switch(name).values)


def check_scope(place: str, spec: Specification, scope: dict[str, int]) -> None:
    """Sizes are of declared sorts, and each sort has an element."""
    for sort, size in scope.items():
        known(place, "sort", sort, [s.name for s in spec.sorts])
        if size < 1:
            raise SpecificationError(place, f"{sort} has size {size}", "a sort has at least one element")


def check_slices(spec: Specification) -> None:
    """Each slice has a size for every sort, drops variables and removes actions that exist."""
    sorts = {s.name for s in spec.sorts}
    symbols = [*(v.name for v in spec.variables), *(c.name for c in spec.channels)]
    actions = [a.name for a in spec.actions]
    for sl in spec.slices:
        place = f"slice {sl.name}"
        if set(sl.scope) != sorts:
            problem = f"scope and sorts differ in {min(sorts ^ set(sl.scope))}"
            raise SpecificationError(place, problem, "give each sort a size")
        check_scope(place, spec, sl.scope)
        if sl.int_max < 0:
            raise SpecificationError(place, f"int_max is {sl.int_max}", "integers start at 0: give at least that")
        for names, right, wrong, fix in (
            (sl.drop, symbols, actions, "drop variables, remove actions: name it in remove"),
            (sl.remove, actions, symbols, "drop variables, remove actions: name it in drop"),
        ):
            for name in names:
                if name in wrong:
                    raise SpecificationError(place, f"{name} is in the wrong list", fix)
                if name not in right:
                    raise SpecificationError(place, f"unknown name {name}", "drop variables, remove actions")


def check_expectations(spec: Specification) -> None:
    """Each row of the verdict table and each demonstration names what exists, and a property that the slice covers."""
    listed: list[Expectation | Demonstration] = [*spec.expectations, *spec.demonstrations]
    for e in listed:
        place = f"expectation {e.property}" if isinstance(e, Expectation) else f"demonstration of {e.failure}"
        known(place, "preset", e.preset, [p.name for p in spec.presets])
        known(place, "slice", e.slice, [s.name for s in spec.slices])
        known(place, "property", e.property, spec.properties_by_name())
        for name, value in e.set.items():
            known(place, "switch", name, [s.name for s in spec.switches])
            known(place, f"value of {name}", value, spec.switch(name).values)
        check_scope(place, spec, e.scope)
        p = spec.property(e.property)
        if e.slice not in p.slices:
            raise SpecificationError(place, f"slice {e.slice} does not cover it", "add the slice to the property")
        if not applies(p, spec.switch_values(e.preset, e.set), e.slice):
            raise SpecificationError(place, "is not claimed under these switch values", "drop the row, or let it apply")
