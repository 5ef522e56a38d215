"""What is known where a condition holds, and expressions made simpler by it.

An action's updates are read only where its guard holds, and a partial function only where what is
to its left holds. Under these facts most case distinctions and most checks of definedness vanish.
"""

from __future__ import annotations

from interlock.proofs.vectorised import nodes as N
from interlock.proofs.vectorised.nodes import Graph, Node

_CASES_MAX = 6
"""A disjunction with more parts is not split into cases."""


class Facts:
    """What follows, literal by literal, from a condition being true."""

    def __init__(self, graph: Graph, condition: Node, before: Facts | None = None) -> None:
        self._graph = graph
        self._truths: dict[int, bool] = dict(before._truths) if before else {}
        self._ranges: dict[int, frozenset[int]] = dict(before._ranges) if before else {}
        self._memo: dict[int, Node] = {}
        self.disjunctions: list[Node] = list(before.disjunctions) if before else []
        self._learn(condition, True)

    def _learn(self, node: Node, value: bool) -> None:
        if node.op == N.CONST:
            return
        if node.op == N.NOT:
            self._learn(node.args[0], not value)
            return
        self._truths[node.number] = value
        if node.op == (N.AND if value else N.OR):
            for a in node.args:
                self._learn(a, value)
        elif node.op == N.OR and value and len(node.args) <= _CASES_MAX:
            self.disjunctions.append(node)
        elif node.op == N.IN:
            x = node.args[0]
            inside = frozenset(node.data)  # type: ignore[call-overload]
            now = self._ranges.get(x.number, frozenset(x.values))
            self._ranges[x.number] = now & inside if value else now - inside

    def simplify(self, node: Node) -> Node:
        """``node`` as it may be read where the condition holds."""
        done = self._memo.get(node.number)
        if done is None:
            done = self._memo[node.number] = self._simplify(node)
        return done

    def imply(self, node: Node) -> bool:
        """The condition implies ``node``, as far as literals and one case distinction show."""
        if self.simplify(node) is self._graph.true:
            return True
        return any(
            all(Facts(self._graph, case, self).simplify(node) is self._graph.true for case in d.args)
            for d in self.disjunctions
        )

    def _simplify(self, node: Node) -> Node:
        g = self._graph
        truth = self._truths.get(node.number)
        if truth is not None:
            return g.truth(truth)
        allowed = self._ranges.get(node.number)
        if allowed is not None and len(allowed) == 1:
            return g.const(*allowed)
        if not node.args:
            return node
        args = tuple(map(self.simplify, node.args))
        if node.op == N.IN:
            return self._member(node, args[0])
        if node.op == N.EQ and not node.boolean_operands and self._disjoint(*node.args):
            return g.false
        if all(a is b for a, b in zip(args, node.args, strict=True)):
            return node
        return rebuilt(g, node, args)

    def _member(self, node: Node, x: Node) -> Node:
        inside: frozenset[int] = frozenset(node.data)  # type: ignore[call-overload]
        allowed = self._ranges.get(node.args[0].number)
        if allowed is not None:
            if allowed <= inside:
                return self._graph.true
            if not allowed & inside:
                return self._graph.false
        return node if x is node.args[0] else self._graph.member(x, inside)

    def _disjoint(self, a: Node, b: Node) -> bool:
        left = self._ranges.get(a.number, frozenset(a.values))
        return not left & self._ranges.get(b.number, frozenset(b.values))


def rebuilt(graph: Graph, node: Node, args: tuple[Node, ...]) -> Node:
    """``node`` with other operands."""
    match node.op:
        case "not":
            return graph.not_(args[0])
        case "and":
            return graph.and_(args)
        case "or":
            return graph.or_(args)
        case "in":
            return graph.member(args[0], node.data)  # type: ignore[arg-type]
        case "eq":
            return graph.equal(*args)
        case "lt":
            return graph.less(*args)
        case "ite":
            return graph.choose(*args)
        case "add":
            return graph.add(args[0], args[1], node.data)  # type: ignore[arg-type]
        case "map":
            return graph.look_up(args, {(i,): graph.const(v) for i, v in enumerate(node.values)})
        case "sum":
            return graph.add(graph.count(args), graph.const(node.data))  # type: ignore[arg-type]
    raise ValueError(f"{node.op} has no operands")
