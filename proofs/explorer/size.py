"""How large a system is at a scope, told before it is built: a program has a line for every instance of an action.

The generated program writes every quantifier out, so it grows with the sizes of all sorts that an
action's parameters and a formula's variables range over, long before a state is visited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from interlock.spec.language import terms as T
from interlock.spec.language.properties import ActionProperty, BoundaryClause, LeadsTo, Property, Witness, terms_of
from interlock.spec.language.system import Step, System

TERMS_MAX = 1_000_000
"""The largest program that is built, in terms written out: about a gigabyte and a few seconds; no slice has 60,000."""


SIZE_MAX = 64
"""The largest size of a sort: replay stands up to no more, so a counterexample would be of no use."""


class ScopeTooLarge(Exception):
    """Sizes at which nothing is built: what is wrong, and what would be right."""

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(f"{wrong}; {right}")
        self.wrong, self.right = wrong, right


def require_sizes(scope: Mapping[str, int]) -> None:
    """Refuse sizes that nothing is built at, whatever the slice.

    Raises:
        ScopeTooLarge: one is above :data:`SIZE_MAX`.
    """
    for sort, size in scope.items():
        if size > SIZE_MAX:
            raise ScopeTooLarge(f"scope {sort}={size} is too large", f"at most {SIZE_MAX} of a sort are explored")


def require_buildable(system: System) -> None:
    """Refuse a scope whose program would not fit.

    Raises:
        ScopeTooLarge: more than :data:`TERMS_MAX` terms.
    """
    count = terms(system)
    if count > TERMS_MAX:
        scope = ",".join(f"{sort}={size}" for sort, size in system.scope.items())
        raise ScopeTooLarge(
            f"slice {system.slice.name} at {scope} has {instances(system.steps, system):,} action instances and"
            f" {count:,} terms",
            f"at most {TERMS_MAX:,} terms are built: give smaller sizes",
        )


def instances(steps: Iterable[Step], system: System) -> int:
    """The number of action instances."""
    return sum(_assignments(s.params, system) for s in steps)


def terms(system: System) -> int:
    """Terms of the guards, updates, domains and properties with everything written out, and slots of a state."""
    slots = sum(_assignments(v.args, system) for v in system.variables)
    steps = sum(_assignments(s.params, system) * _of_step(s, system) for s in system.steps)
    return slots + steps + sum(_of_property(p, system) for p in system.properties)


def _of_step(step: Step, system: System) -> int:
    """Of one instance."""
    guard = sum(_written_out(c.term, system) for c in step.guard)
    updates = sum(
        _assignments(u.over, system) * sum(_written_out(t, system) for t in (u.when, u.value, *u.args))
        for u in step.updates
    )
    changed = {u.symbol for u in step.updates}
    domains = sum(
        _assignments(v.args, system) * _written_out(v.domain, system)
        for v in system.variables
        if v.domain is not None and changed & (T.symbols(v.domain) | {v.name})
    )
    return guard + updates + domains


def _of_property(p: Property, system: System) -> int:
    once = sum(_written_out(t, system) for t in terms_of(p).values())
    match p:
        case LeadsTo():
            return once * _assignments(p.vars, system)
        case ActionProperty() | Witness() if p.actions:
            return once * instances((s for s in system.steps if s.name in p.actions), system)
        case BoundaryClause():
            return once * instances((s for s in system.steps if s.name == p.action), system)
    return once


def _written_out(t: T.Term, system: System) -> int:
    inner = 1 + sum(_written_out(c, system) for c in T.children(t))
    return inner * _assignments(t.vars, system) if isinstance(t, T.Forall | T.Exists | T.Card) else inner


def _assignments(variables: Iterable[T.Var], system: System) -> int:
    return prod(system.size(v.sort) for v in variables)
