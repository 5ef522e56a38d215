"""A formula over a step, read in the state before and the state after it, one element at a time.

The compiled way (:mod:`checker`) gives what is primed a name, which it cannot where a quantifier
binds a variable inside. Such formulas are read here, at a cost that grows with what is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any

from interlock.spec.language import terms as T
from interlock.statemachine.sparse.faults import UndefinedError
from interlock.statemachine.sparse.frames import Frames, Kept
from interlock.statemachine.sparse.layout import MISSING
from interlock.statemachine.sparse.world import Delta, World

Env = dict[str, Any]


class TwoStates:
    """The world as it is after a step, and as it was before.

    Args:
        world: in the state after the step.
        before: the cells that the step has changed, with their values before it.
        frames: of the properties that are read.
    """

    def __init__(self, world: World, before: Delta, frames: Frames) -> None:
        self._world, self._before, self._frames = world, before, frames

    def holds(self, formula: T.Term, arguments: Mapping[str, str]) -> bool:
        """Whether a formula is true of the step by an action with these arguments.

        Raises:
            UndefinedError: it reads outside a domain.
        """
        return bool(self._value(formula, dict(arguments), after=False))

    def _value(self, t: T.Term, env: Env, *, after: bool) -> Any:
        match t:
            case T.Var():
                return env[t.name]
            case T.Bool() | T.Int():
                return t.value
            case T.Member():
                return t.name
            case T.Size():
                return self._world.size(t.sort)
            case T.Apply():
                return self._read(t.symbol, tuple(self._value(a, env, after=after) for a in t.args), after=after)
            case T.Primed():
                return self._value(t.body, env, after=True)
            case T.And():
                return all(self._value(a, env, after=after) for a in t.args)
            case T.Or():
                return any(self._value(a, env, after=after) for a in t.args)
            case T.Ite():
                chosen = t.then if self._value(t.cond, env, after=after) else t.orelse
                return self._value(chosen, env, after=after)
            case T.Not():
                return not self._value(t.body, env, after=after)
            case T.Implies():
                return not self._value(t.left, env, after=after) or self._value(t.right, env, after=after)
            case T.Forall():
                frame = None if after else self._frames.of(t)
                if frame is not None:
                    return all(self._stays(kept, env) for kept in frame)
                return all(self._value(t.body, e, after=after) for e in self._each(t, env))
            case T.Exists():
                return any(self._value(t.body, e, after=after) for e in self._each(t, env))
            case T.Card():
                return sum(bool(self._value(t.body, e, after=after)) for e in self._each(t, env))
            case T.Eq() | T.Lt() | T.Le() | T.Add() | T.Sub():
                left, right = self._value(t.left, env, after=after), self._value(t.right, env, after=after)
                return _BINARY[type(t)](left, right)
        raise TypeError(f"switches are folded before: {t}")

    def _read(self, symbol: str, arguments: tuple[Any, ...], *, after: bool) -> Any:
        key = arguments[0] if len(arguments) == 1 else arguments
        value = self._world.read(symbol, key)
        if not after:
            value = self._before.get((symbol, key), value)
        if value is MISSING or not self._in_domain(symbol, arguments, after=after):
            raise UndefinedError(symbol, key)
        return value

    def _in_domain(self, symbol: str, arguments: tuple[Any, ...], *, after: bool) -> bool:
        """Stored values may outlive the domain of a function that is guarded."""
        slot = self._world.program.layout[symbol]
        domain = slot.variable.domain
        if not slot.guarded or domain is None:
            return True
        env = {v.name: a for v, a in zip(slot.variable.args, arguments, strict=True)}
        return bool(self._value(domain, env, after=after))

    def _stays(self, kept: Kept, env: Env) -> bool:
        """Whether one function stays as it is wherever a frame says so."""
        names, rest = kept.names, [n for n, _, _ in kept.rest]
        for symbol, key in self._before:
            if symbol != kept.symbol:
                continue
            values = key if isinstance(key, tuple) else (key,)
            here = env | {n: x for n, x in zip(names, values, strict=True) if n in kept.bound}
            if any(here[n] != x for n, x in zip(names, values, strict=True)):
                continue  # the frame does not speak of this place: it names an argument of the action, or one twice
            # Of what neither side reads one element stands for all.
            others = (islice(self._world.elements(sort), None if asked else 1) for _, sort, asked in kept.rest)
            for more in product(*others):
                if not self._value(kept.body, here | dict(zip(rest, more, strict=True)), after=False):
                    return False
        return True

    def _each(self, t: T.Forall | T.Exists | T.Card, env: Env) -> Iterator[Env]:
        few = self._those_it_speaks_of(t)
        if few is not None:
            yield from ({**env, t.vars[0].name: x} for x in few)
            return
        for values in product(*(self._world.elements(v.sort) for v in t.vars)):
            yield {**env, **{v.name: x for v, x in zip(t.vars, values, strict=True)}}

    def _those_it_speaks_of(self, t: T.Forall | T.Exists | T.Card) -> list[Any] | None:
        """Of ``forall x. … & p(x)' => …`` those with p now: a log has many elements, and few of them are meant.

        Of the others nothing is read but what comes before p(x)', so that has to be defined wherever it is read.
        """
        match t:
            case T.Forall(vars=(x,), body=T.Implies(left=left)):
                for part in left.args if isinstance(left, T.And) else (left,):
                    match part:
                        case T.Primed(body=T.Apply(symbol=symbol, args=(read,))) if read == x:
                            if self._world.live[symbol].default is False:
                                return list(self._world.live[symbol].store)
                    if any(self._world.live[symbol].slot.partial for symbol in T.symbols(part)):
                        return None
        return None


_BINARY: Mapping[type, Any] = {
    T.Eq: lambda a, b: a == b,
    T.Lt: lambda a, b: a < b,
    T.Le: lambda a, b: a <= b,
    T.Add: lambda a, b: a + b,
    T.Sub: lambda a, b: a - b,
}
