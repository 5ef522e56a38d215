"""Formulas for any size, read at a few elements per sort: quantifiers become conjunctions and disjunctions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import z3

from interlock.proofs.smt.values import Expr, Values


class Small:
    """Unrolls z3 formulas of one encoding at stated sizes; what it has unrolled it keeps.

    Args:
        sizes: elements per uninterpreted sort, by its name.
    """

    def __init__(self, values: Values, sizes: Mapping[str, int]) -> None:
        self._values = values
        self._elements: dict[int, list[Expr]] = {}
        for name, size in sizes.items():
            self._elements[values.sort(name).get_id()] = [values.constant(f"{name}!{i}", name) for i in range(size)]
        # Holding the formula keeps its id from being given to another.
        self._known: dict[int, tuple[Expr, Expr]] = {}

    def nothing_else(self, constants: Sequence[Expr]) -> list[Expr]:
        """The elements are different ones, and all there is: constants and values of functions are among them.

        Args:
            constants: those that formulas name, of any sort: a step's parameters.
        """
        distinct = [z3.Distinct(e) for e in self._elements.values() if len(e) > 1]
        named = [*constants]
        for f in self._values.functions:
            if f.range().get_id() in self._elements:
                named += [f(*a) for a in product(*(self._members(f.domain(i)) for i in range(f.arity())))]
        sorts = ((e, self._elements.get(e.sort().get_id())) for e in named)
        return [*distinct, *(z3.Or([e == one for one in elements]) for e, elements in sorts if elements is not None)]

    def _members(self, sort: Expr) -> list[Expr]:
        """All there is of a sort: the elements, or what an enumeration has."""
        elements = self._elements.get(sort.get_id())
        if elements is not None:
            return elements
        return [sort.constructor(i)() for i in range(sort.num_constructors())]

    def unrolled(self, formula: Expr) -> Expr:
        """The formula without quantifiers over these sorts."""
        key = formula.get_id()
        if key not in self._known:
            self._known[key] = formula, self._unroll(formula)
        return self._known[key][1]

    def _unroll(self, formula: Expr) -> Expr:
        if z3.is_quantifier(formula):
            ranges = [self._elements[formula.var_sort(i).get_id()] for i in range(formula.num_vars())]
            body = formula.body()
            # Innermost last in z3, which counts bound variables from there.
            instances = [self.unrolled(z3.substitute_vars(body, *reversed(chosen))) for chosen in product(*ranges)]
            return z3.simplify(z3.And(instances) if formula.is_forall() else z3.Or(instances))
        if not z3.is_app(formula) or not formula.num_args():
            return formula
        children = formula.children()
        unrolled = [self.unrolled(c) for c in children]
        if all(new.eq(old) for new, old in zip(unrolled, children, strict=True)):
            return formula
        match formula.decl().kind():
            case z3.Z3_OP_AND:
                return z3.And(unrolled)
            case z3.Z3_OP_OR:
                return z3.Or(unrolled)
        return formula.decl()(*unrolled)
