"""The whole graph of a slice as it is, kept so that a mutant need only be explored where it differs.

States are numbered in the order of a breadth-first search, so those of one level follow one another.
Edges lie in one array: instance, target, instance, target, … A mutant changes one action, so the
other actions' edges from a state of this graph are also the mutant's.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.liveness import check_leads_to
from interlock.proofs.explorer.monitors import Monitors, owner
from interlock.proofs.explorer.program import Fault, Program
from interlock.proofs.explorer.result import PathStep
from interlock.proofs.mutation.classes import Classes, classes
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import LeadsTo
from interlock.spec.language.settings import Slice
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import Step, System

ROOT = -1
CLASSES_MAX = 3
"""Of so many sets of variables the classes are kept: mutants of one action follow one another."""


class TooLarge(Exception):
    """The graph has more states than were allowed, or took too long."""


class Broken(Exception):
    """The specification breaks a property as it is, so no mutant can be judged by it."""

    def __init__(self, property_id: str, slice_name: str) -> None:
        super().__init__(f"{property_id} fails in {slice_name} without any change")
        self.property_id, self.slice_name = property_id, slice_name


@dataclass(slots=True)
class Instances:
    """The numbers of an action's instances, and the states that have an edge by one of them."""

    first: int
    end: int
    sources: array[int] = field(default_factory=lambda: array("i"))


class Baseline:
    """A slice explored to its end.

    Attributes:
        resized: at another scope than the slice's own.
        level_ends: per depth, the number after that of its last state.
        reached: the witnesses and premises that some state meets.
        met_by_steps: per witness of steps, the states with an edge that meets it, and that edge's instance.
        at_rest: the states that no fair action can change, in ascending order, if a property asks for them.
    """

    def __init__(
        self,
        spec: Specification,
        switches: dict[str, str],
        slice_: Slice,
        scope: dict[str, int] | None = None,
        *,
        states: int,
        seconds: float,
        judged: bool = True,
    ) -> None:
        """Explore.

        Args:
            judged: check the properties on the way; else only the graph is of interest.

        Raises:
            TooLarge: more than ``states``, or it takes more than ``seconds``.
            Broken: a property fails.
        """
        self.spec, self.switches, self.slice = spec, switches, slice_
        self.system: System = elaborate(spec, switches, slice_, scope, None if judged else ())
        self.scope = self.system.scope
        self.resized = scope is not None
        self._judged = judged
        self.program = Program(self.system)
        self.monitors = Monitors(self.program)
        self.steps: dict[str, Step] = {s.name: s for s in self.system.steps}
        self.actions: dict[str, Instances] = {}
        for number, instance in enumerate(self.program.instances):
            known = self.actions.setdefault(instance.step.name, Instances(number, number))
            known.end = number + 1
        self.states: list[State] = []
        self.number: dict[State, int] = {}
        self.parent, self.via = array("i"), array("i")
        self.edges, self.starts = array("i"), array("q", [0])
        self.level_ends: list[int] = []
        self.reached: set[str] = set()
        self.met_by_steps: dict[str, list[tuple[int, int]]] = {}
        self.at_rest = array("i")
        self.scope_exceeded = False
        self._leads_to: dict[str, bool] = {}
        self._sources: dict[str, bytearray] = {}
        self._classes: dict[frozenset[str], Classes] = {}
        self._explore(states, time.perf_counter() + seconds)
        self._index_sources()

    def _explore(self, most: int, deadline: float) -> None:
        states, number, successors = self.states, self.number, self.program.successors
        monitors, edges, starts = self.monitors, self.edges, self.starts
        before_checks, step_checks = monitors.before_checks, monitors.step_checks
        sought = dict(monitors.sought)
        (initial,) = self.program.initial_states()
        for wrong in self.program.initial_wrongs():
            self._went_wrong(wrong)
        self._add(initial, ROOT, ROOT)
        begin = 0
        while begin < len(states):
            end = len(states)
            self.level_ends.append(end)
            for n in range(begin, end):
                state = states[n]
                self._look(state, sought)
                outcomes = successors(state)
                if monitors.at_rest and monitors.rests(state, outcomes):
                    self.at_rest.append(n)
                    self._refuse(monitors.false_at_rest(state))
                for via, after in outcomes:
                    if via in before_checks:
                        self._refuse(monitors.false_before(via, state))
                    if not isinstance(after, tuple):
                        self._went_wrong(after)
                        continue
                    if via in step_checks:
                        self._refuse(monitors.false_of_step(via, state, after))
                    if via in monitors.sought_steps:
                        for key in monitors.met_by_step(via, state, after):
                            self.met_by_steps.setdefault(key, []).append((n, via))
                    target = number.get(after)
                    if target is None:
                        if len(states) >= most:
                            raise TooLarge(f"more than {most:,} states in {self.slice.name}")
                        target = self._add(after, n, via)
                    edges.append(via)
                    edges.append(target)
                starts.append(len(edges))
                if not n & 1023 and time.perf_counter() > deadline:
                    raise TooLarge(f"slice {self.slice.name} takes too long")
            for key in self.reached:
                sought.pop(key, None)
            begin = end

    def _add(self, state: State, parent: int, via: int) -> int:
        number = len(self.states)
        self.number[state] = number
        self.states.append(state)
        self.parent.append(parent)
        self.via.append(via)
        if not self.monitors.all_hold(state):
            self._refuse(self.monitors.false_ones(state))
        return number

    def _look(self, state: State, sought: dict[str, Callable[[State], bool]]) -> None:
        for key, check in sought.items():
            try:
                if check(state):
                    self.reached.add(key)
            except Fault:
                raise Broken(owner(key), self.slice.name) from None

    def _refuse(self, wrong: list[tuple[str, str]]) -> None:
        if wrong:
            raise Broken(wrong[0][0], self.slice.name)

    def _went_wrong(self, wrong: Exception) -> None:
        if not isinstance(wrong, Fault):
            self.scope_exceeded = True
        elif self._judged:
            raise Broken(wrong.property_id, self.slice.name)

    def _index_sources(self) -> None:
        action_of = [i.step.name for i in self.program.instances]
        starts, edges = self.starts, self.edges
        lists = {name: a.sources for name, a in self.actions.items()}
        for n in range(len(self.states)):
            names = {action_of[via] for via in edges[starts[n] : starts[n + 1] : 2]}
            for name in names:
                lists[name].append(n)

    def sources(self, action: str) -> array[int]:
        """The states that have an edge by an action, in ascending order."""
        known = self.actions.get(action)
        return array("i") if known is None else known.sources

    def is_source(self, action: str) -> bytearray:
        """Per state, whether it has an edge by an action."""
        if action not in self._sources:
            flags = bytearray(len(self.states))
            for n in self.sources(action):
                flags[n] = 1
            self._sources[action] = flags
        return self._sources[action]

    def classes(self, symbols: frozenset[str]) -> Classes:
        """The classes of states that agree on some variables."""
        found = self._classes.get(symbols)
        if found is None:
            if len(self._classes) == CLASSES_MAX:
                del self._classes[next(iter(self._classes))]
            found = self._classes[symbols] = classes(self.program.layout, self.states, symbols)
        return found

    def edges_of(self, n: int) -> array[int]:
        """Instance, target, instance, target, … of a state."""
        return self.edges[self.starts[n] : self.starts[n + 1]]

    def path(self, number: int) -> tuple[State, tuple[PathStep, ...]]:
        """The initial state and a shortest path to a state."""
        steps: list[PathStep] = []
        while self.parent[number] != ROOT:
            steps.append(PathStep(self.via[number], self.states[number]))
            number = self.parent[number]
        return self.states[number], tuple(reversed(steps))

    def leads_to(self) -> list[LeadsTo]:
        """The leads-to properties of the slice, less those that say nothing as it is, or fail at another size only.

        Raises:
            Broken: one fails at the slice's own size.
        """
        return [p for p in self.system.properties if isinstance(p, LeadsTo) and self._holds(p)]

    def _holds(self, p: LeadsTo) -> bool:
        """Whether it says something here, judged when it is first asked for."""
        if p.id not in self._leads_to:
            judged = check_leads_to(self.program, WholeGraph(self), p)  # type: ignore[arg-type]
            fails = judged.counterexample is not None
            if fails and not self.resized:
                raise Broken(p.id, self.slice.name)
            self._leads_to[p.id] = judged.premise_met and not fails
        return self._leads_to[p.id]


class WholeGraph:
    """A baseline in the form in which leads-to properties are judged."""

    def __init__(self, baseline: Baseline) -> None:
        self._baseline = baseline
        self.states = baseline.states
        self.edges = self

    def __getitem__(self, n: int) -> array[int]:
        return self._baseline.edges_of(n)

    def path(self, number: int) -> tuple[State, tuple[PathStep, ...]]:
        """As the baseline's."""
        return self._baseline.path(number)
