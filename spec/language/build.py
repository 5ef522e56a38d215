"""The builder: refuses a specification that no engine should be asked about, and names the place.

>>> from interlock.spec.kv import SPECIFICATION
>>> build(SPECIFICATION) is SPECIFICATION
True
"""

from __future__ import annotations

from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import WHOLE, elaborate, fold, refuse_if_open
from interlock.spec.language.properties import Invariant
from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import INT
from interlock.spec.language.specification import Specification
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
    signature = _signature(spec)
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
    systems = [elaborate(spec, values, WHOLE, properties=()) for values in settings]
    for system in systems:
        for s in system.steps:
            check_step(spec, signature, s)
    check_properties(spec, signature, systems)
    for sl in spec.slices:
        covered = [p for p in spec.properties if sl.name in p.slices]
        for system in systems:
            refuse_if_open(system, sl, covered)
    check_expectations(spec)
    return spec


def _signature(spec: Specification) -> Signature:
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


def stratification(spec: Specification, switches: dict[str, str]) -> dict[str, set[str]]:
    """Which sorts depend on which: an edge from the arguments of a function to its result, and from
    a universal to an existential variable under it. A cycle means: outside the decidable fragment.
    """
    edges: dict[str, set[str]] = {s.name: set() for s in spec.sorts}
    for v in spec.variables:
        if v.result in edges:
            for a in v.args:
                if a.sort in edges:
                    edges[a.sort].add(v.result)
    for p in spec.properties:
        if isinstance(p, Invariant):
            _alternations(fold(p.formula, switches), True, frozenset(), edges)
    return edges


def _alternations(t: T.Term, positive: bool, universal: frozenset[str], edges: dict[str, set[str]]) -> None:
    match t:
        case T.Forall() | T.Exists():
            sorts = {v.sort for v in t.vars if v.sort in edges}
            if isinstance(t, T.Forall) == positive:
                universal = universal | sorts
            else:
                for u in universal:
                    edges[u] |= sorts
            _alternations(t.body, positive, universal, edges)
        case T.Not():
            _alternations(t.body, not positive, universal, edges)
        case T.Implies():
            _alternations(t.left, not positive, universal, edges)
            _alternations(t.right, positive, universal, edges)
        case T.Eq():
            for side in (t.left, t.right):
                for sign in (True, False):
                    _alternations(side, sign, universal, edges)
        case _:
            for c in T.children(t):
                _alternations(c, positive, universal, edges)


__all__ = ["Switch", "build", "stratification"]
