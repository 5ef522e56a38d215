"""The flat form that every engine reads: plain variables and plain guarded simultaneous updates.

:func:`elaborate.elaborate` makes it from a specification, switch values and a slice: switches are
folded, lifecycle rows and messages have become conjuncts and updates, dropped variables are gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from interlock.spec.language.actions import Action, Conjunct, Update
from interlock.spec.language.properties import Property
from interlock.spec.language.settings import Slice
from interlock.spec.language.sorts import BOOL, INT
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE, Term, Var, at
from interlock.spec.language.variables import Site


@dataclass(frozen=True, slots=True)
class Variable:
    """A state variable or a channel, as a total or partial function.

    ``init`` is ``None`` only for partial functions that are defined nowhere at the start.
    """

    name: str
    args: tuple[Var, ...]
    result: str
    site: Site | None
    """``None`` for a channel."""
    init: Term | None
    low: Term
    high: Term | None
    domain: Term | None

    def defined_at(self, args: tuple[Term, ...]) -> Term:
        """That the function is defined at arguments: its domain there; ``true`` of a total function."""
        return TRUE if self.domain is None else at(self.domain, self.args, args)


@dataclass(frozen=True, slots=True)
class Step:
    """An action with everything folded into one guard (a list of named conjuncts) and one update per variable."""

    action: Action
    guard: tuple[Conjunct, ...]
    updates: tuple[Update, ...]

    @property
    def name(self) -> str:
        return self.action.name

    @property
    def params(self) -> tuple[Var, ...]:
        return self.action.params


@dataclass(frozen=True, slots=True)
class System:
    """A transition system, ready for an engine.

    Args:
        scope: elements per sort; engines for any size ignore it.
        int_max: scope bound of integers without a declared upper bound.
        never: actions that these switch values rule out, with the conjunct that is false.
    """

    spec: Specification
    switches: dict[str, str]
    slice: Slice
    scope: dict[str, int]
    int_max: int
    variables: tuple[Variable, ...]
    steps: tuple[Step, ...]
    properties: tuple[Property, ...]
    never: dict[str, str] = field(default_factory=dict)

    def variable(self, name: str) -> Variable:
        return next(v for v in self.variables if v.name == name)

    def step(self, name: str) -> Step:
        return next(s for s in self.steps if s.name == name)

    def members(self, type_name: str) -> tuple[str, ...] | None:
        """The members of an enumeration; ``None`` for anything else."""
        return next((e.members for e in self.spec.enums if e.name == type_name), None)

    def size(self, type_name: str) -> int:
        """How many values a sort (in this scope), an enumeration or ``bool`` has."""
        if type_name == BOOL:
            return 2
        if type_name == INT:
            raise ValueError("int has no fixed number of values")
        members = self.members(type_name)
        return len(members) if members is not None else self.scope[type_name]

    def is_canonical(self, variables: Iterable[Var], values: Iterable[int]) -> bool:
        """Whether values of variables stand for all that elements of sorts can be renamed to.

        Elements of a sort are interchangeable, so it is enough to look at the assignments in which each
        new one counts up by one: the first is element 0, the next that is another is element 1.
        """
        fresh: dict[str, int] = {}
        for v, value in zip(variables, values, strict=True):
            if v.sort == BOOL or self.members(v.sort) is not None:
                continue
            if value > fresh.get(v.sort, 0):
                return False
            fresh[v.sort] = max(fresh.get(v.sort, 0), value + 1)
        return True

    def element(self, type_name: str, index: int) -> str:
        """The name of a value for people and traces: ``block0``, ``planned``, ``true``."""
        if type_name == BOOL:
            return "true" if index else "false"
        members = self.members(type_name)
        return members[index] if members is not None else f"{type_name}{index}"
