"""What a state is: variables whose values at the start and whose domains mean something, and their lifecycles."""

from __future__ import annotations

from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import fold
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.lifecycles import Lifecycle, Row
from interlock.spec.language.sorts import BOOL, INT
from interlock.spec.language.specification import Specification
from interlock.spec.language.typecheck import Signature, TypeChecker
from interlock.spec.language.variables import Channel, Site, StateVar
from interlock.spec.language.wellformed_actions import check_update, refuse_channel_updates
from interlock.spec.language.wellformed_names import known


def check_variable(spec: Specification, signature: Signature, v: StateVar) -> None:
    """Types, and that neither start nor bounds nor domain need a state that is not there yet."""
    place = f"variable {v.name}"
    checker = TypeChecker(signature, place)
    scope = checker.bind(v.args, frozenset())
    if v.result not in (BOOL, INT) and not signature.knows_type(v.result):
        raise SpecificationError(place, f"unknown result type {v.result}", "declare the sort or enumeration")
    if v.init is None and v.domain is None:
        raise SpecificationError(place, "a total function has no initial value", "give init, or a domain")
    if v.init is not None:
        checker.require(v.init, v.result, scope)
        _refuse_reading(place, "init", v.init)
    if v.domain is not None:
        checker.require(v.domain, BOOL, scope)
        _check_domain(spec, v, v.domain)
    if v.result == INT:
        for name, bound in (("low", v.low), ("high", v.high)):
            if bound is not None:
                checker.require(bound, INT, frozenset())
                _refuse_reading(place, name, bound)
        if v.domain is not None and not _at_least_0(v.low):
            raise SpecificationError(
                place, f"is a partial int with low {v.low}", "give it a low of at least 0: -1 stands for undefined"
            )


def check_channel(signature: Signature, c: Channel) -> None:
    """Types of its arguments; it joins two sites that act."""
    place = f"channel {c.name}"
    TypeChecker(signature, place).bind(c.args, frozenset())
    for end in (c.sender, c.receiver):
        if end == Site.GHOST:
            raise SpecificationError(place, "joins a ghost", "ghosts neither send nor receive: name an acting site")


def check_lifecycle(spec: Specification, signature: Signature, life: Lifecycle) -> None:
    """States and rows fit the variable, all states are reached, and no row hides another."""
    place = f"lifecycle {life.name}"
    known(place, "variable", life.variable, [v.name for v in spec.variables])
    variable = spec.variable(life.variable)
    if variable.result != f"{life.name}_states":
        raise SpecificationError(place, f"{variable.name} holds {variable.result}", f"use {life.name}_states")
    if [a.sort for a in life.entity] != [a.sort for a in variable.args]:
        raise SpecificationError(place, f"its entity does not fit {variable.name}", "use the sorts of its arguments")
    states = spec.enum(variable.result).members
    known(place, "initial state", life.initial, states)
    if variable.init != T.Member(enum=variable.result, name=life.initial):
        starts = "nowhere" if variable.init is None else f"as {variable.init}"
        raise SpecificationError(
            place, f"is initially {life.initial}, but {variable.name} starts {starts}", "give both the same state"
        )
    events = {a.name for a in spec.actions if any(f.lifecycle == life.name for f in a.fires)}
    reached = {life.initial}
    while more := {r.target_state for r in life.rows if r.source_state in reached} - reached:
        reached |= more
    for r in life.rows:
        where = _row(place, r)
        for s in (r.source_state, r.target_state):
            known(where, "state", s, states)
        if r.source_state not in reached:
            raise SpecificationError(where, "is unreachable from the initial state", "add the row that leads there")
        if r.event not in events:
            raise SpecificationError(where, "no action fires this event here", f"fire {life.name} in {r.event}")
        scope = frozenset((*life.entity, *spec.action(r.event).params))
        TypeChecker(signature, where).require(r.guard, BOOL, scope)
        refuse_channel_updates(spec, where, r.effects)
        for e in r.effects:
            check_update(signature, where, e, scope)
    if unused := set(states) - reached:
        raise SpecificationError(place, f"state {sorted(unused)[0]} is never entered", "add a row or drop the state")


def check_rows(life: Lifecycle, switches: dict[str, str]) -> None:
    """Of the rows for one state and event, the first that applies is taken: none may be hidden by an earlier one."""
    seen: dict[tuple[str, str], list[T.Term]] = {}
    for r in life.rows:
        guard = fold(r.guard, switches)
        before = seen.setdefault((r.source_state, r.event), [])
        if guard == T.FALSE:
            continue
        where = _row(f"lifecycle {life.name}", r)
        if T.TRUE in before:
            raise SpecificationError(where, "can never apply: an earlier row always does", "give that row a guard")
        if guard in before:
            raise SpecificationError(where, "has the guard of an earlier row", "merge the two or change a guard")
        before.append(guard)


def _row(place: str, r: Row) -> str:
    return f"{place}, row ({r.source_state}, {r.event}, {r.target_state})"


def _refuse_reading(place: str, part: str, t: T.Term) -> None:
    if read := T.symbols(t):
        raise SpecificationError(
            place, f"its {part} reads {min(read)}", f"there is no state yet: give {part} a constant"
        )


def _check_domain(spec: Specification, v: StateVar, domain: T.Term) -> None:
    """A domain reads total functions of the variable's own site only, so that it is defined, and known there."""
    place = f"variable {v.name}"
    variables = {o.name: o for o in spec.variables}
    for name in sorted(T.symbols(domain)):
        other = variables.get(name)
        if name == v.name:
            raise SpecificationError(place, "its domain reads itself", "say where it is defined by other variables")
        if other is None:
            raise SpecificationError(place, f"its domain reads channel {name}", "use a variable of its site")
        if other.domain is not None:
            raise SpecificationError(
                place, f"its domain reads the partial function {name}", f"use what the domain of {name} reads"
            )
        if v.site not in (Site.GHOST, other.site):
            raise SpecificationError(
                place, f"its domain reads {name} of the {other.site}", f"use variables of the {v.site}"
            )


def _at_least_0(t: T.Term) -> bool:
    """Whether a bound is known to be no negative number."""
    match t:
        case T.Int():
            return t.value >= 0
        case T.Add():
            return _at_least_0(t.left) and _at_least_0(t.right)
        case T.Card() | T.Size():
            return True
        case T.Ite():
            return _at_least_0(t.then) and _at_least_0(t.orelse)
        case _:
            return False
