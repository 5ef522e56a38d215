"""A state of unknown values at a finite scope, and reading it back from a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import z3

from interlock.proofs.smt.ground import Cell, Ground, Numbers, Prop, State, Value, known_state, number_of
from interlock.proofs.smt.values import Expr
from interlock.spec.language.sorts import BOOL, INT
from interlock.spec.language.system import System, Variable


def at_scope(system: System, sizes: dict[str, int]) -> System:
    """The same transition system with other sizes."""
    return replace(system, scope={**system.scope, **sizes})


@dataclass(slots=True)
class Unknowns:
    """Makes states whose every cell is unknown, within its type and declared range."""

    ground: Ground
    context: Expr

    def state(self, name: str) -> tuple[dict[Cell, Value], list[Expr]]:
        """A state, and the constraints that make each of its cells exactly one value."""
        cells: dict[Cell, Value] = {}
        constraints: list[Expr] = []
        for cell in self.ground.cells:
            variable = self.ground.variable(cell[0])
            label = f"{name}.{cell[0]}{list(cell[1])}"
            if variable.result == BOOL:
                cells[cell] = z3.Bool(label, self.context)
                continue
            numbers = list(self.numbers(variable))
            if len(numbers) == 1:
                cells[cell] = {numbers[0]: True}
                continue
            cases = {k: z3.Bool(f"{label}={k}", self.context) for k in numbers}
            cells[cell] = cases
            constraints.append(z3.PbEq([(p, 1) for p in cases.values()], 1))
        return cells, constraints

    def numbers(self, v: Variable) -> range:
        """The values that a variable may have: of its type, or its declared range (else the scope's)."""
        if v.result != INT:
            return range(self.ground.system.size(v.result))
        low = number_of(self.ground, v.low)
        high = self.ground.system.int_max if v.high is None else number_of(self.ground, v.high)
        return range(low, high + 1)


def read(model: Expr, cells: State) -> Numbers:
    """The numbers that a model gives to cells."""

    def true(p: Prop) -> bool:
        return p if isinstance(p, bool) else z3.is_true(model.eval(p, model_completion=True))

    return {
        cell: next(k for k, p in value.items() if true(p)) if isinstance(value, dict) else int(true(value))
        for cell, value in cells.items()
    }


def shown(ground: Ground, numbers: Numbers) -> Iterator[tuple[Cell, str, str]]:
    """Cells with their name and value for people; partial functions only where they are defined."""
    system, state = ground.system, known_state(ground, numbers)
    for cell, k in numbers.items():
        v = ground.variable(cell[0])
        if v.domain is not None:
            env = {a: ground.known(a.sort, i) for a, i in zip(v.args, cell[1], strict=True)}
            if not ground.evaluate(v.domain, state, env):
                continue
        names = ", ".join(system.element(a.sort, i) for a, i in zip(v.args, cell[1], strict=True))
        value = str(k) if v.result == INT else system.element(v.result, k)
        yield cell, f"{v.name}({names})" if v.args else v.name, value
