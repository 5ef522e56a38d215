"""Why a conjunct is false: the atoms of which one has to change, with the arguments at which it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from interlock.spec.language import terms as T
from interlock.statemachine.sparse import StepFault, World
from interlock.statemachine.sparse.normal import negation_normal

Environment = dict[str, str]
"""Values of variables, by name: names are unique in a guard."""


@dataclass(frozen=True, slots=True)
class Need:
    """A formula that must become true, and one variable in it that a step might change.

    Args:
        read: where the formula reads the variable.
        key: the arguments at which it does; ``None`` for what is not known.
        goal: the formula and what is bound in it, to be tested after the step.
    """

    read: Read
    key: tuple[str | None, ...]
    goal: Reason
    environment: Environment

    def met(self) -> bool:
        """Whether the formula is true now."""
        return self.goal.true(self.environment)


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A place where a formula reads a variable: the atom, and the names of plain arguments."""

    symbol: str
    names: tuple[str | None, ...]
    atom: T.Term


@dataclass(slots=True)
class Reason:
    """A formula in negation normal form, ready to be asked for its value and for what makes it false."""

    formula: T.Term
    world: World
    name: str
    free: tuple[T.Var, ...] = ()
    names: tuple[str, ...] = ()
    parts: list[Reason] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    _value: Callable[..., Any] | None = None
    _falsify: Callable[..., list[tuple[str, ...]]] | None = None

    @classmethod
    def of(cls, formula: T.Term, world: World, name: str) -> Reason:
        """The reason of a guard's conjunct; ``name`` is unique to it."""
        return cls._build(negation_normal(formula), world, name)

    @classmethod
    def _build(cls, t: T.Term, world: World, name: str) -> Reason:
        free = tuple(sorted(T.free_vars(t), key=lambda v: v.name))
        reason = cls(t, world, name, free, tuple(v.name for v in free))
        if isinstance(t, T.And | T.Or | T.Forall):
            reason.parts = [cls._build(c, world, f"{name}_{i}") for i, c in enumerate(T.children(t))]
        else:
            reason.reads = list(_reads(t, frozenset(reason.names)))
        return reason

    def true(self, environment: Environment) -> bool:
        """Whether it is true; what is not defined is not true."""
        if self._value is None:
            self._value = self.world.bind(self.world.program.term(f"why_{self.name}", self.free, self.formula))
        try:
            return bool(self._value(*(environment[n] for n in self.names)))
        except StepFault:
            return False

    def needs(self, environment: Environment) -> Iterator[Need]:
        """What must change for it to become true; alternatives, the first one first."""
        match self.formula:
            case T.And():
                false = next((p for p in self.parts if not p.true(environment)), None)
                if false is not None:
                    yield from false.needs(environment)
            case T.Or():
                for p in self.parts:
                    yield from p.needs(environment)
            case T.Forall():
                for values in self._falsifying(environment)[:1]:
                    inner = {**environment, **{v.name: x for v, x in zip(self.formula.vars, values, strict=True)}}
                    yield from self.parts[0].needs(inner)
            case _:
                for r in self.reads:
                    key = tuple(None if n is None else environment[n] for n in r.names)
                    yield Need(r, key, self, environment)

    def _falsifying(self, environment: Environment) -> list[tuple[str, ...]]:
        if not isinstance(self.formula, T.Forall):
            return []
        if self._falsify is None:
            opposite = negation_normal(self.formula.body, False)
            solve = self.world.program.solutions(f"false_{self.name}", self.free, self.formula.vars, opposite)
            self._falsify = self.world.bind(solve)
        try:
            return self._falsify(*(environment[n] for n in self.names))
        except StepFault:
            return []


def _reads(t: T.Term, known: frozenset[str]) -> Iterator[Read]:
    """Every variable that is read in ``t``; below a quantifier, with unknown arguments."""
    if isinstance(t, T.And | T.Or | T.Forall | T.Exists | T.Card):
        for c in T.children(t):
            yield from _reads(c, known)
        return
    for s in T.subterms(t):
        if isinstance(s, T.Apply):
            names = tuple(a.name if isinstance(a, T.Var) and a.name in known else None for a in s.args)
            outermost = s is t or any(s is c for c in T.children(t)) or isinstance(t, T.Not)
            yield Read(s.symbol, names, t if outermost else s)
