"""One changed action in one slice, beside the baseline: where it does something else."""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.monitors import Monitors
from interlock.proofs.explorer.program import Fault, Outcome, Program
from interlock.proofs.mutation.baseline import Baseline
from interlock.proofs.mutation.classes import Classes, touched
from interlock.spec.language.elaborate import Elaborator
from interlock.spec.language.properties import ActionProperty, BoundaryClause
from interlock.spec.language.specification import Specification

AT_ONCE = 100
"""The first states, in which most mutants differ, are looked at one by one; of those after them, one per class."""


class Mutated:
    """The changed action in one slice: its instances, numbered as in the baseline, and what they do.

    Attributes:
        successors: as of a program, with numbers from 0; ``None`` if it is never enabled.
        same_guard: it is enabled exactly where it was, so only those states need be looked at.
        same: nothing has changed here but perhaps fairness.
    """

    def __init__(self, baseline: Baseline, changed: Specification, action: str, alone: Elaborator) -> None:
        """Build.

        Args:
            alone: elaborates the changed specification with this action only, for every slice.
        """
        self.baseline, self.action, self.changed = baseline, action, changed
        system = alone.system(baseline.switches, baseline.slice, baseline.scope, ())
        step = system.steps[0] if system.steps else None
        old = baseline.steps.get(action)
        known = baseline.actions.get(action)
        self.same = (step is None and old is None) or (
            step is not None
            and old is not None
            and [c.term for c in step.guard] == [c.term for c in old.guard]
            and set(step.updates) == set(old.updates)
        )
        self.same_fairness = step is None or old is None or step.action.fairness == old.action.fairness
        self.first, self.end = (known.first, known.end) if known else (len(baseline.program.instances),) * 2
        self.program = None if step is None else Program(system)
        self.successors: Callable[[State], list[Outcome]] | None = (
            None if self.program is None else self.program.successors
        )
        self.same_guard = step is None or (
            old is not None and [c.term for c in step.guard] == [c.term for c in old.guard]
        )
        self._system, self._step = system, step
        self._source = baseline.is_source(action)
        self._judged: bytearray | None = None
        """Per class, 1 if it is known to do the same there, 2 if something else."""
        monitors = baseline.monitors
        self.before_checks, self.step_checks = monitors.before_checks, monitors.step_checks
        self.sought_steps, self.met_by_step = monitors.sought_steps, monitors.met_by_step
        self.instances = baseline.program.instances
        if self.program is not None:
            mine = self.program.instances
            self.instances = [*self.instances[: self.first], *mine, *self.instances[self.end :]]
            if known is None:
                self._new_checks(self.program)

    def _new_checks(self, program: Program) -> None:
        """Of an action that the baseline rules out: its checks are compiled here."""
        about = (ActionProperty, BoundaryClause)
        named = copy.copy(program)
        checked = tuple(p for p in self.baseline.system.properties if isinstance(p, about))
        named.system = replace(program.system, properties=checked)
        monitors = Monitors(named)
        shift = self.first
        self.before_checks = {**self.before_checks, **{n + shift: c for n, c in monitors.before_checks.items()}}
        self.step_checks = {**self.step_checks, **{n + shift: c for n, c in monitors.step_checks.items()}}

    def outcomes(self, state: State) -> list[Outcome]:
        """What it does in a state, numbered from 0."""
        return [] if self.successors is None else self.successors(state)

    def differs(self, n: int, outcomes: list[Outcome]) -> bool:
        """Whether these outcomes are something else than the baseline's edges of a state."""
        if not outcomes:
            return bool(self.baseline.is_source(self.action)[n])
        edges = iter(self.baseline.edges_of(n))
        first, end = self.first, self.end
        old = [(via - first, target) for via, target in zip(edges, edges, strict=True) if first <= via < end]
        number = self.baseline.number
        new: list[tuple[int, int]] = []
        for k, after in outcomes:
            if isinstance(after, tuple):
                new.append((k, number.get(after, -1)))
            elif isinstance(after, Fault):
                return True
        return old != new

    @cached_property
    def _classes(self) -> Classes:
        """The states that neither the action as it is nor the changed one can tell apart."""
        before = self.baseline
        as_it_is, changed = touched(before.system, before.steps.get(self.action)), touched(self._system, self._step)
        return before.classes(as_it_is | changed)

    def is_different(self, n: int) -> bool:
        """Whether it does something else in a state of the baseline."""
        if n < AT_ONCE:
            return self._look(n)
        if self._judged is None:
            self._judged = bytearray(len(self._classes.first))
        which = self._classes.of[n]
        if not self._judged[which]:
            self._judged[which] = 2 if self._look(n) else 1
        return self._judged[which] == 2

    def _look(self, n: int) -> bool:
        if self.same_guard and not self._source[n]:
            return False
        outcomes = self.outcomes(self.baseline.states[n])
        return bool(outcomes or self._source[n]) and self.differs(n, outcomes)

    def first_difference(self) -> int | None:
        """The first state in which it does something else; ``None`` if the graph is the same."""
        if self.same:
            return None
        size = len(self.baseline.states)
        found = next(filter(self.is_different, range(min(AT_ONCE, size))), None)
        if found is None and size > AT_ONCE:
            # The first state of a class stands for all of it.
            first = self._classes.first
            found = next(filter(self.is_different, first[bisect_left(first, AT_ONCE) :]), None)
        return found


def with_instances(mutated: Mutated) -> Program:
    """The baseline's program with the mutant's instances, which say what is fair and how steps are called."""
    program = copy.copy(mutated.baseline.program)
    program.instances = mutated.instances
    return program
