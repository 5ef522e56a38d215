"""Asks z3 and cvc5 whether formulas have a model; both get the same text."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import cvc5
import z3

from interlock.proofs.smt.values import Expr, Values

Solver = Literal["z3", "cvc5"]
Answer = Literal["proved", "failed", "unknown"]

UNKNOWN: Answer = "unknown"
DEFAULT: Mapping[str, float | bool] = MappingProxyType({})
"""How z3 goes about it by itself."""
_ANSWERS: dict[str, Answer] = {"unsat": "proved", "sat": "failed", "unknown": "unknown"}

# What z3 proves it mostly proves at once. Where it does not, it is for instances of what the goal does not need.
_Z3_AT_ONCE_S = 3.0
_Z3_PART_S = 0.5

# Instantiation as cvc5 does it finds proofs; only finite model finding finds models.
_CVC5_STRATEGIES: tuple[dict[str, str], ...] = ({}, {"finite-model-find": "true"})


@dataclass(frozen=True, slots=True)
class Asked:
    """One answer about one obligation: ``proved`` if its negation has no model."""

    obligation: str
    place: str
    claim: str
    solver: Solver
    answer: Answer
    seconds: float
    uses: tuple[tuple[str, ...] | None, ...] = ()
    """With which hypotheses each goal of it was proved."""


def ask(solver: Solver, values: Values, formulas: Sequence[Expr], timeout_s: float) -> Answer:
    """Whether ``formulas``, an obligation negated, have a model."""
    if solver == "z3":
        return _ask_z3(values, formulas, timeout_s)
    return _ask_cvc5(smtlib(values, formulas), timeout_s)


def smtlib(values: Values, formulas: Sequence[Expr]) -> str:
    """The formulas as SMT-LIB text."""
    holder = z3.Solver(ctx=values.ctx)
    holder.add(list(formulas))
    return f"(set-logic ALL)\n{holder.to_smt2()}"


def _ask_z3(values: Values, formulas: Sequence[Expr], timeout_s: float) -> Answer:
    deadline = time.monotonic() + timeout_s
    answer = check_z3(values, formulas, min(timeout_s, _Z3_AT_ONCE_S))
    if answer != "unknown":
        return answer
    # A part without a model leaves none to the whole, and a hypothesis less can make all the difference.
    for i in range(len(formulas) - 1):
        left = (deadline - time.monotonic()) / 2
        if left <= 0:
            break
        part = [f for n, f in enumerate(formulas) if n != i]
        if check_z3(values, part, min(left, _Z3_PART_S)) == "proved":
            return "proved"
    return check_z3(values, formulas, deadline - time.monotonic())


def check_z3(
    values: Values, formulas: Sequence[Expr], timeout_s: float, options: Mapping[str, float | bool] = DEFAULT
) -> Answer:
    """One answer of z3 to the formulas as they are."""
    if timeout_s <= 0:
        return "unknown"
    solver = z3.Solver(ctx=values.ctx)
    solver.set("timeout", max(1, int(timeout_s * 1000)))
    for name, value in options.items():
        solver.set(name, value)
    solver.add(list(formulas))
    return _ANSWERS[str(solver.check())]


def _ask_cvc5(text: str, timeout_s: float) -> Answer:
    deadline = time.monotonic() + timeout_s
    for options in _CVC5_STRATEGIES:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        # The first strategy may not use up the time of the second.
        share = left if options else left / 2
        answer = _ANSWERS[_run_cvc5(text, {**options, "tlimit-per": str(max(1, int(share * 1000)))})]
        if answer != "unknown":
            return answer
    return "unknown"


def _run_cvc5(text: str, options: dict[str, str]) -> str:
    solver = cvc5.Solver()
    for name, value in options.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    symbols, said = parser.getSymbolManager(), "unknown"
    while not (command := parser.nextCommand()).isNull():
        output = str(command.invoke(solver, symbols)).strip()
        if output:
            said = output.splitlines()[-1]
    return said if said in _ANSWERS else "unknown"
