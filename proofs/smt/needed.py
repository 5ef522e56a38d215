"""Which hypotheses a goal needs: found by its counterexamples at a few elements per sort.

A solver that is given thirty quantified hypotheses spends its time on instances of those that have nothing to do with
the goal. Here a hypothesis is taken in only to rule out a counterexample: with none of them the goal has one, a
hypothesis that is false in it is added, and so on until there is none. What is left is put to the solvers at any size,
so a choice that is too small costs time and no more. (Counterexample-guided: McMillan; Clarke et al.)
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import z3

from interlock.proofs.smt.ask import UNKNOWN, Answer
from interlock.proofs.smt.small import Small
from interlock.proofs.smt.values import Expr, Values

CHECK_S = 15.0
"""Of one look for a counterexample."""

Sizes = tuple[tuple[str, int], ...]
"""How many elements each sort has."""


@dataclass(slots=True)
class Needed:
    """Chooses among hypotheses about one encoding."""

    values: Values
    _smalls: dict[Sizes, Small] = field(init=False, default_factory=dict)

    def choice(
        self,
        sizes: Sizes,
        hypotheses: Mapping[str, Expr],
        fixed: Sequence[Expr],
        constants: Sequence[Expr],
        goal: Expr,
        first: Sequence[str],
        by: float,
    ) -> tuple[tuple[str, ...], tuple[str, ...]] | Answer:
        """Names of hypotheses that leave no counterexample of these sizes: none too many, and some more.

        Args:
            hypotheses: what there is to choose from, by name; the nearest to the goal first.
            fixed: formulas that are assumed in any case.
            constants: the step's parameters.
            goal: negated, what the counterexamples satisfy.
            first: hypotheses to begin with.
            by: when to give up, by ``time.monotonic()``.

        Returns:
            ``failed`` if a counterexample satisfies all of them, and ``unknown`` if time was too short.
        """
        small = self._smalls.setdefault(sizes, Small(self.values, dict(sizes)))
        solver = z3.Solver(ctx=self.values.ctx)
        solver.add(small.nothing_else(constants))
        solver.add([small.unrolled(f) for f in (*fixed, goal)])
        marks: dict[str, Expr] = {}

        def add(name: str) -> None:
            marks[name] = z3.Bool(f"use {name}", self.values.ctx)
            solver.add(z3.Implies(marks[name], small.unrolled(hypotheses[name])))

        def answer(names: Sequence[str]) -> Expr:
            left = min(CHECK_S, by - time.monotonic())
            if left <= 0:
                return z3.unknown
            solver.set("timeout", max(1, int(left * 1000)))
            return solver.check(*(marks[n] for n in names))

        for name in first:
            add(name)
        while (said := answer(list(marks))) == z3.sat:
            model, true = solver.model(), True
            for name, hypothesis in hypotheses.items():
                if name in marks:
                    continue
                value = model.eval(small.unrolled(hypothesis), model_completion=True)
                if z3.is_false(value):
                    add(name)
                    break
                true = true and z3.is_true(value)
            else:
                # Its elements are all that there are, so it is a model of the formulas for any size.
                return "failed" if true else UNKNOWN
        if said == z3.unknown:
            return UNKNOWN
        used = {str(m) for m in solver.unsat_core()}
        few = [n for n in marks if f"use {n}" in used]
        for name in reversed(list(few)):
            rest = [n for n in few if n != name]
            if answer(rest) == z3.unsat:
                few = rest
        return tuple(few), tuple(marks)
