"""A system for z3 at any size: uninterpreted sorts, mathematical integers, post values by definition.

The value of a variable after a step is an expression over the state before it, so formulas about
the post state read the pre state only: ``v'(x) = ite(x is updated and when, value, v(x))``, and a
variable without an update is its own post value. Nothing clamps.

    >>> from interlock.spec.kv import SPECIFICATION as spec
    >>> from interlock.spec.language.elaborate import elaborate
    >>> encoding = Encoding(elaborate(spec, spec.switch_values()))
    >>> print(encoding.step("update_from_output").after.value("phase", []))
    phases.updated
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import z3

from interlock.proofs.smt.counts import Counts, state_axioms, step_axioms
from interlock.proofs.smt.defined import guard_defined
from interlock.proofs.smt.owed import Claim, Obligation, range_claims, start_terms, step_claims
from interlock.proofs.smt.translate import Env, translate
from interlock.proofs.smt.values import Expr, Values
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Update
from interlock.spec.language.system import Step, System


@dataclass(frozen=True, slots=True)
class Definition:
    """``symbol'(args) = value``, with ``args`` constants that stand for any elements."""

    args: tuple[Expr, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Named:
    """A formula with the name under which reports speak of it."""

    name: str
    formula: Expr


@dataclass(slots=True)
class Before:
    """The state before the step: an uninterpreted function per variable."""

    symbols: Mapping[str, Expr]
    counts: Counts

    def value(self, symbol: str, args: list[Expr]) -> Expr:
        """The function applied."""
        return self.symbols[symbol](*args)

    def count(self, t: T.Card, env: Env) -> Expr:
        """The count's symbol applied to the free variables of ``t``."""
        count, actual = self.counts.find(t)
        return count.before(*(env[v] for v in actual))


@dataclass(slots=True)
class After:
    """The state after a step: definitions for what it updates, the state before it for the rest."""

    before: Before
    definitions: Mapping[str, Definition]

    def value(self, symbol: str, args: list[Expr]) -> Expr:
        """The definition with ``args`` for its constants."""
        definition = self.definitions.get(symbol)
        if definition is None:
            return self.before.value(symbol, args)
        return z3.substitute(definition.value, *zip(definition.args, args, strict=True)) if args else definition.value

    def count(self, t: T.Card, env: Env) -> Expr:
        """As before the step if nothing that ``t`` reads is updated."""
        if not T.symbols(t.body) & set(self.definitions):
            return self.before.count(t, env)
        count, actual = self.before.counts.find(t)
        return count.after(*(env[v] for v in actual))


@dataclass(frozen=True, slots=True)
class StepFormulas:
    """A step: parameters as constants, guard, definitions of the post state, and what it owes."""

    step: Step
    params: tuple[Expr, ...]
    guard: tuple[Named, ...]
    definitions: Mapping[str, Definition]
    """Of the variables that it updates; all others keep their value."""
    after: After

    def env(self) -> dict[T.Var, Expr]:
        """Its parameters."""
        return dict(zip(self.step.params, self.params, strict=True))


@dataclass(slots=True)
class Encoding:
    """The formulas of a system, made once each, in one z3 context."""

    system: System
    values: Values = field(init=False)
    before: Before = field(init=False)
    ranges: tuple[Claim, ...] = field(init=False)
    """The declared ranges, which every proof may assume and every step owes."""
    start: tuple[Claim, ...] = field(init=False)
    """The initial values."""
    _steps: dict[str, StepFormulas] = field(init=False, default_factory=dict)
    _closed: dict[int, tuple[T.Term, Expr]] = field(init=False, default_factory=dict)
    _axioms: dict[tuple[str, int], list[Expr]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.ranges = tuple(range_claims(self.system))
        self.start = tuple(start_terms(self.system))
        self.values = Values(self.system.spec)
        symbols = {
            v.name: self.values.declare(v.name, [a.sort for a in v.args], v.result) for v in self.system.variables
        }
        self.before = Before(symbols, Counts(self.values))

    def step(self, name: str) -> StepFormulas:
        """The formulas of the step of that name."""
        if name not in self._steps:
            self._steps[name] = self._encode(self.system.step(name))
        return self._steps[name]

    def formula(self, t: T.Term, step: StepFormulas | None = None) -> Expr:
        """A term whose free variables are the step's parameters, and whose primed parts are after it."""
        if step is not None:
            return translate(self.values, self.before, t, step.env(), step.after)
        if id(t) not in self._closed:
            # Holding the term keeps its id from being given to another.
            self._closed[id(t)] = t, translate(self.values, self.before, t, {})
        return self._closed[id(t)][1]

    def owed(self, step: StepFormulas) -> list[Named]:
        """What a step owes beside the invariants."""
        return [self._named(c, step) for c in step_claims(self.system, step.step)]

    def guard_defined(self, step: StepFormulas) -> Expr:
        """Judging the guard, conjunct by conjunct, applies no partial function outside its domain."""
        return self.formula(guard_defined(self.system, step.step.guard), step)

    def sizes(self) -> list[Expr]:
        """Every sort has an element. This is all that is said of sizes."""
        return [s >= 1 for s in self.values.sizes.values()]

    def query(self, obligation: Obligation, invariants: tuple[Claim, ...]) -> list[Expr]:
        """Formulas that have a model exactly if the obligation fails: what is assumed, and its negation."""
        step = None if obligation.step is None else self.step(obligation.step)
        goal = self.formula(obligation.claim.term, step)
        return [*self.assumed(obligation, invariants), *self.count_axioms(step), z3.Not(goal)]

    def assumed(self, obligation: Obligation, invariants: tuple[Claim, ...]) -> list[Expr]:
        """What an obligation may assume, count axioms apart."""
        if obligation.at_start:
            return [*self.sizes(), *(self.formula(c.term) for c in self.start)]
        state = [self.formula(c.term) for c in (*self.ranges, *invariants)]
        guard = self.step(obligation.step).guard if obligation.step and obligation.enabled else ()
        return [*self.sizes(), *state, *(c.formula for c in guard)]

    def count_axioms(self, step: StepFormulas | None = None) -> list[Expr]:
        """Axioms of every count met so far, in the state before and, given a step, after it."""
        key = ("" if step is None else step.step.name, len(self.before.counts.met))
        if key not in self._axioms:
            self._axioms[key] = self._make_axioms(step)
        return self._axioms[key]

    def _make_axioms(self, step: StepFormulas | None) -> list[Expr]:
        axioms: list[Expr] = []
        for c in self.before.counts.met.values():
            axioms += state_axioms(self.values, c, self.before, c.before)
            if step is not None and T.symbols(c.term.body) & set(step.definitions):
                points = [(p.sort, e) for p, e in zip(step.step.params, step.params, strict=True)]
                axioms += state_axioms(self.values, c, step.after, c.after)
                axioms += step_axioms(self.values, c, self.before, step.after, points)
        return axioms

    def _named(self, claim: Claim, step: StepFormulas) -> Named:
        return Named(claim.name, self.formula(claim.term, step))

    def _encode(self, step: Step) -> StepFormulas:
        params = {p: self.values.constant(f"{step.name}.{p.name}", p.sort) for p in step.params}
        guard = tuple(Named(c.id, translate(self.values, self.before, c.term, params)) for c in step.guard)
        definitions = {u.symbol: self._define(u, params) for u in step.updates}
        return StepFormulas(step, tuple(params.values()), guard, definitions, After(self.before, definitions))

    def _define(self, u: Update, params: Env) -> Definition:
        variable = self.system.variable(u.symbol)
        args = tuple(self.values.fresh(a.name, a.sort) for a in variable.args)
        env = dict(params)
        here: list[Expr] = []
        for given, arg in zip(u.args, args, strict=True):
            if isinstance(given, T.Var) and given in u.over:
                env[given] = arg
            else:
                here.append(arg == translate(self.values, self.before, given, params))
        when = translate(self.values, self.before, u.when, env)
        value = translate(self.values, self.before, u.value, env)
        matched = self.values.conj([*here, when])
        old = self.before.value(u.symbol, list(args))
        return Definition(args, value if z3.is_true(matched) else z3.If(matched, value, old))
