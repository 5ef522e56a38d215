"""Terms as nodes over the slots of a state: quantifiers unrolled, definedness made explicit.

The language evaluates from left to right, and reaching a partial function outside its domain is a
fault. A node has a value everywhere, so what is reached is carried beside it: ``path`` is the
condition under which a term is evaluated at all, and each application that may be undefined adds a
:class:`Site`, the condition under which evaluation would stop there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from interlock.proofs.explorer.layout import UNDEFINED, Layout
from interlock.proofs.vectorised.facts import Facts
from interlock.proofs.vectorised.nodes import Graph, Node, Values
from interlock.spec.language import terms as T
from interlock.spec.language.properties import domain_id

Env = Mapping[str, int]
"""Values of variables by name; the type checker refuses shadowing."""

Kind = tuple[str, str]
"""``("fault", property id)``, ``("scope", variable)`` or ``("narrow", variable)``."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place where evaluation may stop, and when it does if nothing stopped it before."""

    kind: Kind
    condition: Node


@dataclass(slots=True)
class Symbolic:
    """A state as nodes: what each slot holds, and where slots of partial functions are defined."""

    slots: list[Node]
    defined: dict[int, Node] = field(default_factory=dict)
    next: Symbolic | None = None
    """The state after the step, for ``Primed``."""

    def copy(self) -> Symbolic:
        return Symbolic(list(self.slots), dict(self.defined))


class Reading:
    """What terms read, remembered by the identity of the term."""

    def __init__(self, partials: frozenset[str]) -> None:
        self._partials = partials
        self._partial: dict[int, bool] = {}
        self._free: dict[int, tuple[str, ...]] = {}
        self._alive: list[T.Term] = []

    def partial(self, t: T.Term) -> bool:
        """A partial function is applied in ``t``."""
        known = self._partial.get(id(t))
        if known is None:
            self._alive.append(t)
            known = isinstance(t, T.Apply) and t.symbol in self._partials
            for c in T.children(t):
                known = self.partial(c) or known
            self._partial[id(t)] = known
        return known

    def free(self, t: T.Term) -> tuple[str, ...]:
        """The names of its free variables."""
        names = self._free.get(id(t))
        if names is None:
            self._alive.append(t)
            if isinstance(t, T.Var):
                names = (t.name,)
            else:
                inner = {n for c in T.children(t) for n in self.free(c)}
                bound = {v.name for v in t.vars} if isinstance(t, T.Binder) else set()
                names = tuple(sorted(inner - bound))
            self._free[id(t)] = names
        return names


class Lowering:
    """Lowers terms for one layout and one set of possible values per variable.

    Args:
        values: what each variable can hold; ``UNDEFINED`` among them only if ``derived`` lacks it.
        derived: partial functions that are defined exactly in their domain in every reachable
            state, so that their slots need no value for "undefined".
        reading: what is known of the terms from an earlier lowering of the same system.
    """

    def __init__(
        self, layout: Layout, values: Mapping[str, Values], derived: frozenset[str], reading: Reading | None = None
    ) -> None:
        self.graph = Graph()
        self.layout, self.derived, self.values = layout, derived, values
        self._system = layout.system
        self._memo: dict[tuple[object, ...], Node] = {}
        self._partials = frozenset(v.name for v in self._system.variables if v.domain is not None)
        self._reading = reading or Reading(self._partials)
        self.base = Symbolic(self._slots())
        self._define()

    def _slots(self) -> list[Node]:
        return [
            self.graph.slot(i, self.layout.variable(s.variable).result == "bool", self.values[s.variable])
            for i, s in enumerate(self.layout.slots)
        ]

    def _define(self) -> None:
        state = self.base
        for i, s in enumerate(self.layout.slots):
            v = self.layout.variable(s.variable)
            if v.domain is None:
                continue
            if v.name in self.derived:
                env = {a.name: value for a, value in zip(v.args, s.args, strict=True)}
                state.defined[i] = self.truth(v.domain, env, state, self.graph.true, [])
            else:
                state.defined[i] = self.graph.not_(self.graph.member(state.slots[i], (UNDEFINED,)))

    # -- terms -----------------------------------------------------------------------------------

    def truth(self, t: T.Term, env: Env, state: Symbolic, path: Node, sites: list[Site]) -> Node:
        """``t`` as a truth value."""
        return self.graph.boolean(self.expr(t, env, state, path, sites))

    def expr(self, t: T.Term, env: Env, state: Symbolic, path: Node, sites: list[Site]) -> Node:
        """``t`` with its free variables as in ``env``, read in ``state``, evaluated where ``path`` holds."""
        if state is not self.base or self._reading.partial(t):
            return self._expr(t, env, state, path, sites)
        key = (id(t), *(env[name] for name in self._reading.free(t)))
        node = self._memo.get(key)
        if node is None:
            node = self._memo[key] = self._expr(t, env, state, path, sites)
        return node

    def _expr(self, t: T.Term, env: Env, state: Symbolic, path: Node, sites: list[Site]) -> Node:
        g = self.graph
        match t:
            case T.Apply():
                return self._apply(t, env, state, path, sites)
            case T.And() | T.Or():
                return self._chain(isinstance(t, T.Or), ((a, env) for a in t.args), state, path, sites)
            case T.Forall() | T.Exists():
                parts = ((t.body, inner) for inner in self.assignments(t.vars, env))
                return self._chain(isinstance(t, T.Exists), parts, state, path, sites)
            case T.Eq():
                return g.equal(*self._both(t, env, state, path, sites))
            case T.Var():
                value = env[t.name]
                return g.truth(bool(value)) if t.sort == "bool" else g.const(value)
            case T.Member():
                members = self._system.members(t.enum)
                assert members is not None
                return g.const(members.index(t.name))
            case T.Bool():
                return g.truth(t.value)
            case T.Int():
                return g.const(t.value)
            case T.Size():
                return g.const(self._system.scope[t.sort])
            case T.Not():
                return g.not_(self.truth(t.body, env, state, path, sites))
            case T.Implies():
                left = self.truth(t.left, env, state, path, sites)
                right = self.truth(t.right, env, state, self._narrow(path, left, t.right), sites)
                return g.or_((g.not_(left), right))
            case T.Lt():
                return g.less(*self._both(t, env, state, path, sites))
            case T.Le():
                left, right = self._both(t, env, state, path, sites)
                return g.not_(g.less(right, left))
            case T.Add() | T.Sub():
                left, right = self._both(t, env, state, path, sites)
                return g.add(left, right, 1 if isinstance(t, T.Add) else -1)
            case T.Ite():
                cond = self.truth(t.cond, env, state, path, sites)
                then = self.expr(t.then, env, state, self._narrow(path, cond, t.then), sites)
                orelse = self.expr(t.orelse, env, state, self._narrow(path, g.not_(cond), t.orelse), sites)
                return g.choose(cond, then, orelse)
            case T.Card():
                return g.count([self.truth(t.body, e, state, path, sites) for e in self.assignments(t.vars, env)])
            case T.Primed() if state.next is not None:
                return self.expr(t.body, env, state.next, path, sites)
        raise TypeError(f"not a term here: {t!r}")

    def _both(
        self, t: T.Eq | T.Lt | T.Le | T.Add | T.Sub, env: Env, state: Symbolic, path: Node, sites: list[Site]
    ) -> tuple[Node, Node]:
        return self.expr(t.left, env, state, path, sites), self.expr(t.right, env, state, path, sites)

    def _chain(
        self, disjunction: bool, parts: Iterable[tuple[T.Term, Env]], state: Symbolic, path: Node, sites: list[Site]
    ) -> Node:
        """Part after part, each reached only where those before it have not decided."""
        g = self.graph
        decides = g.truth(disjunction)
        listed = list(parts)
        last_partial = max((i for i, (t, _) in enumerate(listed) if self._reading.partial(t)), default=0)
        kept: list[Node] = []
        for i, (t, env) in enumerate(listed):
            node = self.truth(t, env, state, path, sites)
            kept.append(node)
            if node is decides:
                break
            if i < last_partial:
                path = g.and_((path, g.not_(node) if disjunction else node))
        return g.or_(kept) if disjunction else g.and_(kept)

    def _narrow(self, path: Node, by: Node, reached: T.Term) -> Node:
        return self.graph.and_((path, by)) if self._reading.partial(reached) else path

    def _apply(self, t: T.Apply, env: Env, state: Symbolic, path: Node, sites: list[Site]) -> Node:
        index = [self.graph.number(self.expr(a, env, state, path, sites)) for a in t.args]
        value = self._read(t.symbol, index, state.slots)
        if t.symbol in self._partials:
            inside = self._read(t.symbol, index, state.defined)
            if not Facts(self.graph, path).imply(inside):
                outside = self.graph.and_((path, self.graph.not_(inside)))
                sites.append(Site(("fault", domain_id(t.symbol)), outside))
        return value

    def _read(self, symbol: str, index: Sequence[Node], held: Sequence[Node] | Mapping[int, Node]) -> Node:
        # An index that is UNDEFINED stands for anything: evaluation has stopped there.
        keys = product(*([v for v in x.values if v != UNDEFINED] for x in index))
        return self.graph.look_up(index, {key: held[self.layout.index(symbol, key)] for key in keys})

    # -- what terms are about --------------------------------------------------------------------

    def assignments(self, variables: tuple[T.Var, ...], env: Env) -> Iterator[dict[str, int]]:
        """``env`` with every assignment of elements to ``variables``."""
        for values in product(*(range(self._system.size(v.sort)) for v in variables)):
            yield {**env, **{v.name: value for v, value in zip(variables, values, strict=True)}}
