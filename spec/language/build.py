"""The builder: refuses a specification that no engine should be asked about, and names the place.

>>> from interlock.spec.kv import SPECIFICATION
>>> build(SPECIFICATION) is SPECIFICATION
True
"""

from __future__ import annotations

from collections.abc import Iterable

from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import WHOLE, elaborate, fold, refuse_if_open
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.lifecycles import Lifecycle
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Invariant, LeadsTo, Witness
from interlock.spec.language.settings import Switch
from interlock.spec.language.sites import observable, refuse_wrong_sites
from interlock.spec.language.sorts import BOOL, INT
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System
from interlock.spec.language.typecheck import Signature, TypeChecker
from interlock.spec.language.variables import StateVar


def build(spec: Specification) -> Specification:
    """Return ``spec`` if it is well formed.

    Raises:
        SpecificationError: the first refusal, with the place and the fix.
    """
    signature = _signature(spec)
    _refuse_clashing_names(spec)
    _refuse_bad_presets(spec)
    for v in spec.variables:
        _check_variable(signature, v)
    for life in spec.lifecycles:
        _check_lifecycle(spec, life)
    systems = [elaborate(spec, values, WHOLE, properties=()) for values in _settings(spec)]
    _check_actions(spec, signature, systems)
    _check_properties(spec, signature, systems[0])
    _check_slices(spec, systems)
    for e in spec.expectations:
        spec.preset(e.preset), spec.slice(e.slice), spec.property(e.property)
        if e.slice not in spec.property(e.property).slices:
            raise SpecificationError(
                f"expectation {e.property}", f"slice {e.slice} does not cover it", "add the slice to the property"
            )
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


def _refuse_clashing_names(spec: Specification) -> None:
    """Names that one export would fold into one: compared without case, hyphen and underscore."""
    groups: dict[str, Iterable[str]] = {
        "formula": [
            *(s.name for s in spec.sorts),
            *(e.name for e in spec.enums),
            *(v.name for v in spec.variables),
            *(c.name for c in spec.channels),
            *(m for e in spec.enums for m in sorted({f"{e.name}.{m}" for m in e.members})),
        ],
        "action": [a.name for a in spec.actions],
        "property": [i for p in spec.properties for i in (p.id, *p.aliases)],
        "setting": [*(s.name for s in spec.switches), *(s.name for s in spec.slices)],
    }
    for kind, names in groups.items():
        seen: dict[str, str] = {}
        for n in names:
            folded = n.lower().replace("-", "").replace("_", "")
            if folded in seen:
                raise SpecificationError(
                    f"{kind} name {n}", f"an export would fold it into {seen[folded]}", "rename one of them"
                )
            seen[folded] = n


def _refuse_bad_presets(spec: Specification) -> None:
    for p in spec.presets:
        place = f"preset {p.name}"
        if set(p.values) != {s.name for s in spec.switches}:
            missing = sorted({s.name for s in spec.switches} ^ set(p.values))
            raise SpecificationError(place, f"does not match the switches: {missing[0]}", "give each switch a value")
        for name, value in p.values.items():
            if value not in spec.switch(name).values:
                raise SpecificationError(place, f"{name} has no value {value}", "use a declared value")


def _check_variable(signature: Signature, v: StateVar) -> None:
    place = f"variable {v.name}"
    checker = TypeChecker(signature, place)
    scope = checker.bind(v.args, frozenset())
    if v.result not in (BOOL, INT) and not signature.knows_type(v.result):
        raise SpecificationError(place, f"unknown result type {v.result}", "declare the sort or enumeration")
    if v.init is None and v.domain is None:
        raise SpecificationError(place, "a total function has no initial value", "give init, or a domain")
    if v.init is not None:
        checker.require(v.init, v.result, scope)
    if v.domain is not None:
        checker.require(v.domain, BOOL, scope)
    if v.result == INT:
        checker.require(v.low, INT, frozenset())
        if v.high is not None:
            checker.require(v.high, INT, frozenset())


def _check_lifecycle(spec: Specification, life: Lifecycle) -> None:
    place = f"lifecycle {life.name}"
    variable = spec.variable(life.variable)
    if variable.result != f"{life.name}_states":
        raise SpecificationError(place, f"{variable.name} holds {variable.result}", f"use {life.name}_states")
    states = spec.enum(variable.result).members
    events = {a.name for a in spec.actions if any(f.lifecycle == life.name for f in a.fires)}
    reached = {life.initial}
    while True:
        more = {r.target_state for r in life.rows if r.source_state in reached} - reached
        if not more:
            break
        reached |= more
    for r in life.rows:
        where = f"{place}, row ({r.source_state}, {r.event}, {r.target_state})"
        for s in (r.source_state, r.target_state):
            if s not in states:
                raise SpecificationError(where, f"unknown state {s}", f"use one of {', '.join(states)}")
        if r.source_state not in reached:
            raise SpecificationError(where, "is unreachable from the initial state", "add the row that leads there")
        if r.event not in events:
            raise SpecificationError(where, "no action fires this event here", f"fire {life.name} in {r.event}")
    unused = set(states) - reached
    if unused:
        raise SpecificationError(place, f"state {sorted(unused)[0]} is never entered", "add a row or drop the state")


def _check_actions(spec: Specification, signature: Signature, systems: list[System]) -> None:
    for system in systems:
        for s in system.steps:
            place = f"action {s.name}"
            checker = TypeChecker(signature, place)
            params = checker.bind(s.params, frozenset())
            for c in s.guard:
                checker.require(c.term, BOOL, params)
            for u in s.updates:
                scope = params | checker.bind(u.over, params)
                types, result = signature.symbols[u.symbol]
                for a, wanted in zip(u.args, types, strict=True):
                    checker.require(a, wanted, scope)
                    if a not in u.over and T.free_vars(a) & set(u.over):
                        raise SpecificationError(
                            place, f"update of {u.symbol} computes an argument from {a}", "use the variable itself"
                        )
                if any(sum(a == v for a in u.args) != 1 for v in u.over):
                    raise SpecificationError(
                        place, f"update of {u.symbol} does not use each of its variables once", "match over and args"
                    )
                checker.require(u.value, result, scope)
                checker.require(u.when, BOOL, scope)
            refuse_wrong_sites(spec, s)


def _check_properties(spec: Specification, signature: Signature, system: System) -> None:
    slices = {s.name for s in spec.slices}
    seen = observable(spec, system.steps)
    witnessed = [p.formula for p in spec.properties if isinstance(p, Witness)]
    ids = {p.id for p in spec.properties}
    for p in spec.properties:
        place = f"property {p.id}"
        proved = isinstance(p, Invariant) and p.proved
        if not p.slices and not proved:
            raise SpecificationError(place, "no slice and no proof covers it", "name a slice")
        if unknown := set(p.slices) - slices:
            raise SpecificationError(place, f"unknown slice {sorted(unknown)[0]}", f"use one of {sorted(slices)}")
        checker = TypeChecker(signature, place, primes=isinstance(p, ActionProperty))
        match p:
            case Invariant():
                checker.require(p.formula, BOOL, frozenset())
                if p.premise is not None:
                    checker.require(p.premise, BOOL, frozenset())
                for i in p.proof:
                    if i not in ids:
                        raise SpecificationError(place, f"unknown lemma {i}", "declare it as an invariant")
                for g in p.grounds:
                    if not any(c.id == g.conjunct for c in spec.action(g.action).guard):
                        raise SpecificationError(
                            place, f"{g.action} has no conjunct {g.conjunct}", "name one of its guard's conjuncts"
                        )
            case Witness():
                checker.require(p.formula, BOOL, frozenset())
            case LeadsTo():
                scope = checker.bind(p.vars, frozenset())
                checker.require(p.premise, BOOL, scope)
                checker.require(p.conclusion, BOOL, scope)
                if T.exists(*p.vars, p.premise) not in witnessed and p.premise not in witnessed:
                    raise SpecificationError(
                        place, "its premise may never come true", f"add the witness {T.exists(*p.vars, p.premise)}"
                    )
            case ActionProperty():
                for name in p.actions:
                    checker.require(p.formula, BOOL, frozenset(spec.action(name).params))
            case BoundaryClause():
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


def _check_slices(spec: Specification, systems: list[System]) -> None:
    """Each slice has a size for every sort, names what exists, and is closed under every switch value."""
    sorts = {s.name for s in spec.sorts}
    known = {v.name for v in spec.variables} | {c.name for c in spec.channels} | {a.name for a in spec.actions}
    for sl in spec.slices:
        if set(sl.scope) != sorts:
            problem = f"scope and sorts differ in {min(sorts ^ set(sl.scope))}"
            raise SpecificationError(f"slice {sl.name}", problem, "give each sort a size")
        for name in (*sl.drop, *sl.remove):
            if name not in known:
                raise SpecificationError(f"slice {sl.name}", f"unknown name {name}", "drop variables, remove actions")
        for system in systems:
            refuse_if_open(system, sl, [p for p in spec.properties if sl.name in p.slices])


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
