"""The z3 sorts and constants of one encoding, in a z3 context of its own."""

from __future__ import annotations

from typing import Any

import z3

from interlock.spec.language.sorts import BOOL, INT
from interlock.spec.language.specification import Specification

Expr = Any
"""A z3 expression, declaration, sort or context; z3 ships no types."""


class Values:
    """Uninterpreted sorts of any size, and enumerations with exactly their members."""

    def __init__(self, spec: Specification) -> None:
        self.ctx: Expr = z3.Context()
        self.sizes: dict[str, Expr] = {}
        """Per uninterpreted sort the constant that is its number of elements."""
        self.functions: list[Expr] = []
        """Every function symbol that was declared."""
        self._sorts: dict[str, Expr] = {BOOL: z3.BoolSort(self.ctx), INT: z3.IntSort(self.ctx)}
        self._members: dict[tuple[str, str], Expr] = {}
        for s in spec.sorts:
            self._sorts[s.name] = z3.DeclareSort(s.name, self.ctx)
            self.sizes[s.name] = z3.Int(f"size.{s.name}", self.ctx)
        for e in spec.enums:
            # Members carry the enumeration's name: SMT-LIB knows no overloading.
            sort, constants = z3.EnumSort(e.name, [f"{e.name}.{m}" for m in e.members], self.ctx)
            self._sorts[e.name] = sort
            for m, constant in zip(e.members, constants, strict=True):
                self._members[e.name, m] = constant

    def sort(self, type_name: str) -> Expr:
        """The z3 sort of a type of the language."""
        return self._sorts[type_name]

    def member(self, enum: str, name: str) -> Expr:
        """The z3 constant of a member of an enumeration."""
        return self._members[enum, name]

    def constant(self, name: str, type_name: str) -> Expr:
        """A constant with a stated name (an action's parameter)."""
        return z3.Const(name, self._sorts[type_name])

    def fresh(self, name: str, type_name: str) -> Expr:
        """A constant that nothing else names; what quantifiers bind."""
        return z3.FreshConst(self._sorts[type_name], name)

    def declare(self, name: str, arg_types: list[str], result: str) -> Expr:
        """A function symbol (a constant's symbol without arguments)."""
        if arg_types:
            declared = z3.Function(name, *(self._sorts[a] for a in arg_types), self._sorts[result])
        else:
            declared = z3.Const(name, self._sorts[result]).decl()
        self.functions.append(declared)
        return declared

    def boolean(self, value: bool) -> Expr:
        """``true`` or ``false``."""
        return z3.BoolVal(value, self.ctx)

    def integer(self, value: int) -> Expr:
        """An integer literal, of unbounded integers."""
        return z3.IntVal(value, self.ctx)

    def conj(self, parts: list[Expr]) -> Expr:
        """The conjunction; of nothing: true."""
        kept = [p for p in parts if not z3.is_true(p)]
        return self.boolean(True) if not kept else kept[0] if len(kept) == 1 else z3.And(kept)

    def forall(self, bound: list[Expr], body: Expr) -> Expr:
        """``body`` for all values of the constants ``bound``."""
        return z3.ForAll(bound, body) if bound else body
