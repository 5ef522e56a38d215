"""The proof of one property: ask, and if all is proved, what makes it count; else two states and a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeVar

from interlock.proofs.smt.agreement import Agreement
from interlock.proofs.smt.ask import Answer, Asked, Solver
from interlock.proofs.smt.conditions import Condition, GroundFound, agreement_condition, confirmed
from interlock.proofs.smt.cti import Cti
from interlock.proofs.smt.goals import Uses
from interlock.proofs.smt.induction import Induction, invariant, invariants_of
from interlock.proofs.smt.outcome import ProvedProperty, Solvers
from interlock.proofs.smt.owed import Obligation
from interlock.proofs.smt.runs import Run
from interlock.proofs.smt.shared import Shared, fits, taken
from interlock.proofs.smt.work import Desk, Pool, Worker
from interlock.spec.language.system import System

AGAIN_MAX, PATIENCE = 3, 2.5
"""Obligations without an answer that are asked again, and times the time that they get then."""

TIMEOUT_S: dict[Solver, float] = {"z3": 40.0, "cvc5": 20.0}
"""Per obligation."""
CTI_SEARCHES_MAX = 4
"""Of so many obligations that are not proved, two states are looked for."""

Report = Callable[[str, int, int], None]
R = TypeVar("R")


@dataclass(slots=True)
class Proof:
    """One property of a system, put to one or two solvers.

    Args:
        deadline: by ``time.time()``; obligations that are not asked by then are unknown.
        report: called with what is being done, how much of it is done, and how much there is.
        shared: what it has in common with other proofs of the system.
    """

    system: System
    property_id: str
    solvers: tuple[Solver, ...]
    desk: Desk
    deadline: float
    report: Report
    shared: Shared = field(default_factory=Shared)
    induction: Induction = field(init=False)
    answers: dict[str, dict[Solver, Asked]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.induction = Induction(self.system, invariants_of(self.system, self.property_id))

    def outcome(self) -> ProvedProperty:
        """Everything that is to be said about the property."""
        first, *others = self.solvers
        self._ask(first, None)
        self._ask_again(first)
        if unproved := self._unproved():
            found = self._two_states(unproved)
            for s in others:
                self._ask(s, frozenset(unproved))
            outcome = self._outcome(refuted=found is not None)
            if found is not None:
                outcome.cti, outcome.run = found
            return outcome
        conditions = self._start_conditions()
        for s in others:
            self._ask(s, None)
            self._ask_again(s)
        return self._outcome(conditions=self._finish(conditions))

    def _ask_again(self, solver: Solver) -> None:
        """A few that got no answer, with more time: on a busy machine a solver gets less done in the same time."""
        said = {name: by[solver].answer for name, by in self.answers.items() if solver in by}
        unknown = [name for name, answer in said.items() if answer == "unknown"]
        if 0 < len(unknown) <= AGAIN_MAX and "failed" not in said.values():
            self._ask(solver, frozenset(unknown), PATIENCE)

    def _ask(self, solver: Solver, only: frozenset[str] | None, patience: float = 1.0) -> None:
        """Ask about all obligations, or those named, but those that another proof of the system has proved for this."""
        wanted = [o for o in self.induction.obligations if only is None or o.name in only]
        others = self.shared.claim(solver, wanted)
        mine = [o for o in wanted if o not in others]
        try:
            self._ask_solver(solver, mine, patience)
        finally:
            # Also if it is interrupted: other proofs wait for this one's answers, and it for none before here.
            self.shared.settle(solver, mine, [self.answers[o.name][solver] for o in mine if self._has(solver, o)])
        open_: list[Obligation] = []
        for o, answer in others.items():
            asked = answer.result()
            if asked is not None and fits(asked, self.induction):
                self.answers.setdefault(o.name, {})[solver] = taken(asked)
            else:
                open_.append(o)
        self._ask_solver(solver, open_, patience)

    def _has(self, solver: Solver, o: Obligation) -> bool:
        return solver in self.answers.get(o.name, {})

    def _ask_solver(self, solver: Solver, wanted: Sequence[Obligation], patience: float) -> None:
        only = frozenset(o.name for o in wanted)
        places = dict.fromkeys(o.place for o in wanted)
        timeout = TIMEOUT_S[solver] * patience
        known = {name: a.uses for name, by in self.answers.items() for a in by.values() if a.uses}
        of_place: dict[str, dict[str, tuple[Uses, ...]]] = {p: {} for p in places}
        for o in wanted:
            if o.name in known:
                of_place[o.place][o.name] = known[o.name]
        futures = {
            self.desk.submit(
                Worker.ask, self.property_id, solver, p, timeout, self.deadline, only, of_place[p], patience
            ): p
            for p in places
        }
        for done, (place, asked) in enumerate(Pool.finished(futures), start=1):
            for a in asked:
                self.answers.setdefault(a.obligation, {})[solver] = a
            self.report(f"{self.property_id}: {solver} {place}", done, len(places))

    def _unproved(self) -> list[str]:
        """Obligations without a proof: about the property itself first, refuted ones before unknown ones."""
        # In the order of obligations: answers come in the order in which two processes are done.
        names = [
            o.name
            for o in self.induction.obligations
            if any(a.answer != "proved" for a in self.answers.get(o.name, {}).values())
        ]

        def rank(name: str) -> tuple[bool, bool]:
            asked = next(iter(self.answers[name].values()))
            return asked.answer != "failed", asked.claim != self.property_id

        return sorted(names, key=rank)

    def _two_states(self, unproved: list[str]) -> tuple[Cti, Run | None] | None:
        """A counterexample to induction of the first obligation that has one, and a run if there is one."""
        tried = unproved[:CTI_SEARCHES_MAX]
        self.report(f"{self.property_id}: two states for {tried[0]}", 0, 2)
        searches = [self.desk.submit(Worker.counterexample, self.property_id, name) for name in tried]
        found = {name: cti for name, s in zip(tried, searches, strict=True) if (cti := s.result()) is not None}
        if not found:
            return None
        self.report(f"{self.property_id}: a run to {next(iter(found))}", 1, 2)
        needed = {sort: max(c.scope[sort] for c in found.values()) for sort in next(iter(found.values())).scope}
        return next(iter(found.values())), self.desk.submit(Worker.run, self.property_id, list(found), needed).result()

    def _start_conditions(self) -> _Conditions:
        grounds = invariant(self.system, self.property_id).grounds
        return _Conditions(
            self.desk.agreement(),
            [self.desk.submit(Worker.ground, self.property_id, g) for g in grounds],
            self.desk.submit(Worker.satisfiable, self.property_id),
        )

    def _finish(self, started: _Conditions) -> dict[str, Condition]:
        """All conditions, as soon as they are known."""
        self.report(f"{self.property_id}: what makes the proof count for any size", 0, 1)
        found = dict(started.satisfiable.result())
        for g in started.grounds:
            ground: GroundFound = g.result()
            found[f"ground:{ground.ground.action}/{ground.ground.conjunct}"] = ground.condition()
        if not started.grounds:
            found["grounds"] = Condition("fails", "the proof names no conjunct of a guard that it rests on")
        agreement: Agreement = started.agreement.result()
        sizes = ", ".join(f"{sort}={n}" for sort, n in agreement.scope.items())
        seen = Condition("holds", f"a step of the states compared, at {sizes}")
        actions = [s.name for s in self.system.steps]
        # Where the states compared have no such step, z3 is asked for one.
        asked = {
            a: self.desk.submit(Worker.successor, self.property_id, a) for a in actions if a not in agreement.inductive
        }
        for a in actions:
            found[f"has-successor:{a}"] = asked[a].result() if a in asked else seen
        found["agreement"] = agreement_condition(agreement)
        return found

    def _outcome(self, refuted: bool = False, conditions: dict[str, Condition] | None = None) -> ProvedProperty:
        said = {s: self._said_by(s) for s in self.solvers}
        status: Answer = "unknown"
        if refuted or "failed" in said.values():
            status = "failed"
        elif said[self.solvers[0]] == "proved":
            status = "proved"
        conditions = conditions or {}
        if status == "proved":
            conditions = {"second-solver": confirmed(said), **conditions}
        answers = self.answers.items()
        return ProvedProperty(
            status=status,
            any_size=status == "proved" and all(c.status == "holds" for c in conditions.values()),
            lemmas=[c.name for c in self.induction.invariants[1:]],
            solvers=Solvers(**said),
            conditions=conditions,
            obligations=len(self.answers),
            proved=sum(all(a.answer == "proved" for a in by.values()) for _, by in answers),
            undecided=[f"{s}: {n}" for n, by in answers for s, a in by.items() if a.answer == "unknown"],
            disagreements=[n for n, by in answers if {"proved", "failed"} <= {a.answer for a in by.values()}],
            solver_seconds={s: round(sum(by[s].seconds for _, by in answers if s in by), 3) for s in self.solvers},
        )

    def _said_by(self, solver: Solver) -> Answer:
        """Failed if any obligation fails; proved only if every one was asked and proved."""
        asked = [by[solver].answer for by in self.answers.values() if solver in by]
        if "failed" in asked:
            return "failed"
        return "proved" if len(asked) == len(self.answers) and "unknown" not in asked else "unknown"


@dataclass(frozen=True, slots=True)
class _Conditions:
    """Conditions that are being looked at."""

    agreement: Future[Agreement]
    grounds: list[Future[GroundFound]]
    satisfiable: Future[dict[str, Condition]]
