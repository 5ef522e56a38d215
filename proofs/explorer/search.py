"""Breadth-first search of all reachable states: the first violation found is a shortest one."""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.liveness import check_leads_to
from interlock.proofs.explorer.monitors import Monitors, owner
from interlock.proofs.explorer.program import Fault, Program, ScopeExceeded
from interlock.proofs.explorer.result import Counterexample, Exploration, PathStep
from interlock.proofs.explorer.verdicts import Met, verdicts
from interlock.spec.language.properties import LeadsTo
from interlock.spec.language.system import System

_ROOT = -1


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search is; reported at its start, and about ten times a second."""

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
        self.premises: set[str] = set()
        self.transitions = 0
        self.quiescent = 0
        self.depth = 0
        self.reason = ""
        self.cut = False
        """A limit was reached, or there is nothing to start from: what was found so far is all."""
        self.started = time.perf_counter()
        self._reported = -math.inf

    def run(self) -> Exploration:
        level = self._start()
        while level and not self._should_stop(len(level)):
            level = self._expand(level)
            self.depth += bool(level)
            self._forget_reached()
        if level and not self.reason:
            self.reason = "stopped at the violations that were asked for"
        exhaustive = not self.reason
        if exhaustive:
            for p in self.leads_to:
                self._judge_leads_to(p)
        return Exploration(
            program=self.program,
            states=len(self.graph.states),
            transitions=self.transitions,
            depth=self.depth,
            seconds=time.perf_counter() - self.started,
            exhaustive=exhaustive,
            reason=self.reason,
            verdicts=verdicts(
                self.program,
                Met(self.found, self.witnesses, self.enabled, self.premises, rests=bool(self.quiescent)),
                exhaustive=exhaustive,
            ),
            counterexamples=list(self.found.values()),
            never_enabled=sorted(
                {s.name for s in self.program.system.steps}
                - {self.program.instances[i].step.name for i in self.enabled}
            ),
            witnesses=self.witnesses,
            cut=self.cut,
            quiescent=self.quiescent,
        )

    def _start(self) -> list[int]:
        """The first level: the initial state, unless it is none of the system's."""
        (initial,) = self.program.initial_states()
        wrongs = self.program.initial_wrongs()
        for wrong in wrongs:
            if isinstance(wrong, ScopeExceeded):
                self._scope_exceeded(wrong)
            else:
                found = Counterexample(wrong.property_id, initial, (), wrong.message)
                self.found.setdefault(wrong.property_id, found)
        if wrongs:
            self._cut(self.reason or "the initial state is none of the system's")
            return []
        level = [self._visit(initial, _ROOT, _ROOT)]
        self._forget_reached()
        return level

    def _expand(self, level: list[int]) -> list[int]:
        graph, successors, number_of = self.graph, self.program.successors, self.graph.number
        step_checks, before_checks = self.monitors.step_checks, self.monitors.before_checks
        sought_steps = self.monitors.sought_steps
        following: list[int] = []
        for number in level:
            state = graph.states[number]
            outcomes = successors(state)
            self.transitions += len(outcomes)
            if self.monitors.rests(state, outcomes):
                self.quiescent += 1
                for property_id, message in self.monitors.false_at_rest(state):
                    self._record(property_id, number, message)
            edges = array("q")
            for via, after in outcomes:
                self.enabled.add(via)
                if via in before_checks:
                    for property_id, message in self.monitors.false_before(via, state):
                        self._record(property_id, number, message, via, state)
                if not isinstance(after, tuple):
                    self._went_wrong(number, via, after)
                    continue
                if via in step_checks:
                    for property_id, message in self.monitors.false_of_step(via, state, after):
                        self._record(property_id, number, message, via, after)
                if via in sought_steps:
                    for key in self.monitors.met_by_step(via, state, after):
                        self.witnesses.setdefault(key, self.depth + 1)
                target = number_of.get(after)
                if target is None:
                    if len(graph.states) >= self.limits.states:
                        self._cut(f"stopped at {self.limits.states:,} states: choose a smaller scope")
                        return following
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
                    self._cut(f"stopped after {self.limits.seconds:.0f} s")
                    return following
        return following

    def _visit(self, state: State, parent: int, via: int) -> int:
        number = self.graph.add(state, parent, via)
        if not self.monitors.all_hold(state):
            for property_id, message in self.monitors.false_ones(state):
                self._record(property_id, number, message)
        for key, check in self.monitors.sought.items():
            try:
                if check(state) and key not in self.witnesses:
                    self.witnesses[key] = self._depth_of(number)
            except Fault as e:
                what = "" if owner(key) == key else "its premise "
                self._record(owner(key), number, f"{what}cannot be evaluated in the last state: {e.message}")
        return number

    def _forget_reached(self) -> None:
        """Stop looking for witnesses that are reached, at the end of a level: each costs a call per state."""
        for key in [k for k in self.monitors.sought if k in self.witnesses or owner(k) in self.found]:
            del self.monitors.sought[key]
        self.monitors.forget_steps(self.witnesses)

    def _judge_leads_to(self, p: LeadsTo) -> None:
        judged = check_leads_to(self.program, self.graph, p)
        if judged.counterexample is not None:
            self.found[p.id] = judged.counterexample
        if judged.premise_met:
            self.premises.add(p.id)

    def _depth_of(self, number: int) -> int:
        depth = 0
        while self.graph.parent[number] != _ROOT:
            number, depth = self.graph.parent[number], depth + 1
        return depth

    def _went_wrong(self, number: int, via: int, wrong: Fault | ScopeExceeded) -> None:
        if isinstance(wrong, ScopeExceeded):
            self._scope_exceeded(wrong)
        else:
            self._record(wrong.property_id, number, wrong.message, via, self.graph.states[number], broken=True)

    def _scope_exceeded(self, wrong: ScopeExceeded) -> None:
        """Nothing is wrong, and the search goes on; but what lies beyond the bound is not seen."""
        self.reason = self.reason or f"the scope is too small: {wrong}"

    def _cut(self, reason: str) -> None:
        """The search ends here: levels that follow would be those of a part of the states."""
        self.reason, self.cut = reason, True

    def _record(
        self,
        property_id: str,
        number: int,
        message: str,
        via: int | None = None,
        after: State | None = None,
        broken: bool = False,
    ) -> None:
        """Keep the first counterexample of a property; levels are visited in order, so it is a shortest one."""
        if property_id in self.found:
            return
        initial, steps = self.graph.path(number)
        if via is not None and after is not None:
            steps = (*steps, PathStep(via, after))
        self.found[property_id] = Counterexample(property_id, initial, steps, message, broken=broken)

    def _should_stop(self, frontier: int) -> bool:
        self._report(frontier)
        if self.stop_at and all(i in self.found or i in self.witnesses for i in self.stop_at):
            return True
        return self.cut

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
