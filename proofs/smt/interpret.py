"""Z3 expressions as Python over finite domains: what the formulas mean, without asking a solver.

This reads the very expressions that the solvers are given and shares nothing with the explorer's
compiler except the layout of a state. A quantifier is unrolled over its sort; a partial function
has some value everywhere, as it has for a solver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import z3

from interlock.proofs.explorer.layout import Layout
from interlock.proofs.smt.values import Expr

Code = int | str
"""A number that is known, or Python source that reads the tuple ``s``."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operator of an expression, read from z3 once."""

    kind: str
    children: tuple[Node, ...] = ()
    name: str = ""
    number: int = 0
    bound: tuple[str, ...] = ()
    """Sorts of the variables that a quantifier binds, outermost first."""


CountCode = Callable[[tuple[Code, ...], "Reading"], Code]


@dataclass(frozen=True, slots=True)
class Reading:
    """How symbols are read: state from a tuple, constants from a map, counts by counting.

    Args:
        constants: parameters and the like, by name.
        counts: for each count's symbol the code that counts, given its arguments.
    """

    layout: Layout
    constants: Mapping[str, Code]
    counts: Mapping[str, CountCode]
    state: str = "s"


class Reader:
    """Reads z3 expressions into nodes; shared subexpressions once."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[Expr, Node]] = {}

    def node(self, e: Expr) -> Node:
        """The node of an expression."""
        key = e.get_id()
        if key not in self._read:
            self._read[key] = (e, self._convert(e))  # holding e keeps its id from being given to another
        return self._read[key][1]

    def _convert(self, e: Expr) -> Node:
        if z3.is_quantifier(e):
            kind = "forall" if e.is_forall() else "exists"
            sorts = tuple(e.var_sort(i).name() for i in range(e.num_vars()))
            return Node(kind, (self.node(e.body()),), bound=sorts)
        if z3.is_var(e):
            return Node("bound", number=z3.get_var_index(e))
        if z3.is_int_value(e):
            return Node("number", number=e.as_long())
        declaration = e.decl()
        children = tuple(self.node(c) for c in e.children())
        kind = _KINDS.get(declaration.kind(), "")
        if kind:
            return Node(kind, children)
        if declaration.kind() == z3.Z3_OP_DT_CONSTRUCTOR:
            return Node("number", number=_member_index(e))
        if declaration.kind() == z3.Z3_OP_UNINTERPRETED:
            return Node("apply", children, name=declaration.name())
        raise NotImplementedError(f"no reading of {declaration.name()} in {e}")


def code(n: Node, reading: Reading, bound: tuple[Code, ...] = ()) -> Code:
    """Python source for a node; ``bound`` are the values of bound variables, innermost last."""
    match n.kind:
        case "number":
            return n.number
        case "bound":
            return bound[-1 - n.number]
        case "apply":
            return _apply(n.name, tuple(code(c, reading, bound) for c in n.children), reading)
        case "forall" | "exists":
            sizes = [range(reading.layout.system.size(s)) for s in n.bound]
            unrolled = (code(n.children[0], reading, (*bound, *values)) for values in product(*sizes))
            return _fold("and" if n.kind == "forall" else "or", unrolled)
        case "and" | "or":
            return _fold(n.kind, (code(c, reading, bound) for c in n.children))
        case "not":
            inner = code(n.children[0], reading, bound)
            return int(not inner) if isinstance(inner, int) else f"(not {inner})"
        case "implies":
            left = code(n.children[0], reading, bound)
            if isinstance(left, int):
                return code(n.children[1], reading, bound) if left else 1
            right = code(n.children[1], reading, bound)
            return 1 if right == 1 else f"(not {left} or {right})"
        case "if":
            condition = code(n.children[0], reading, bound)
            if isinstance(condition, int):
                return code(n.children[1 if condition else 2], reading, bound)
            then, orelse = (code(c, reading, bound) for c in n.children[1:])
            return then if then == orelse else f"({then} if {condition} else {orelse})"
    parts = [code(c, reading, bound) for c in n.children]
    return _arithmetic(n.kind, parts)


def _apply(name: str, args: tuple[Code, ...], reading: Reading) -> Code:
    if name in reading.constants:
        return reading.constants[name]
    if name in reading.counts:
        return reading.counts[name](args, reading)
    if name.startswith("size."):
        return reading.layout.system.size(name.removeprefix("size."))
    known, unknown = reading.layout.base(name), []
    for stride, a in zip(reading.layout.strides(name), args, strict=True):
        if isinstance(a, int):
            known += stride * a
        else:
            unknown.append(f"{stride} * {a}")
    return f"{reading.state}[{' + '.join([str(known), *unknown])}]"


def _fold(operator: str, parts: Any) -> Code:
    decides = operator == "or"
    kept: list[str] = []
    for p in parts:
        if isinstance(p, str):
            kept.append(p)
        elif bool(p) == decides:
            return int(decides)
    if not kept:
        return int(not decides)
    return kept[0] if len(kept) == 1 else f"({f' {operator} '.join(kept)})"


def _arithmetic(kind: str, parts: list[Code]) -> Code:
    numbers = [p for p in parts if isinstance(p, int)]
    if len(numbers) == len(parts):
        return int(_ON_NUMBERS[kind](numbers))
    if kind == "distinct":
        a, b = parts
        return f"({a} != {b})"
    return f"({f' {_SYMBOL[kind]} '.join(map(str, parts))})"


def _member_index(e: Expr) -> int:
    sort = e.sort()
    return next(i for i in range(sort.num_constructors()) if sort.constructor(i).name() == e.decl().name())


_KINDS = {
    z3.Z3_OP_TRUE: "true",
    z3.Z3_OP_FALSE: "false",
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
    z3.Z3_OP_NOT: "not",
    z3.Z3_OP_IMPLIES: "implies",
    z3.Z3_OP_ITE: "if",
    z3.Z3_OP_EQ: "equal",
    z3.Z3_OP_DISTINCT: "distinct",
    z3.Z3_OP_LE: "at-most",
    z3.Z3_OP_LT: "less",
    z3.Z3_OP_GE: "at-least",
    z3.Z3_OP_GT: "more",
    z3.Z3_OP_ADD: "add",
    z3.Z3_OP_SUB: "subtract",
}
_SYMBOL = {
    "equal": "==", "at-most": "<=", "less": "<", "at-least": ">=", "more": ">", "add": "+", "subtract": "-",
}  # fmt: skip
_ON_NUMBERS: dict[str, Callable[[list[int]], int]] = {
    "true": lambda _: 1,
    "false": lambda _: 0,
    "equal": lambda p: p[0] == p[1],
    "distinct": lambda p: p[0] != p[1],
    "at-most": lambda p: p[0] <= p[1],
    "less": lambda p: p[0] < p[1],
    "at-least": lambda p: p[0] >= p[1],
    "more": lambda p: p[0] > p[1],
    "add": sum,
    "subtract": lambda p: p[0] - sum(p[1:]),
}
