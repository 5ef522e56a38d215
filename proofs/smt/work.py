"""The pieces of work of a proof, each a plain function of the system, in at most two processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeVar

from interlock.proofs.smt.agreement import Agreement, check_agreement
from interlock.proofs.smt.ask import Asked, Solver
from interlock.proofs.smt.bounded import invariant_target
from interlock.proofs.smt.conditions import (
    Condition,
    GroundFound,
    action_has_successor,
    fragment,
    judge_ground,
    no_sort_bounded,
    premise_satisfiable,
    start_satisfiable,
)
from interlock.proofs.smt.cti import Cti
from interlock.proofs.smt.induction import Induction, invariant, invariants_of
from interlock.proofs.smt.runs import Run, find_run
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.properties import Ground
from interlock.spec.language.system import System

PROCESSES = 2
AGREEMENT_SIZE = 2
R = TypeVar("R")
K = TypeVar("K")


@dataclass
class Worker:
    """What one process keeps between pieces of work: the encoding of each property's induction."""

    system: System
    inductions: dict[str, Induction] = field(default_factory=dict)

    def induction(self, property_id: str) -> Induction:
        """The induction of a property with its lemmas."""
        if property_id not in self.inductions:
            self.inductions[property_id] = Induction(self.system, invariants_of(self.system, property_id))
        return self.inductions[property_id]

    def ask(
        self,
        property_id: str,
        solver: Solver,
        place: str,
        timeout_s: float,
        deadline: float,
        only: frozenset[str] | None,
    ) -> list[Asked]:
        """A solver's answers to the obligations of one action or of the start."""
        return self.induction(property_id).ask(solver, place, timeout_s, deadline, only)

    def counterexample(self, property_id: str, obligation: str) -> Cti | None:
        """Two small states for an obligation that is not proved."""
        return self.induction(property_id).counterexample(obligation)

    def run(self, property_id: str, obligations: list[str], needed: dict[str, int]) -> Run | None:
        """A shortest run that breaks the property, or one of the obligations that are not proved."""
        induction = self.induction(property_id)
        failed = [induction.named(name) for name in obligations]
        lemmas = {o.claim.name for o in failed} | {property_id}
        broken = [invariant_target(c) for c in induction.invariants if c.name in lemmas]
        owed = [o for o in failed if o.step is not None and o.claim.name.partition(":")[0] in ("range", "domain")]
        slices = invariant(self.system, property_id).slices
        actions = frozenset(o.step for o in failed if o.step is not None)
        return find_run(self.system, [*broken, *owed], actions=actions, needed=needed, slices=slices)

    def satisfiable(self, property_id: str) -> dict[str, Condition]:
        """The conditions that a model answers."""
        induction = self.induction(property_id)
        encoding, invariants = induction.encoding, induction.invariants
        found = {
            "no-sort-bounded": no_sort_bounded(encoding),
            "fragment": fragment(self.system),
            "start-satisfiable": start_satisfiable(encoding, invariants),
            "premise-satisfiable": premise_satisfiable(
                encoding, invariants, invariant(self.system, property_id).premise
            ),
        }
        for s in self.system.steps:
            found[f"has-successor:{s.name}"] = action_has_successor(encoding, invariants, s.name)
        return found

    def ground(self, property_id: str, ground: Ground) -> GroundFound:
        """What happens without a conjunct."""
        return judge_ground(self.system, property_id, self.induction(property_id).invariants, ground)

    def agreement(self, property_id: str) -> Agreement:
        """Formulas against the explorer."""
        scope = {s.name: AGREEMENT_SIZE for s in self.system.spec.sorts}
        at_scope = elaborate(self.system.spec, self.system.switches, WHOLE, scope)
        return check_agreement(at_scope, self.induction(property_id).invariants)


_worker: Worker | None = None


def _start(system: System) -> None:
    global _worker  # noqa: PLW0603 (a process of the pool has one system)
    _worker = Worker(system)


def _do(method: str, args: tuple[object, ...]) -> object:
    assert _worker is not None
    return getattr(_worker, method)(*args)


@dataclass
class Pool:
    """Runs pieces of work in two processes; leaving it abandons what is not finished."""

    system: System
    _executor: ProcessPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._executor = ProcessPoolExecutor(
            PROCESSES, multiprocessing.get_context("spawn"), initializer=_start, initargs=(self.system,)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)

    def submit(self, piece: Callable[..., R], *args: object) -> Future[R]:
        """Start a method of :class:`Worker`."""
        future: Future[R] = self._executor.submit(_do, piece.__name__, args)  # type: ignore[arg-type]
        return future

    @staticmethod
    def finished(futures: Mapping[Future[R], K]) -> Iterator[tuple[K, R]]:
        """Results as they come."""
        for f in as_completed(futures):
            yield futures[f], f.result()
