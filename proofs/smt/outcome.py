"""What a proof of one property comes to."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.proofs.smt.ask import Answer
from interlock.proofs.smt.conditions import Condition
from interlock.proofs.smt.cti import Cti
from interlock.proofs.smt.runs import Run


@dataclass(frozen=True, slots=True)
class Solvers:
    """What each solver says of all obligations together; ``None`` where it was not asked."""

    z3: Answer | None = None
    cvc5: Answer | None = None


@dataclass(slots=True)
class ProvedProperty:
    """The outcome for one property.

    Args:
        any_size: proved, and every condition under which a proof counts for any size holds.
        lemmas: the invariants with which it is inductive.
        cti: a counterexample to induction, if the proof fails.
        trace: the file of a reachable counterexample, if a folder was given for it.
        run: that counterexample.
        conditions: each condition with what was found.
        obligations, proved: how many there are, and how many every solver asked has proved.
        undecided: obligations that a solver did not decide, as ``solver: obligation``.
        disagreements: obligations that one solver proves and the other refutes.
        solver_seconds: per solver, the sum over its obligations.
    """

    status: Answer
    any_size: bool
    lemmas: list[str]
    solvers: Solvers
    cti: Cti | None = None
    trace: str | None = None
    run: Run | None = None
    conditions: dict[str, Condition] = field(default_factory=dict)
    obligations: int = 0
    proved: int = 0
    undecided: list[str] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)
    solver_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def actions(self) -> list[str]:
        """The steps of the reachable counterexample."""
        return [] if self.run is None else self.run.actions

    @property
    def not_met(self) -> dict[str, Condition]:
        """Conditions that do not hold, or are not known to."""
        return {name: c for name, c in self.conditions.items() if c.status != "holds"}
