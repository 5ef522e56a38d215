"""Nodes as C expressions over one state: what a CUDA thread computes for its state.

The state's words are the variables ``w0``, ``w1``, …. Truth values are ``bool``, numbers ``int`` or
``long long``.
"""

from __future__ import annotations

from interlock.proofs.vectorised import nodes as N
from interlock.proofs.vectorised.emit import Emitter
from interlock.proofs.vectorised.nodes import Node
from interlock.proofs.vectorised.packing import WORD_BITS

_INT_MAX = (1 << 31) - 1


class ScalarEmitter(Emitter):
    """Writes one ``const`` declaration per node; a declaration inside a block is used in that block only."""

    def take(self, node: Node) -> str:
        return literal(node) if node.op == N.CONST else super().take(node)

    def give(self, *nodes: Node) -> None:
        super().give(*nodes)
        self._free.clear()

    def byte(self, word: int, byte: int) -> str:
        return f"w{word}"

    def _compute(self, node: Node) -> str:
        text = self._scalar(node, [self.take(a) for a in node.args])
        self.give(*node.args)
        name = self._name()
        self.line(f"const {_type(node)} {name} = {text};")
        return name

    def _scalar(self, node: Node, x: list[str]) -> str:
        match node.op:
            case "slot":
                place = self._packing.places[node.data]  # type: ignore[call-overload]
                assert place is not None
                return f"(w{place.word} >> {place.shift}) & {(1 << place.bits) - 1}LL"
            case "not":
                return f"!{x[0]}"
            case "and":
                return " & ".join(x)
            case "or":
                return " | ".join(x)
            case "in":
                return _membership(x[0], node.args[0].values, node.data)  # type: ignore[arg-type]
            case "eq":
                return f"{x[0]} == {x[1]}"
            case "lt":
                return f"{x[0]} < {x[1]}"
            case "ite":
                return f"{x[0]} ? {x[1]} : {x[2]}"
            case "add":
                return f"{x[0]} {'+' if node.data == 1 else '-'} {x[1]}"
            case "sum":
                return " + ".join([str(node.data), *x])
            case "map":
                text = str(node.values[0])
                for i, v in enumerate(node.values[1:], start=1):
                    text = f"{x[0]} == {i} ? {v} : ({text})"
                return text
        raise ValueError(f"no expression for {node.op}")


def literal(node: Node) -> str:
    """A constant in C."""
    if node.boolean:
        return "true" if node.data else "false"
    return f"{node.data}LL" if abs(node.values[0]) > _INT_MAX else f"({node.data})"


def _type(node: Node) -> str:
    if node.boolean:
        return "bool"
    return "int" if node.values[0] >= -_INT_MAX and node.values[-1] <= _INT_MAX else "long long"


def _membership(x: str, universe: tuple[int, ...], inside: tuple[int, ...]) -> str:
    """``x in inside``, given that it is in ``universe``."""
    if len(inside) == 1:
        return f"{x} == {inside[0]}"
    if len(inside) == len(universe) - 1:
        (other,) = set(universe) - set(inside)
        return f"{x} != {other}"
    if universe[0] >= 0 and universe[-1] <= WORD_BITS:
        return f"(0x{sum(1 << v for v in inside):x}ULL >> {x}) & 1"
    if inside[-1] - inside[0] == len(inside) - 1:
        return f"{x} >= {inside[0]} & {x} <= {inside[-1]}"
    return " | ".join(f"({x} == {v})" for v in inside)
