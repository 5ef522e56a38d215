"""Nodes as straight-line source text over arrays: one statement per node, values dropped after their last use.

The text reads the same to numpy and to torch. Truth values are boolean arrays [N]; numbers are
int8 [N] where they fit, else int64. Case distinctions are done with masks, because ``where`` on
bytes is many times slower in numpy.
"""

from __future__ import annotations

from collections.abc import Iterable

from interlock.proofs.vectorised import nodes as N
from interlock.proofs.vectorised.nodes import Node
from interlock.proofs.vectorised.packing import Packing, Place

_BYTE_MIN, _BYTE_MAX = -128, 127


def is_wide(node: Node) -> bool:
    """It needs int64."""
    low, high = node.values[0], node.values[-1]
    return not node.boolean and (low < _BYTE_MIN or high > _BYTE_MAX or high - low > _BYTE_MAX)


class Emitter:
    """Writes the statements for nodes in the order in which they are asked for.

    Args:
        roots: every node that will be asked for, as often as it will be; so that each array can be
            let go after its last use.
    """

    def __init__(self, packing: Packing, roots: Iterable[Node], indent: str = "    ") -> None:
        self._packing, self._indent = packing, indent
        self.lines: list[str] = []
        self._uses: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._free: list[str] = []
        self._bytes: dict[tuple[int, int], str] = {}
        self._made = 0
        self._inner = ""
        for r in roots:
            self._count(r)

    def _count(self, node: Node) -> None:
        pending = [node]
        while pending:
            n = pending.pop()
            if n.op == N.CONST:
                continue
            self._uses[n.number] = self._uses.get(n.number, 0) + 1
            if self._uses[n.number] == 1:
                pending.extend(n.args)

    def line(self, text: str) -> None:
        self.lines.append(self._indent + self._inner + text)

    def indent(self, inner: str) -> None:
        """Further indentation, for a block that may be skipped."""
        self._inner = inner

    def prepare(self, roots: Iterable[Node]) -> None:
        """Compute now what the coming block needs and later text needs too, because the block may be skipped."""
        local: dict[int, int] = {}
        order: list[Node] = []
        pending = list(roots)
        while pending:
            n = pending.pop()
            if n.op == N.CONST or n.number in self._names:
                continue
            local[n.number] = local.get(n.number, 0) + 1
            if local[n.number] == 1:
                order.append(n)
                pending.extend(n.args)
        for n in order:
            if local[n.number] < self._uses[n.number] and n.number not in self._names:
                self.take(n)
        for n in order:
            # Columns of bytes are not counted: they stay.
            if n.op == N.SLOT and n.number not in self._names:
                place = self._packing.places[n.data]  # type: ignore[call-overload]
                if place is not None and place.narrow:
                    self.byte(place.word, place.byte)

    def take(self, node: Node) -> str:
        """The name of the node's array; it is good until the next call of :meth:`give`."""
        if node.op == N.CONST:
            return str(node.data) if not node.boolean else str(bool(node.data))
        name = self._names.get(node.number)
        if name is None:
            name = self._compute(node)
            self._names[node.number] = name
        return name

    def give(self, *nodes: Node) -> None:
        """One use of each node is over."""
        for node in nodes:
            if node.op == N.CONST:
                continue
            self._uses[node.number] -= 1
            if not self._uses[node.number]:
                self._free.append(self._names.pop(node.number))

    def byte(self, word: int, byte: int) -> str:
        """The name of a column of bytes of the state, int8 [N]."""
        key = (word, byte)
        if key not in self._bytes:
            self._bytes[key] = f"b{word}_{byte}"
            self.line(f"b{word}_{byte} = ops.column(words[{word}], {byte})")
        return self._bytes[key]

    def _name(self) -> str:
        if self._free:
            return self._free.pop()
        self._made += 1
        return f"t{self._made}"

    def _compute(self, node: Node) -> str:
        operands = [self.take(a) for a in node.args]
        text, more = self._expression(node, operands)
        # A single statement may overwrite its own operands; one of several may not.
        if not more:
            self.give(*node.args)
        name = self._name()
        self.line(f"{name} = {text}")
        for part in more:
            self.line(f"{name} {part}")
        if more:
            self.give(*node.args)
        return name

    def _expression(self, node: Node, x: list[str]) -> tuple[str, list[str]]:
        """The right-hand side, and what is then done to the result in place."""
        match node.op:
            case "slot":
                place = self._packing.places[node.data]  # type: ignore[call-overload]
                assert place is not None
                return self._slot(node, place), []
            case "not":
                return f"~{x[0]}", []
            case "and" | "or":
                sign = "&" if node.op == N.AND else "|"
                return f"{x[0]} {sign} {x[1]}", [f"{sign}= {name}" for name in x[2:]]
            case "in":
                return _membership(x[0], node.args[0].values, node.data), []  # type: ignore[arg-type]
            case "eq" | "lt":
                a, b = self._level(node.args, x)
                return f"{a} {'==' if node.op == N.EQ else '<'} {b}", []
            case "ite":
                return self._ite(node, x), []
            case "add":
                a, b = self._level((*node.args, node), x)
                return f"{a} {'+' if node.data == 1 else '-'} {b}", []
            case "sum":
                first, *rest = (f"ops.as_int8({name})" for name in x)
                start = f"{first} + {node.data}" if rest or node.data else f"ops.copy({first})"
                return start, [f"+= {name}" for name in rest]
            case "map":
                table = node.values
                kind = "int64" if is_wide(node) else "int8"
                parts = [f"(ops.as_{kind}({x[0]} == {i}) * {v - table[0]})" for i, v in enumerate(table) if i]
                return " + ".join([str(table[0]), *parts]), []
        raise ValueError(f"no array for {node.op}")

    def _slot(self, node: Node, place: Place) -> str:
        if not place.narrow or is_wide(node):
            text = f"(words[{place.word}] >> {place.shift}) & {(1 << place.bits) - 1}"
            return text if is_wide(node) else f"ops.narrow({text})"
        column = self.byte(place.word, place.byte)
        mask = (1 << place.bits) - 1
        if node.boolean:
            return f"({column} & {_signed(1 << place.in_byte)}) != 0"
        if not place.in_byte:
            return f"{column} & {mask}"
        return f"({column} >> {place.in_byte}) & {mask}"

    def _level(self, nodes: tuple[Node, ...], names: list[str]) -> list[str]:
        """Operands brought to one width."""
        if not any(map(is_wide, nodes)):
            return names
        return [
            name if is_wide(n) or n.op == N.CONST else f"ops.as_int64({name})"
            for n, name in zip(nodes, names, strict=False)
        ]

    def _ite(self, node: Node, x: list[str]) -> str:
        _, then, orelse = node.args
        a, b = self._level((then, orelse, node), x[1:])
        kind = "int64" if is_wide(node) else "int8"
        mask = f"-ops.as_{kind}({x[0]})"
        if then.op == orelse.op == N.CONST:
            low, difference = orelse.values[0], then.values[0] ^ orelse.values[0]
            return f"({mask} & {difference}) ^ {low}" if low else f"{mask} & {difference}"
        if b == "0":
            return f"{mask} & {a}"
        return f"(({a} ^ {b}) & {mask}) ^ {b}"


def _signed(byte: int) -> int:
    return byte - 256 if byte > _BYTE_MAX else byte


def _membership(x: str, universe: tuple[int, ...], inside: tuple[int, ...]) -> str:
    """``x in inside`` by comparisons, given that it is in ``universe``; whichever side needs fewer."""
    wanted = set(inside)
    positive, negative = _runs(universe, wanted), _runs(universe, set(universe) - wanted)
    if _cost(positive, universe) <= _cost(negative, universe):
        return " | ".join(_compare(x, run, universe) for run in positive)
    if len(negative) == 1 and negative[0][0] == negative[0][1]:
        return f"{x} != {negative[0][0]}"
    return "~(" + " | ".join(_compare(x, run, universe) for run in negative) + ")"


def _runs(universe: tuple[int, ...], wanted: set[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    open_run = False
    for v in universe:
        if v in wanted:
            runs = [*runs[:-1], (runs[-1][0], v)] if open_run else [*runs, (v, v)]
        open_run = v in wanted
    return runs


def _cost(runs: list[tuple[int, int]], universe: tuple[int, ...]) -> int:
    return sum(1 if a == b or a == universe[0] or b == universe[-1] else 3 for a, b in runs) + len(runs)


def _compare(x: str, run: tuple[int, int], universe: tuple[int, ...]) -> str:
    first, last = run
    if first == last:
        return f"({x} == {first})"
    if first == universe[0]:
        return f"({x} <= {last})"
    if last == universe[-1]:
        return f"({x} >= {first})"
    return f"(({x} >= {first}) & ({x} <= {last}))"
