"""Breadth-first search of all reachable states: the first violation found is a shortest one."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.liveness import check_leads_to
from interlock.proofs.explorer.monitors import Monitors
from interlock.proofs.explorer.program import Fault, Program, ScopeExceeded
from interlock.proofs.explorer.result import Counterexample, Exploration, PathStep, PropertyVerdict
from interlock.spec.language.properties import Invariant, LeadsTo, Witness
from interlock.spec.language.system import System

_ROOT = -1
_TOO_SMALL = "the scope is too small"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search is; reported about ten times a second."""

    slice: str
    depth: int
    frontier: int
    states: int
    seconds: float
    bytes: int = 0
    """Memory of the states, where the engine knows it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop short of everything; a run that stops short is inconclusive, never green.

    Args:
        memory: bytes on the device that states may take; the vectorised engine alone heeds it
            (default: most of what is free).
    """

    states: int = 3_000_000
    seconds: float = 600.0
    memory: int | None = None


class Graph:
    """The visited states in order of discovery, with the step by which each was first reached."""

    def __init__(self, keep_edges: bool) -> None:
        self.states: list[State] = []
        self.number: dict[State, int] = {}
        self.parent = array("q")
        self.via = array("q")
        self.edges: list[array[int]] | None = [] if keep_edges else None
        """Per state: instance, target, instance, target, …"""

    def add(self, state: State, parent: int, via: int) -> int:
        number = len(self.states)
        self.number[state] = number
        self.states.append(state)
        self.parent.append(parent)
        self.via.append(via)
        return number

    def path(self, number: int) -> tuple[State, tuple[PathStep, ...]]:
        """The initial state and the steps to a state."""
        steps: list[PathStep] = []
        while self.parent[number] != _ROOT:
            steps.append(PathStep(self.via[number], self.states[number]))
            number = self.parent[number]
        return self.states[number], tuple(reversed(steps))


def explore(
    system: System,
    *,
    limits: Limits = Limits(),
    progress: Callable[[Progress], None] | None = None,
    stop_at: Iterable[str] = (),
) -> Exploration:
    """Visit every reachable state of a system and judge its properties.

    Args:
        stop_at: stop as soon as each of these properties has been violated (or, for a witness,
            reached); empty means visit everything.
    """
    return _Search(system, limits, progress, frozenset(stop_at)).run()


class _Search:
    def __init__(
        self,
        system: System,
        limits: Limits,
        progress: Callable[[Progress], None] | None,
        stop_at: frozenset[str],
    ) -> None:
        self.program = Program(system)
        self.monitors = Monitors(self.program)
        self.limits, self.progress, self.stop_at = limits, progress, stop_at
        self.leads_to = [p for p in system.properties if isinstance(p, LeadsTo)]
        self.graph = Graph(keep_edges=bool(self.leads_to))
        self.found: dict[str, Counterexample] = {}
        self.witnesses: dict[str, int] = {}
        self.enabled: set[int] = set()
        self.transitions = 0
        self.depth = 0
        self.reason = ""
        self.started = time.perf_counter()
        self._reported = self.started

    def run(self) -> Exploration:
        level = [self._visit(s, _ROOT, _ROOT) for s in self.program.initial_states()]
        while level and not self._should_stop(len(level)):
            level = self._expand(level)
            self.depth += bool(level)
        if level and not self.reason:
            self.reason = "stopped at the violations that were asked for"
        exhaustive = not self.reason
        if exhaustive:
            for p in self.leads_to:
                lasso = check_leads_to(self.program, self.graph, p)
                if lasso is not None:
                    self.found[p.id] = lasso
        return Exploration(
            program=self.program,
            states=len(self.graph.states),
            transitions=self.transitions,
            depth=self.depth,
            seconds=time.perf_counter() - self.started,
            exhaustive=exhaustive,
            reason=self.reason,
            verdicts=self._verdicts(exhaustive),
            counterexamples=list(self.found.values()),
            never_enabled=sorted(
                {s.name for s in self.program.system.steps}
                - {self.program.instances[i].step.name for i in self.enabled}
            ),
            witnesses=self.witnesses,
        )

    def _expand(self, level: list[int]) -> list[int]:
        graph, successors, number_of = self.graph, self.program.successors, self.graph.number
        step_checks, before_checks = self.monitors.step_checks, self.monitors.before_checks
        following: list[int] = []
        for number in level:
            state = graph.states[number]
            outcomes = successors(state)
            self.transitions += len(outcomes)
            edges = array("q")
            for via, after in outcomes:
                self.enabled.add(via)
                if via in before_checks:
                    self._check_before(number, state, via)
                if not isinstance(after, tuple):
                    self._went_wrong(number, via, after)
                    continue
                if via in step_checks:
                    self._check_step(number, state, via, after)
                target = number_of.get(after)
                if target is None:
                    target = self._visit(after, number, via)
                    following.append(target)
                if graph.edges is not None:
                    edges.append(via)
                    edges.append(target)
            if graph.edges is not None:
                graph.edges.append(edges)
            if not number & 1023:
                self._report(len(level))
                if time.perf_counter() - self.started > self.limits.seconds:
                    self.reason = f"stopped after {self.limits.seconds:.0f} s"
                    return following
            if len(graph.states) > self.limits.states:
                self.reason = f"stopped at {self.limits.states:,} states: choose a smaller scope"
                return following
        return following

    def _visit(self, state: State, parent: int, via: int) -> int:
        number = self.graph.add(state, parent, via)
        if not self.monitors.all_hold(state):
            for property_id, message in self.monitors.false_ones(state):
                if property_id not in self.found:
                    self._record(property_id, number, message)
        # Reached witnesses leave the list: most are reached early, and each costs a call per state.
        for property_id, check in list(self.monitors.sought.items()):
            if check(state):
                self.witnesses[property_id] = self._depth_of(number)
                del self.monitors.sought[property_id]
        return number

    def _depth_of(self, number: int) -> int:
        depth = 0
        while self.graph.parent[number] != _ROOT:
            number, depth = self.graph.parent[number], depth + 1
        return depth

    def _check_before(self, number: int, state: State, via: int) -> None:
        for property_id, check in self.monitors.before_checks[via]:
            if property_id not in self.found and not check(state):
                self._record(property_id, number, "is false when the last step is taken", via, state)

    def _check_step(self, number: int, state: State, via: int, after: State) -> None:
        for property_id, check in self.monitors.step_checks[via]:
            if property_id not in self.found and not check(state, after):
                self._record(property_id, number, "is false of the last step", via, after)

    def _went_wrong(self, number: int, via: int, wrong: Fault | ScopeExceeded) -> None:
        if isinstance(wrong, ScopeExceeded):
            self.reason = self.reason or f"{_TOO_SMALL}: {wrong}"
        elif wrong.property_id not in self.found:
            state = self.graph.states[number]
            self._record(wrong.property_id, number, wrong.message, via, state, broken=True)

    def _record(
        self,
        property_id: str,
        number: int,
        message: str,
        via: int | None = None,
        after: State | None = None,
        broken: bool = False,
    ) -> None:
        initial, steps = self.graph.path(number)
        if via is not None and after is not None:
            steps = (*steps, PathStep(via, after))
        self.found[property_id] = Counterexample(property_id, initial, steps, message, broken=broken)

    def _should_stop(self, frontier: int) -> bool:
        self._report(frontier)
        if self.stop_at and all(i in self.found or i in self.witnesses for i in self.stop_at):
            return True
        return bool(self.reason) and not self.reason.startswith(_TOO_SMALL)

    def _report(self, frontier: int) -> None:
        now = time.perf_counter()
        if self.progress is not None and now - self._reported > 0.1:
            self._reported = now
            self.progress(
                Progress(
                    self.program.system.slice.name,
                    self.depth,
                    frontier,
                    len(self.graph.states),
                    now - self.started,
                )
            )

    def _verdicts(self, exhaustive: bool) -> dict[str, PropertyVerdict]:
        verdicts: dict[str, PropertyVerdict] = {}
        open_ended: PropertyVerdict = "holds" if exhaustive else "inconclusive"
        for p in self.program.system.properties:
            if p.id in self.found:
                verdicts[p.id] = "violated"
            elif isinstance(p, Witness):
                reached = p.id in self.witnesses
                verdicts[p.id] = "holds" if reached else "violated" if exhaustive else "inconclusive"
            elif isinstance(p, Invariant) and p.premise is not None and f"premise:{p.id}" not in self.witnesses:
                verdicts[p.id] = "vacuous" if exhaustive else "inconclusive"
            else:
                verdicts[p.id] = open_ended
        for property_id in self.found:
            # Range and definedness violations belong to no declared property; they are never silent.
            verdicts.setdefault(property_id, "violated")
        return verdicts
