"""The pieces of work of a proof, each a plain function of the system, in at most two processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeVar

from interlock.proofs.explorer.search import Limits, explore
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
from interlock.proofs.smt.goals import Uses
from interlock.proofs.smt.induction import Induction, invariant, invariants_of
from interlock.proofs.smt.runs import Run, find_run
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.properties import Ground, Witness
from interlock.spec.language.settings import Slice
from interlock.spec.language.system import System
from interlock.spec.language.terms import TRUE

WAKE_S = 0.2
PROCESSES = 2
AGREEMENT_SIZE = 2
STATES_MAX = 20_000
"""Of each slice in which a step is looked for."""
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
        known: Mapping[str, tuple[Uses, ...]],
        patience: float,
    ) -> list[Asked]:
        """A solver's answers to the obligations of one action or of the start."""
        return self.induction(property_id).ask(solver, place, timeout_s, deadline, only, known, patience)

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
        return {
            "no-sort-bounded": no_sort_bounded(encoding),
            "fragment": fragment(self.system),
            "start-satisfiable": start_satisfiable(encoding, invariants),
            "premise-satisfiable": premise_satisfiable(
                encoding, invariants, invariant(self.system, property_id).premise
            ),
        }

    def successor(self, property_id: str, action: str) -> Condition:
        """Whether there is a step by the action from one inductive state to another.

        A reachable step is one, because what is inductive holds in every reachable state; the explorer looks
        for it in the slices. Where it finds none, z3 is asked for a model.
        """
        for slice_ in sorted(self.system.spec.slices, key=lambda s: not s.quick):
            if slice_.default and action not in slice_.remove and self._happens(slice_, action):
                return Condition("holds", f"a reachable step in slice {slice_.name}")
        induction = self.induction(property_id)
        return action_has_successor(induction.encoding, induction.invariants, action)

    def _happens(self, slice_: Slice, action: str) -> bool:
        """Whether the explorer takes a step by the action within a few thousand states of a slice."""
        wanted = Witness(
            id="action-happens", source="see successor", doc="", slices=(slice_.name,), actions=(action,), formula=TRUE
        )
        system = elaborate(self.system.spec, self.system.switches, slice_, None, (wanted,))
        return "action-happens" in explore(system, limits=Limits(states=STATES_MAX), stop_at=[wanted.id]).witnesses

    def ground(self, property_id: str, ground: Ground) -> GroundFound:
        """What happens without a conjunct."""
        return judge_ground(self.system, property_id, self.induction(property_id).invariants, ground)

    def agreement(self, property_ids: Sequence[str]) -> Agreement:
        """Formulas against the explorer: the steps, and the invariants of all these properties."""
        scope = {s.name: AGREEMENT_SIZE for s in self.system.spec.sorts}
        at_scope = elaborate(self.system.spec, self.system.switches, WHOLE, scope)
        invariants = {c.name: c for p in property_ids for c in self.induction(p).invariants}
        return check_agreement(at_scope, tuple(invariants.values()))


_workers: list[Worker] = []


def _start(systems: tuple[System, ...]) -> None:
    """A process of the pool keeps one worker per system."""
    _workers[:] = [Worker(s) for s in systems]


def _do(number: int, method: str, args: tuple[object, ...]) -> object:
    return getattr(_workers[number], method)(*args)


class Pool:
    """Runs pieces of work on some systems in two processes; leaving it abandons what is not finished."""

    def __init__(self, systems: Sequence[System]) -> None:
        self._systems = tuple(systems)
        self._executor = ProcessPoolExecutor(
            PROCESSES, multiprocessing.get_context("spawn"), initializer=_start, initargs=(self._systems,)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)

    def desk(self, system: System, property_ids: Sequence[str]) -> Desk:
        """Where work on one of the systems, and on some properties of it, is handed in."""
        return Desk(self, self._systems.index(system), tuple(property_ids))

    def submit(self, number: int, piece: Callable[..., R], *args: object) -> Future[R]:
        """Start a method of :class:`Worker` on the system of that number."""
        future: Future[R] = self._executor.submit(_do, number, piece.__name__, args)  # type: ignore[arg-type]
        return future

    @staticmethod
    def finished(futures: Mapping[Future[R], K]) -> Iterator[tuple[K, R]]:
        """Results as they come.

        Raises:
            CancelledError: the pool was left.
        """
        left = set(futures)
        while left:
            # Looked at now and then: a future that is cancelled wakes nobody who waits for several.
            done = {f for f in left if f.done()} or wait(left, WAKE_S, FIRST_COMPLETED).done
            for f in done:
                yield futures[f], f.result()
            left -= done


class Desk:
    """Hands in work on one system of a pool."""

    def __init__(self, pool: Pool, number: int, property_ids: tuple[str, ...]) -> None:
        self._pool, self._number, self._property_ids = pool, number, property_ids
        self._agreement: Future[Agreement] | None = None

    def submit(self, piece: Callable[..., R], *args: object) -> Future[R]:
        """Start a method of :class:`Worker`."""
        return self._pool.submit(self._number, piece, *args)

    def agreement(self) -> Future[Agreement]:
        """Formulas against the explorer, for the invariants of all properties: begun when it is first asked for."""
        if self._agreement is None:
            self._agreement = self.submit(Worker.agreement, self._property_ids)
        return self._agreement
