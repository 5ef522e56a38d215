"""Puts obligations to a solver goal by goal, each with the hypotheses that it needs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import z3

from interlock.proofs.smt.ask import DEFAULT, UNKNOWN, Answer, Solver, ask, check_z3
from interlock.proofs.smt.encode import Encoding, StepFormulas
from interlock.proofs.smt.needed import Needed, Sizes
from interlock.proofs.smt.owed import Claim, Obligation
from interlock.proofs.smt.parts import parts
from interlock.proofs.smt.values import Expr
from interlock.spec.language import terms as T

AT_ONCE_S = 0.15
"""With nothing but what the goal itself says of the state before, and as the same was proved of other actions."""
AS_BEFORE = 2
"""So many of the last choices of hypotheses for the same goal are tried first: most goals need the same again."""
CHOSEN_S = 0.4
"""With a choice of hypotheses, the first time."""
OTHERWISE: tuple[dict[str, float | bool], ...] = (
    {"qi.eager_threshold": 20.0},
    {"mbqi": False, "random_seed": 1},
    {"random_seed": 2},
    {"ematching": False},
    {"random_seed": 3},
)
"""Other ways of z3 to go about it: what one does not find in minutes, another may find at once."""
AGAIN = [(seconds, options) for seconds in (2.0, 6.0, 18.0) for options in OTHERWISE]
"""How the last choices are tried again."""
SIZE, MORE = 2, 2
"""Counterexamples to choose by have so many elements per sort, and so many more in all at most."""

Uses = tuple[str, ...] | None
"""The names of the hypotheses with which a goal was proved; ``None`` if it took all, or none is known."""


@dataclass(slots=True)
class Goals:
    """What may be assumed and what is to be shown, in small parts.

    Args:
        invariants: those that are proved together, and those that are given.
    """

    encoding: Encoding
    invariants: tuple[Claim, ...]
    _terms: dict[str, T.Term] = field(init=False, default_factory=dict)
    _formulas: dict[str, Expr] = field(init=False, default_factory=dict)
    _needed: Needed = field(init=False)
    _proved_with: dict[tuple[str, int], dict[tuple[str, ...], None]] = field(init=False, default_factory=dict)
    """By claim and goal of it, with which hypotheses it was proved of other actions, the last at the end."""

    def __post_init__(self) -> None:
        for claim in (*self.invariants, *self.encoding.ranges):
            for n, part in enumerate(parts(claim.term)):
                name = f"{claim.name}#{n}"
                self._terms[name], self._formulas[name] = part, self.encoding.formula(part)
        self._needed = Needed(self.encoding.values)

    def ask(
        self, solver: Solver, o: Obligation, timeout_s: float, known: Sequence[Uses] = (), patience: float = 1.0
    ) -> tuple[Answer, tuple[Uses, ...]]:
        """The answer to an obligation, and what each of its goals was proved with.

        Args:
            timeout_s: for all goals.
            known: what the other solver has proved each goal with.
            patience: times the time that z3 gets for each choice of hypotheses.
        """
        deadline = time.monotonic() + timeout_s
        if o.at_start:
            return ask(solver, self.encoding.values, self.encoding.query(o, self.invariants), timeout_s), ()
        uses: list[Uses] = []
        for n, goal in enumerate(parts(o.claim.term)):
            with_ = known[n] if n < len(known) else None
            before = self._proved_with.setdefault((o.claim.name, n), {})
            answer, used = self._one(solver, o, goal, deadline, with_, patience, [*before][-AS_BEFORE:])
            if answer != "proved":
                return answer, ()
            uses.append(used)
            if used:
                before.pop(used, None)
                before[used] = None
        return "proved", tuple(uses)

    def _one(
        self,
        solver: Solver,
        o: Obligation,
        goal: T.Term,
        deadline: float,
        known: Uses,
        patience: float,
        before: Sequence[tuple[str, ...]],
    ) -> tuple[Answer, Uses]:
        step = None if o.step is None else self.encoding.step(o.step)
        negated = z3.Not(self.encoding.formula(goal, step))
        params, guard = ((), ()) if step is None else (step.params, step.guard)
        fixed = [*self.encoding.sizes(), *(c.formula for c in guard if o.enabled)]
        hypotheses = {**self._formulas, **self._axioms(step)}

        def left() -> float:
            return deadline - time.monotonic()

        def formulas(names: Sequence[str]) -> list[Expr]:
            return [*fixed, *(hypotheses[n] for n in names), negated]

        if solver == "z3":
            own = [n for n in self._terms if n.partition("#")[0] == o.claim.name]
            tried = [tuple(own), *([n for n in names if n in hypotheses] for names in reversed(before))]
            near_first = self._by_nearness(goal, hypotheses)
            chosen = self._choose(near_first, fixed, params, negated, tried, deadline, patience)
            if isinstance(chosen, tuple):
                return "proved", chosen
            if chosen == "failed":
                return chosen, None
        elif known is not None and ask(solver, self.encoding.values, formulas(known), left() / 2) == "proved":
            return "proved", known
        everything = self.encoding.query(
            Obligation(Claim(o.claim.name, goal), o.step, enabled=o.enabled), self.invariants
        )
        return (ask(solver, self.encoding.values, everything, left()) if left() > 0 else UNKNOWN), None

    def _choose(
        self,
        hypotheses: Mapping[str, Expr],
        fixed: Sequence[Expr],
        params: Sequence[Expr],
        negated: Expr,
        tried: Sequence[Sequence[str]],
        by: float,
        patience: float,
    ) -> tuple[str, ...] | Answer:
        """Hypotheses with which z3 proves the goal at any size, or that it fails, or neither."""

        def said(names: Sequence[str], seconds: float, options: Mapping[str, float | bool] = DEFAULT) -> Answer:
            formulas = [*fixed, *(hypotheses[n] for n in names), negated]
            return check_z3(self.encoding.values, formulas, min(seconds * patience, by - time.monotonic()), options)

        for names in tried:
            if said(names, AT_ONCE_S) == "proved":
                return tuple(names)
        so_far = tuple(tried[0])
        answers: dict[tuple[str, ...], Answer] = {}
        for sizes in self._sizes():
            found = self._needed.choice(sizes, hypotheses, fixed, params, negated, so_far, by)
            if found == "failed":
                return found
            if isinstance(found, str):
                break
            so_far = found[1]
            for names in found:
                if names not in answers:
                    answers[names] = said(names, CHOSEN_S)
                if answers[names] == "proved":
                    return names
        open_ = [names for names, answer in answers.items() if answer == "unknown"]
        for seconds, options in AGAIN:
            for names in sorted(open_[-2:], key=len):
                if said(names, seconds, options) == "proved":
                    return names
        return UNKNOWN

    def _sizes(self) -> Iterator[Sizes]:
        """From few elements to more."""
        sorts = list(self.encoding.values.sizes)
        for more in range(MORE + 1):
            for where in combinations_with_replacement(sorts, more):
                yield tuple((s, SIZE + where.count(s)) for s in sorts)

    def _axioms(self, step: StepFormulas | None) -> dict[str, Expr]:
        return {f"count#{n}": a for n, a in enumerate(self.encoding.count_axioms(step))}

    def _by_nearness(self, goal: T.Term, hypotheses: Mapping[str, Expr]) -> dict[str, Expr]:
        """The hypotheses, those first that speak mostly of what the goal speaks of."""
        of_goal = T.symbols(goal)

        def far(name: str) -> float:
            spoken = T.symbols(self._terms[name]) if name in self._terms else of_goal
            return -len(spoken & of_goal) / max(1, len(spoken))

        return {n: hypotheses[n] for n in sorted(hypotheses, key=far)}
