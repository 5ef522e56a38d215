"""Obligations that several proofs of one system have: asked by one of them, and answered for all that it fits.

A step owes its ranges and domains in every proof, and many proofs share lemmas. What a solver has proved with some
hypotheses is proved wherever these are assumed: it would be given the same formulas again.
"""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import replace
from threading import Lock

from interlock.proofs.smt.ask import Asked, Solver
from interlock.proofs.smt.induction import Induction
from interlock.proofs.smt.owed import Obligation


class Shared:
    """Who asks what, among the proofs of one system; each runs in a thread of its own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked: dict[tuple[Solver, Obligation], Future[Asked | None]] = {}

    def claim(self, solver: Solver, obligations: Collection[Obligation]) -> dict[Obligation, Future[Asked | None]]:
        """Those of the obligations that another proof is asking, or has asked; the rest are the caller's to settle."""
        with self._lock:
            others = {o: self._asked[solver, o] for o in obligations if (solver, o) in self._asked}
            self._asked.update({(solver, o): Future() for o in obligations if o not in others})
        return others

    def settle(self, solver: Solver, obligations: Collection[Obligation], answers: Collection[Asked]) -> None:
        """What came of the caller's obligations; of those without an answer, that nothing did."""
        by_name = {a.obligation: a for a in answers}
        for o in obligations:
            self._asked[solver, o].set_result(by_name.get(o.name))


def fits(asked: Asked, induction: Induction) -> bool:
    """Whether an answer that another proof has got is also one to this proof: proved with what this one assumes, too.

    Not with axioms about counts, which each encoding numbers for itself.
    """
    assumed = {c.name for c in (*induction.invariants, *induction.encoding.ranges)}
    return asked.answer == "proved" and all(
        uses is not None and all(name.rpartition("#")[0] in assumed for name in uses) for uses in asked.uses
    )


def taken(asked: Asked) -> Asked:
    """An answer as that of a proof that has not waited for it."""
    return replace(asked, seconds=0.0)
