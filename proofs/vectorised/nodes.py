"""Expressions over one packed state, as a graph in which equal expressions are one node.

A node is a truth value or a whole number. Every number knows the finite set of values that it can
have, so most of what the language says about it becomes :data:`IN`: "its value is one of these".
Building a node simplifies it; what is left is what a frontier of states must be asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Values = tuple[int, ...]
"""The possible values of a number, ascending. Truth values have (0, 1)."""

TRUTH: Values = (0, 1)
WIDEST_PRODUCT = 4096
"""Beyond so many pairs, the values of a sum are taken to be its whole range."""

CONST, SLOT, NOT, AND, OR, IN, EQ, LT, ITE, ADD, SUM, MAP = (
    "const", "slot", "not", "and", "or", "in", "eq", "lt", "ite", "add", "sum", "map",
)  # fmt: skip


class Node:
    """One expression.

    Attributes:
        op: one of the names above.
        args: its operands.
        data: the constant, the slot's number, the values of an ``in``, the sign of an ``add``, what a
            ``sum`` starts from, the entries of a ``map`` (from 0, 1, 2, …).
        boolean: a truth value, otherwise a number.
        values: what a number can be.
    """

    __slots__ = ("args", "boolean", "data", "number", "op", "values")

    def __init__(
        self, op: str, args: tuple[Node, ...], data: object, boolean: bool, values: Values, number: int
    ) -> None:
        self.op, self.args, self.data = op, args, data
        self.boolean, self.values, self.number = boolean, values, number

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.args))
        return f"{self.op}({inner}{'' if self.data is None else ' ' + str(self.data)})"

    @property
    def boolean_operands(self) -> bool:
        """Its operands are truth values."""
        return bool(self.args) and self.args[0].boolean

    @property
    def constant(self) -> int | None:
        """The value, if it is known."""
        return self.data if self.op == CONST else None  # type: ignore[return-value]


class Graph:
    """Makes nodes; the same expression is the same object."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Node] = {}
        self.true = self._node(CONST, (), 1, True, TRUTH)
        self.false = self._node(CONST, (), 0, True, TRUTH)

    def __len__(self) -> int:
        return len(self._known)

    def _node(self, op: str, args: tuple[Node, ...], data: object, boolean: bool, values: Values) -> Node:
        key = (op, data, boolean, *(a.number for a in args))
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = Node(op, args, data, boolean, values, len(self._known))
        return node

    def const(self, value: int) -> Node:
        return self._node(CONST, (), value, False, (value,))

    def truth(self, value: bool) -> Node:
        return self.true if value else self.false

    def slot(self, number: int, boolean: bool, values: Values) -> Node:
        """What a slot of the state holds. A number is stored as its position in ``values``."""
        if len(values) == 1:
            return self.truth(bool(values[0])) if boolean else self.const(values[0])
        if boolean:
            return self._node(SLOT, (), number, True, TRUTH)
        code = self._node(SLOT, (), number, False, tuple(range(len(values))))
        if values[-1] - values[0] == len(values) - 1:
            return self._shifted(code, values[0])
        return self._node(MAP, (code,), values, False, values)

    def code(self, node: Node, values: Values) -> Node:
        """The position of a number in ``values``; anything, where it is none of them."""
        if values[-1] - values[0] == len(values) - 1:
            return self._shifted(node, -values[0])
        match node.op:
            case "map" if node.data == values:
                return node.args[0]
            case "const":
                return self.const(values.index(node.values[0]) if node.values[0] in values else 0)
            case "ite":
                return self.choose(node.args[0], self.code(node.args[1], values), self.code(node.args[2], values))
        return self.look_up((node,), {(v,): self.const(i) for i, v in enumerate(values)})

    def boolean(self, node: Node) -> Node:
        """A number read as a truth value."""
        return node if node.boolean else self.not_(self.member(node, (0,)))

    def number(self, node: Node) -> Node:
        """A truth value read as 0 or 1."""
        if not node.boolean:
            return node
        return self.const(node.constant) if node.constant is not None else self._node(SUM, (node,), 0, False, TRUTH)

    # -- truth values ----------------------------------------------------------------------------

    def not_(self, a: Node) -> Node:
        if a.op == CONST:
            return self.truth(not a.data)
        if a.op == NOT:
            return a.args[0]
        if a.op == IN:
            inside = set(a.data)  # type: ignore[call-overload]
            return self.member(a.args[0], [v for v in a.args[0].values if v not in inside])
        return self._node(NOT, (a,), None, True, TRUTH)

    def and_(self, parts: Iterable[Node]) -> Node:
        return self._junction(AND, parts)

    def or_(self, parts: Iterable[Node]) -> Node:
        return self._junction(OR, parts)

    def _junction(self, op: str, parts: Iterable[Node]) -> Node:
        decides, neutral = (self.false, self.true) if op == AND else (self.true, self.false)
        kept: dict[int, Node] = {}
        member: dict[int, int] = {}
        """By the number that is tested: where its ``in`` stands in ``kept``."""
        pending = list(parts)[::-1]
        while pending:
            p = pending.pop()
            if p.op == op:
                pending.extend(reversed(p.args))
                continue
            if p.op == IN:
                x = p.args[0]
                before = member.get(x.number)
                if before is not None and before in kept:
                    old = set(kept.pop(before).data)  # type: ignore[call-overload]
                    new = set(p.data)  # type: ignore[call-overload]
                    p = self.member(x, old & new if op == AND else old | new)
                if p.op == IN:
                    member[x.number] = p.number
            if p is decides or self._opposite(p) in kept:
                return decides
            if p is not neutral:
                kept[p.number] = p
        if not kept:
            return neutral
        nodes = tuple(kept[n] for n in sorted(kept))
        return nodes[0] if len(nodes) == 1 else self._node(op, nodes, None, True, TRUTH)

    def _opposite(self, p: Node) -> int:
        """The number of the negation of ``p``, if that is a node already; else -1."""
        if p.op == NOT:
            return p.args[0].number
        known = self._known.get((NOT, None, True, p.number))
        return known.number if known is not None else -1

    def choose(self, cond: Node, then: Node, orelse: Node) -> Node:
        """``then`` where ``cond`` holds, else ``orelse``."""
        if cond.op == CONST:
            return then if cond.data else orelse
        if then.boolean != orelse.boolean:
            then, orelse = self.boolean(then), self.boolean(orelse)
        if then is orelse:
            return then
        if cond.op == NOT:
            cond, then, orelse = cond.args[0], orelse, then
        if then.boolean:
            if then is self.true or then is cond:
                return self.or_((cond, orelse))
            if orelse is self.false or orelse is cond:
                return self.and_((cond, then))
            return self.or_((self.and_((cond, then)), self.and_((self.not_(cond), orelse))))
        values = tuple(sorted({*then.values, *orelse.values}))
        return self._node(ITE, (cond, then, orelse), None, False, values)

    # -- numbers ---------------------------------------------------------------------------------

    def member(self, x: Node, wanted: Iterable[int]) -> Node:
        """``x`` is one of ``wanted``."""
        wanted = set(wanted)
        inside = tuple(v for v in x.values if v in wanted)
        if not inside:
            return self.false
        if len(inside) == len(x.values):
            return self.true
        match x.op:
            case "ite":
                return self.choose(x.args[0], self.member(x.args[1], inside), self.member(x.args[2], inside))
            case "map":
                return self.member(x.args[0], [i for i, v in enumerate(x.values) if v in wanted])
            case "add" if x.args[1].op == CONST:
                return self.member(x.args[0], [v - x.args[1].data for v in inside])  # type: ignore[operator]
            case "sum" if len(x.args) == 1:
                return self.choose(x.args[0], self.truth(x.data + 1 in wanted), self.truth(x.data in wanted))  # type: ignore[operator]
        return self._node(IN, (x,), inside, True, TRUTH)

    def equal(self, a: Node, b: Node) -> Node:
        if a.boolean or b.boolean:
            return self._same_truth(self.boolean(a), self.boolean(b))
        if a is b:
            return self.true
        if len(a.values) == 1:
            a, b = b, a
        if len(b.values) == 1:
            return self.member(a, b.values)
        for x, y in ((a, b), (b, a)):
            if x.op == ITE and all(v.op == CONST for v in x.args[1:]):
                return self.choose(x.args[0], self.equal(y, x.args[1]), self.equal(y, x.args[2]))
        if not set(a.values) & set(b.values):
            return self.false
        if a.op == b.op == MAP and a.data == b.data:
            a, b = a.args[0], b.args[0]
        return self._node(EQ, (a, b) if a.number < b.number else (b, a), None, True, TRUTH)

    def _same_truth(self, a: Node, b: Node) -> Node:
        if CONST in (a.op, b.op):
            a, b = (a, b) if a.op == CONST else (b, a)
            return b if a.data else self.not_(b)
        if NOT in (a.op, b.op):
            a, b = (a, b) if a.op == NOT else (b, a)
            return self.not_(self._same_truth(a.args[0], b))
        if a is b:
            return self.true
        return self._node(EQ, (a, b) if a.number < b.number else (b, a), None, True, TRUTH)

    def less(self, a: Node, b: Node) -> Node:
        a, b = self.number(a), self.number(b)
        if a.values[-1] < b.values[0]:
            return self.true
        if a.values[0] >= b.values[-1]:
            return self.false
        if b.op == CONST:
            return self.member(a, [v for v in a.values if v < b.values[0]])
        if a.op == CONST:
            return self.member(b, [v for v in b.values if v > a.values[0]])
        return self._node(LT, (a, b), None, True, TRUTH)

    def add(self, a: Node, b: Node, sign: int = 1) -> Node:
        """``a + sign * b``."""
        a, b = self.number(a), self.number(b)
        if a.op == CONST and b.op == CONST:
            return self.const(a.values[0] + sign * b.values[0])
        if b.op == CONST:
            return self._shifted(a, sign * b.values[0])
        if a.op == CONST and sign == 1:
            return self._shifted(b, a.values[0])
        return self._node(ADD, (a, b), sign, False, _sums(a.values, b.values, sign))

    def _shifted(self, a: Node, by: int) -> Node:
        if by == 0:
            return a
        if a.op == CONST:
            return self.const(a.values[0] + by)
        if a.op == ADD and a.args[1].op == CONST:
            return self._shifted(a.args[0], by + a.args[1].values[0])
        if a.op == ITE:
            return self.choose(a.args[0], self._shifted(a.args[1], by), self._shifted(a.args[2], by))
        return self._node(ADD, (a, self.const(by)), 1, False, tuple(v + by for v in a.values))

    def count(self, parts: Sequence[Node]) -> Node:
        """How many of ``parts`` hold."""
        known = sum(1 for p in parts if p is self.true)
        open_parts = tuple(p for p in parts if p.op != CONST)
        if not open_parts:
            return self.const(known)
        values = tuple(range(known, known + len(open_parts) + 1))
        return self._node(SUM, open_parts, known, False, values)

    def look_up(self, index: Sequence[Node], table: dict[tuple[int, ...], Node]) -> Node:
        """The entry of ``table`` at the values of ``index``; at values that are no key, any entry."""
        keys = list(table)
        result = table[keys[-1]]
        for key in reversed(keys[:-1]):
            here = self.and_(self.member(x, (v,)) for x, v in zip(index, key, strict=True))
            result = self.choose(here, table[key], result)
        return result


def _sums(a: Values, b: Values, sign: int) -> Values:
    if len(a) * len(b) > WIDEST_PRODUCT:
        low, high = (b[0], b[-1]) if sign == 1 else (-b[-1], -b[0])
        return tuple(range(a[0] + low, a[-1] + high + 1))
    return tuple(sorted({x + sign * y for x in a for y in b}))
