"""The builder: refuses a specification that no engine should be asked about, and names the place.

>>> from interlock.spec.kv import SPECIFICATION
>>> build(SPECIFICATION) is SPECIFICATION
True
"""

from __future__ import annotations

from interlock.spec.language.elaborate import Elaborator, applies
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.open_slices import readers, refuse_if_open
from interlock.spec.language.sorts import INT
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System
from interlock.spec.language.typecheck import Signature
from interlock.spec.language.variables import StateVar
from interlock.spec.language.wellformed_actions import check_action, check_step
from interlock.spec.language.wellformed_names import check_expectations, check_names, check_presets, check_slices
from interlock.spec.language.wellformed_properties import check_properties
from interlock.spec.language.wellformed_state import check_channel, check_lifecycle, check_rows, check_variable


def build(spec: Specification) -> Specification:
    """Return ``spec`` if it is well formed.

    What is declared is checked first, then what it comes to under each setting of the switches.

    Raises:
        SpecificationError: the first refusal, with the place and the fix.
    """
    signature = signature_of(spec)
    check_names(spec)
    check_presets(spec)
    check_slices(spec)
    for v in spec.variables:
        check_variable(spec, signature, v)
    for c in spec.channels:
        check_channel(signature, c)
    for life in spec.lifecycles:
        check_lifecycle(spec, signature, life)
    for a in spec.actions:
        check_action(spec, signature, a)
    settings = _settings(spec)
    for life in spec.lifecycles:
        for values in settings:
            check_rows(life, values)
    elaborator = Elaborator(spec)
    systems = [elaborator.system(values, properties=()) for values in settings]
    for step in elaborator.steps:
        check_step(spec, signature, step)
    check_properties(spec, signature, systems)
    covered = {sl.name: {p.id for p in spec.properties if sl.name in p.slices} for sl in spec.slices}
    enabled = {id(step): step for system in systems for step in system.steps}
    variables = dict.fromkeys(v for system in systems for v in system.variables)
    listed = readers(variables, enabled.values(), spec.properties)
    for sl in spec.slices:
        refuse_if_open(sl, (r for r in listed if r.property_id is None or r.property_id in covered[sl.name]))
    check_expectations(spec)
    _refuse_twin_values(spec, systems)
    return spec


def _refuse_twin_values(spec: Specification, systems: list[System]) -> None:
    """Two values of a switch that mean the same: one of them is named nowhere, and falls to the last case."""
    base = dict(spec.presets[0].values)
    for switch in spec.switches:
        seen: list[System] = []
        for value in switch.values:
            system = next(s for s in systems if s.switches == {**base, switch.name: value})
            twin = next((s for s in seen if _mean_the_same(spec, s, system)), None)
            if twin is not None:
                other = twin.switches[switch.name]
                raise SpecificationError(
                    f"switch {switch.name}",
                    f"{value} means what {other} means: no action, variable or property tells them apart",
                    f"use {value} in a term, or leave it out",
                )
            seen.append(system)


def _mean_the_same(spec: Specification, a: System, b: System) -> bool:
    return (
        a.steps == b.steps
        and a.never == b.never
        and a.variables == b.variables
        and all(applies(p, a.switches) == applies(p, b.switches) for p in spec.properties)
    )


def signature_of(spec: Specification) -> Signature:
    """What the type checker knows of a specification."""
    callables = (*spec.variables, *spec.channels)
    return Signature(
        symbols={
            c.name: (tuple(a.sort for a in c.args), c.result if isinstance(c, StateVar) else INT) for c in callables
        },
        enums={e.name: e.members for e in spec.enums},
        sorts=frozenset(s.name for s in spec.sorts),
        switches={s.name: s.values for s in spec.switches},
    )


def _settings(spec: Specification) -> list[dict[str, str]]:
    """The values of all presets, and those of the first with one switch changed; each once."""
    base = dict(spec.presets[0].values)
    listed = [dict(p.values) for p in spec.presets]
    listed += [{**base, s.name: v} for s in spec.switches for v in s.values]
    return list({tuple(sorted(v.items())): v for v in listed}.values())
