"""One action instance as nodes: where it is enabled, where it goes wrong, and what it changes.

The steps are those of :mod:`interlock.proofs.explorer.program`, in the same order: guard, updates
with their range checks, then the domains of partial functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from interlock.proofs.explorer.layout import UNDEFINED
from interlock.proofs.explorer.program import Instance
from interlock.proofs.vectorised.facts import Facts
from interlock.proofs.vectorised.lower import Env, Kind, Lowering, Site, Symbolic
from interlock.proofs.vectorised.nodes import Node
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Update
from interlock.spec.language.properties import domain_id, range_id


@dataclass(slots=True)
class Successor:
    """An instance.

    Attributes:
        enabled: the guard holds and the step has a next state.
        faults: where it has none, and why; at most one of them holds of a state.
        changes: slot to its value in the next state, read where ``enabled`` holds.
        after: the next state, for properties of steps.
    """

    number: int
    enabled: Node
    faults: list[Site]
    changes: dict[int, Node]
    after: Symbolic = field(repr=False)

    def fault(self, lowering: Lowering) -> Node:
        """The step goes wrong."""
        return lowering.graph.or_(s.condition for s in self.faults)


class SuccessorCompiler:
    """Compiles instances.

    Args:
        tops: for each integer without a declared upper bound, the largest value that the layout
            holds; beyond it a ``narrow`` site says that the layout must be widened.
    """

    def __init__(self, lowering: Lowering, tops: Mapping[str, int]) -> None:
        self._lowering, self._tops = lowering, tops
        self._graph = lowering.graph
        self._layout = lowering.layout
        self._system = lowering.layout.system

    def compile(self, number: int, instance: Instance) -> Successor:
        """The instance as nodes over the base state."""
        g, low = self._graph, self._lowering
        env = {v.name: value for v, value in instance.env().items()}
        sites: list[Site] = []
        guard = T.conjunction(*(c.term for c in instance.step.guard))
        holds = low.truth(guard, env, low.base, g.true, sites)
        after = low.base.copy()
        enabled = holds
        if holds is not g.false:
            written: dict[int, Node] = {}
            for u in instance.step.updates:
                self._update(u, env, holds, after, written, sites)
            self._normalise(instance, holds, after, written, sites)
            enabled = self._without(holds, sites)
        facts = Facts(g, enabled)
        changes: dict[int, Node] = {}
        if enabled is not g.false:
            for i, node in enumerate(after.slots):
                old = low.base.slots[i]
                if node is old:
                    continue
                new = facts.simplify(node)
                if new is not facts.simplify(old):
                    changes[i] = new
        return Successor(number, enabled, self._exclusive(sites), changes, after)

    def _without(self, holds: Node, sites: list[Site]) -> Node:
        g = self._graph
        return g.and_((holds, *(g.not_(s.condition) for s in sites)))

    def _exclusive(self, sites: list[Site]) -> list[Site]:
        """Each site where no earlier one has stopped the evaluation."""
        g = self._graph
        listed: list[Site] = []
        alive = g.true
        for s in sites:
            condition = g.and_((alive, s.condition))
            alive = g.and_((alive, g.not_(s.condition)))
            if condition is not g.false:
                listed.append(Site(s.kind, condition))
        return listed

    def _update(
        self, u: Update, env: Env, path: Node, after: Symbolic, written: dict[int, Node], sites: list[Site]
    ) -> None:
        g, low = self._graph, self._lowering
        variable = self._layout.variable(u.symbol)
        for inner in low.assignments(u.over, env):
            condition = low.truth(u.when, inner, low.base, path, sites)
            if condition is g.false:
                continue
            here = g.and_((path, condition))
            # In this order, as Python has it in the plain explorer: where both are undefined, the first is named.
            value = low.expr(u.value, inner, low.base, here, sites)
            if variable.result == "int":
                self._check_range(u.symbol, g.number(value), here, sites)
            index = [g.number(low.expr(a, inner, low.base, here, sites)) for a in u.args]
            for key in product(*([v for v in x.values if v != UNDEFINED] for x in index)):
                slot = self._layout.index(u.symbol, key)
                hit = g.and_((condition, *(g.member(x, (v,)) for x, v in zip(index, key, strict=True))))
                old = after.slots[slot]
                new = g.boolean(value) if variable.result == "bool" else g.number(value)
                after.slots[slot] = g.choose(hit, new, old)
                written[slot] = g.or_((written.get(slot, g.false), hit))

    def _check_range(self, symbol: str, value: Node, path: Node, sites: list[Site]) -> None:
        v = self._layout.variable(symbol)
        low = self._bound(v.low)
        high = None if v.high is None else self._bound(v.high)
        top, int_max = self._tops.get(symbol, high), self._system.int_max
        kinds: list[tuple[Kind, list[int]]] = [(("fault", range_id(symbol)), [x for x in value.values if x < low])]
        if high is not None:
            kinds.append((("fault", range_id(symbol)), [x for x in value.values if x > high]))
        else:
            assert top is not None
            kinds.append((("scope", symbol), [x for x in value.values if x > int_max]))
            kinds.append((("narrow", symbol), [x for x in value.values if top < x <= int_max]))
        facts = Facts(self._graph, path)
        for kind, outside in kinds:
            wrong = facts.simplify(self._graph.member(value, outside))
            if wrong is not self._graph.false:
                sites.append(Site(kind, self._graph.and_((path, wrong))))

    def _bound(self, t: T.Term) -> int:
        node = self._lowering.expr(t, {}, self._lowering.base, self._graph.true, [])
        if node.constant is None:
            raise ValueError(f"a bound of a range reads the state: {t}")
        return node.constant

    def _normalise(
        self, instance: Instance, path: Node, after: Symbolic, written: dict[int, Node], sites: list[Site]
    ) -> None:
        """Partial functions that the step may change have a value exactly in their domain afterwards."""
        g, low = self._graph, self._lowering
        facts = Facts(g, path)
        changed = {u.symbol for u in instance.step.updates}
        for v in self._system.variables:
            if v.domain is None:
                continue
            if not changed & (T.symbols(v.domain) | {v.name}):
                continue
            for env in low.assignments(v.args, {}):
                slot = self._layout.index(v.name, tuple(env.values()))
                inside = facts.simplify(low.truth(v.domain, env, after, path, sites))
                given = g.and_((path, written.get(slot, g.false)))
                outside = g.and_((given, g.not_(inside)))
                if outside is not g.false:
                    sites.append(Site(("fault", domain_id(v.name)), outside))
                has_value = facts.simplify(g.or_((low.base.defined[slot], written.get(slot, g.false))))
                missing = g.and_((path, inside, g.not_(has_value)))
                if missing is not g.false:
                    sites.append(Site(("fault", domain_id(v.name)), missing))
                after.slots[slot] = g.choose(inside, after.slots[slot], self._undefined(v.name))
                after.defined[slot] = inside

    def _undefined(self, name: str) -> Node:
        if name in self._lowering.derived:
            return self._graph.const(self._lowering.values[name][0])
        return self._graph.const(UNDEFINED)
