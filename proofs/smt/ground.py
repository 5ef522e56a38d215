"""Terms at a finite scope as propositional formulas: every value is a case distinction.

A value of a sort, an enumeration or an integer is a map from each number that it may be to the
condition under which it is that number; a truth value is one condition. Quantifiers are unrolled,
counts are sums, and what is known is folded, so a sat solver is all that is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product

import z3

from interlock.proofs.smt.values import Expr
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Update
from interlock.spec.language.sorts import BOOL
from interlock.spec.language.system import System, Variable

Prop = Expr
"""A Python ``bool`` if known, otherwise a z3 formula of booleans."""
Cases = dict[int, Prop]
"""The numbers that a value may be, each with its condition; exactly one condition is true."""
Value = Expr
"""``Prop`` for truth values, ``Cases`` for everything else."""
Cell = tuple[str, tuple[int, ...]]
"""A variable at concrete arguments."""
State = Mapping[Cell, Value]
Numbers = dict[Cell, int]
"""A concrete state: booleans 0 and 1, members and elements by index, integers themselves."""
Env = Mapping[T.Var, Value]


def negate(p: Prop) -> Prop:
    """``not``, folded."""
    return not p if isinstance(p, bool) else z3.Not(p)


def every(parts: Iterable[Prop]) -> Prop:
    """``and``, folded."""
    kept = []
    for p in parts:
        if p is False:
            return False
        if p is not True:
            kept.append(p)
    return True if not kept else kept[0] if len(kept) == 1 else z3.And(kept)


def some(parts: Iterable[Prop]) -> Prop:
    """``or``, folded."""
    kept = []
    for p in parts:
        if p is True:
            return True
        if p is not False:
            kept.append(p)
    return False if not kept else kept[0] if len(kept) == 1 else z3.Or(kept)


def choose(condition: Prop, then: Value, orelse: Value) -> Value:
    """``then`` if the condition holds, else ``orelse``."""
    if isinstance(condition, bool):
        return then if condition else orelse
    no = negate(condition)
    if isinstance(then, dict):
        keys = sorted({*then, *orelse})
        return _merge(
            (k, some([every([condition, then.get(k, False)]), every([no, orelse.get(k, False)])])) for k in keys
        )
    return some([every([condition, then]), every([no, orelse])])


def same(a: Value, b: Value) -> Prop:
    """Both sides have the same value."""
    if isinstance(a, dict):
        return some(every([p, b[k]]) for k, p in a.items() if k in b)
    if isinstance(a, bool) or isinstance(b, bool):
        known, other = (a, b) if isinstance(a, bool) else (b, a)
        return other if known else negate(other)
    return a == b


def number(value: Value) -> int:
    """The number that a known value is."""
    if isinstance(value, dict):
        (value,) = value
    return int(value)


class Ground:
    """Evaluates terms of one system at the sizes of its scope."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._members = {(e.name, m): i for e in system.spec.enums for i, m in enumerate(e.members)}
        self._variables = {v.name: v for v in system.variables}
        self.cells: list[Cell] = [
            (v.name, args) for v in system.variables for args in product(*(range(system.size(a.sort)) for a in v.args))
        ]

    def variable(self, name: str) -> Variable:
        """The variable of that name."""
        return self._variables[name]

    def assignments(self, variables: tuple[T.Var, ...]) -> Iterator[dict[T.Var, Value]]:
        """Every assignment of values to variables."""
        for values in product(*(range(self.system.size(v.sort)) for v in variables)):
            yield {v: self.known(v.sort, i) for v, i in zip(variables, values, strict=True)}

    def known(self, type_name: str, number: int) -> Value:
        """A value that is known."""
        return bool(number) if type_name == BOOL else {number: True}

    def evaluate(self, t: T.Term, state: State, env: Env, after: State | None = None) -> Value:
        """The value of ``t`` in ``state``; primed parts are read from ``after``."""
        go = partial(self.evaluate, state=state, env=env, after=after)
        match t:
            case T.Var():
                return env[t]
            case T.Bool():
                return t.value
            case T.Int():
                return {t.value: True}
            case T.Member():
                return {self._members[t.enum, t.name]: True}
            case T.Size():
                return {self.system.size(t.sort): True}
            case T.Apply():
                return self._apply(t.symbol, [go(a) for a in t.args], state)
            case T.Primed():
                assert after is not None, f"{t} reads the next state, but there is no step here"
                return self.evaluate(t.body, after, env)
            case T.Not():
                return negate(go(t.body))
            case T.And():
                return every(go(a) for a in t.args)
            case T.Or():
                return some(go(a) for a in t.args)
            case T.Implies():
                return some([negate(go(t.left)), go(t.right)])
            case T.Ite():
                return choose(go(t.cond), go(t.then), go(t.orelse))
            case T.Eq():
                return same(go(t.left), go(t.right))
            case T.Lt() | T.Le():
                below = _LESS if isinstance(t, T.Lt) else _AT_MOST
                pairs = product(go(t.left).items(), go(t.right).items())
                return some(every([p, q]) for (a, p), (b, q) in pairs if below(a, b))
            case T.Add():
                return _add(go(t.left), go(t.right))
            case T.Sub():
                return _add(go(t.left), {-k: p for k, p in go(t.right).items()})
            case T.Forall():
                return every(self._unrolled(t, state, env, after))
            case T.Exists():
                return some(self._unrolled(t, state, env, after))
            case T.Card():
                total: Cases = {0: True}
                for p in self._unrolled(t, state, env, after):
                    total = _add(total, {1: p, 0: negate(p)})
                return total
        raise TypeError(f"not a term: {t!r}")

    def apply_updates(self, updates: tuple[Update, ...], state: State, env: Env) -> dict[Cell, Value]:
        """The cells that simultaneous updates may change, with their new values."""
        new: dict[Cell, Value] = {}
        for u in updates:
            for more in self.assignments(u.over):
                inner = {**env, **more}
                when = self.evaluate(u.when, state, inner)
                if when is False:
                    continue
                args = [self.evaluate(a, state, inner) for a in u.args]
                value = self.evaluate(u.value, state, inner)
                for at, here in self._places(args):
                    cell = (u.symbol, at)
                    new[cell] = choose(every([when, here]), value, new.get(cell, state[cell]))
        return new

    def _apply(self, symbol: str, args: list[Value], state: State) -> Value:
        if self._variables[symbol].result == BOOL:
            return some(every([here, state[symbol, at]]) for at, here in self._places(args))
        cases: dict[int, list[Prop]] = {}
        for at, here in self._places(args):
            for k, p in state[symbol, at].items():
                cases.setdefault(k, []).append(every([here, p]))
        return _merge((k, some(ps)) for k, ps in cases.items())

    def _places(self, args: list[Value]) -> Iterator[tuple[tuple[int, ...], Prop]]:
        """Every tuple of numbers that the arguments may be, with its condition."""
        listed = [a if isinstance(a, dict) else {1: a, 0: negate(a)} for a in args]
        for choice in product(*(a.items() for a in listed)):
            here = every(p for _, p in choice)
            if here is not False:
                yield tuple(k for k, _ in choice), here

    def _unrolled(self, t: T.Forall | T.Exists | T.Card, state: State, env: Env, after: State | None) -> Iterator[Prop]:
        for more in self.assignments(t.vars):
            yield self.evaluate(t.body, state, {**env, **more}, after)


def number_of(ground: Ground, t: T.Term) -> int:
    """The value of a term that reads no state, such as a bound."""
    return number(ground.evaluate(t, {}, {}))


def known_state(ground: Ground, numbers: Numbers) -> dict[Cell, Value]:
    """A concrete state as values."""
    return {cell: ground.known(ground.variable(cell[0]).result, k) for cell, k in numbers.items()}


def usual_values(ground: Ground) -> Numbers:
    """The initial value of every cell; 0 for a partial function without one."""
    usual: Numbers = {}
    for cell in ground.cells:
        v = ground.variable(cell[0])
        env = {a: ground.known(a.sort, i) for a, i in zip(v.args, cell[1], strict=True)}
        usual[cell] = 0 if v.init is None else number(ground.evaluate(v.init, {}, env))
    return usual


_LESS: Callable[[int, int], bool] = int.__lt__
_AT_MOST: Callable[[int, int], bool] = int.__le__


def _merge(cases: Iterable[tuple[int, Prop]]) -> Cases:
    return {k: p for k, p in cases if p is not False}


def _add(a: Cases, b: Cases) -> Cases:
    cases: dict[int, list[Prop]] = {}
    for (i, p), (k, q) in product(a.items(), b.items()):
        cases.setdefault(i + k, []).append(every([p, q]))
    return _merge((k, some(ps)) for k, ps in sorted(cases.items()))
