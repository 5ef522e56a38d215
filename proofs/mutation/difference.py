"""A mutant explored where its graph differs from that of the specification as it is.

A mutant changes one action. Up to the first state in which that action does something else, levels
are those of the baseline; from there on they are visited again, with the baseline's edges for all
other actions of known states. Levels are visited in order, so a counterexample is a shortest one.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.liveness import check_leads_to
from interlock.proofs.explorer.monitors import owner
from interlock.proofs.explorer.program import Fault, Outcome, Program, ScopeExceeded
from interlock.proofs.explorer.result import Counterexample, PathStep
from interlock.proofs.mutation.graph import MutantGraph
from interlock.proofs.mutation.mutated import Mutated, with_instances
from interlock.proofs.mutation.rests import Rests
from interlock.spec.language.properties import ActionProperty, BoundaryClause, about_steps_by

CLOCK_EVERY = 512
"""States between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one exploration goes.

    Args:
        states: that the baseline does not have.
        deadline: by ``time.perf_counter()``.
    """

    states: int
    deadline: float


@dataclass(frozen=True, slots=True)
class Kill:
    """A named property that notices, and how: ``violated``, ``unreachable`` or ``vacuous``.

    Args:
        found: the shortest counterexample, where it is violated.
    """

    property_id: str
    how: str
    found: Counterexample | None = None


@dataclass(slots=True)
class Difference:
    """What exploring a mutant in one slice came to.

    Args:
        kill: the property that noticed.
        cut: a limit ended it early.
        automatic: ranges and domains that were left, of no declared property.
    """

    kill: Kill | None = None
    cut: bool = False
    automatic: set[str] = field(default_factory=set)


class Search:
    """A breadth-first search of a mutant, from the first state that differs."""

    def __init__(self, mutated: Mutated, start: int) -> None:
        self.mutated, self.baseline = mutated, mutated.baseline
        self.limits = Limits(0, 0.0)
        self.result = Difference()
        self.size = len(self.baseline.states)
        ends = self.baseline.level_ends
        depth = next(d for d, end in enumerate(ends) if start < end)
        self.level: list[int] = list(range(ends[depth - 1] if depth else 0, ends[depth]))
        self.following: list[int] = []
        self.expanded = 0
        """How many states of the level have been expanded."""
        self.reached = bytearray(self.size)
        self.reached[: ends[depth]] = b"\1" * ends[depth]
        self.new: list[State] = []
        self.new_number: dict[State, int] = {}
        self.parent: dict[int, int | tuple[int, int]] = {}
        """The state from which one was reached, and the instance where that is no edge of the baseline."""
        self.other_edges: dict[int, array[int]] | None = {} if self.baseline.leads_to() else None
        """Edges that are not the baseline's, where a property asks for the whole graph."""
        self.met_by_steps: set[str] = set()
        """Witnesses of steps that some step that is not the baseline's meets."""
        self.enabled: set[int] = set()
        """Instances that a new state, or a state that differs, enables."""
        self.exact = not self.baseline.scope_exceeded
        """Nothing beyond the scope's bound on integers was left out."""
        self.rests = Rests(self)

    def state(self, n: int) -> State:
        """A state by number: the baseline's first, then new ones."""
        return self.baseline.states[n] if n < self.size else self.new[n - self.size]

    def run(self, limits: Limits) -> Difference:
        """Safety, what must be reachable, what must happen. Cut by a limit, it goes on when it is called again."""
        self.limits, self.result.cut = limits, False
        if not self.mutated.same_fairness:
            self._rest_with_less_fairness()
        while self.level and self.result.kill is None:
            self._expand_level()
            if self.result.kill is not None or self.result.cut:
                return self.result
        if self.exact and self.result.kill is None:
            self.result.kill = (
                self._unreachable()
                or self._no_step()
                or self._vacuous()
                or self._never_rests()
                or self._fails_to_lead()
            )
        return self.result

    def _expand_level(self) -> None:
        """Visit what the states of a level lead to; the level becomes the next one unless a limit cuts it."""
        mutated, baseline, size = self.mutated, self.baseline, self.size
        reached, parent, following = self.reached, self.parent, self.following
        edges, starts = baseline.edges, baseline.starts
        everywhere, source = not mutated.same_guard, baseline.is_source(mutated.action)
        most, deadline = self.limits.states, self.limits.deadline
        for at in range(self.expanded, len(self.level)):
            n = self.level[at]
            if len(self.new) >= most or (not at % CLOCK_EVERY and time.perf_counter() > deadline):
                self.result.cut, self.expanded = True, at
                return
            if n >= size:
                self._expand_new(n)
            else:
                if (everywhere or source[n]) and mutated.is_different(n):
                    self._expand_different(n)
                    if self.result.kill is not None:
                        return
                    continue
                for target in edges[starts[n] + 1 : starts[n + 1] : 2]:
                    if not reached[target]:
                        reached[target] = 1
                        parent[target] = n
                        following.append(target)
            if self.result.kill is not None:
                return
        self.level, self.following, self.expanded = following, [], 0

    def _rest_with_less_fairness(self) -> None:
        """Judge the states again that an action changes which was fair: its graph is the same, what may end is not."""
        for n in self.baseline.sources(self.mutated.action):
            self._rest(n)
            if self.result.kill is not None:
                return

    def _rest(self, n: int) -> None:
        """Judge a state that is not as it was, or in which something else is fair."""
        for property_id, message in self.rests.wrong(n):
            self._kill(property_id, n, message)

    def _never_rests(self) -> Kill | None:
        """A property of states at rest, of which the mutant has none, and the baseline has."""
        silent = self.rests.vacuous()
        return None if silent is None else Kill(silent, "vacuous")

    def _fails_to_lead(self) -> Kill | None:
        """A leads-to property that fails, or whose premise never comes true."""
        if self.other_edges is None:
            return None
        graph = MutantGraph(self)
        for p in self.baseline.leads_to():
            judged = check_leads_to(self.program(), graph, p)  # type: ignore[arg-type]
            if judged.counterexample is not None:
                return Kill(p.id, "violated", judged.counterexample)
            if not judged.premise_met:
                return Kill(p.id, "vacuous")
        return None

    def program(self) -> Program:
        """The baseline's program with the mutant's instances."""
        return with_instances(self.mutated)

    def path(self, n: int) -> tuple[State, tuple[PathStep, ...]]:
        """The initial state and the steps to a state."""
        steps: list[PathStep] = []
        while (known := self.parent.get(n)) is not None:
            previous, via = known if isinstance(known, tuple) else (known, self._edge(known, n))
            steps.append(PathStep(via, self.state(n)))
            n = previous
        initial, head = self.baseline.path(n)
        return initial, (*head, *reversed(steps))

    def _edge(self, n: int, target: int) -> int:
        """The instance of the baseline that leads from one state to another."""
        pairs = iter(self.baseline.edges_of(n))
        return next(via for via, t in zip(pairs, pairs, strict=True) if t == target)

    def _expand_different(self, n: int) -> None:
        """A state of the baseline in which the action does something else."""
        outcomes = self.mutated.outcomes(self.baseline.states[n])
        kept = array("i")
        first, end = self.mutated.first, self.mutated.end
        pairs = iter(self.baseline.edges_of(n))
        for via, target in zip(pairs, pairs, strict=True):
            if not first <= via < end:
                kept.append(via)
                kept.append(target)
                if not self.reached[target]:
                    self.reached[target] = 1
                    self.parent[target] = (n, via)
                    self.following.append(target)
        self._take(n, self.baseline.states[n], [(first + k, after) for k, after in outcomes], kept)

    def _expand_new(self, n: int) -> None:
        """A state that the baseline does not have."""
        state = self.new[n - self.size]
        first, end = self.mutated.first, self.mutated.end
        outcomes = [o for o in self.baseline.program.successors(state) if not first <= o[0] < end]
        outcomes += [(first + k, after) for k, after in self.mutated.outcomes(state)]
        self._take(n, state, outcomes, array("i"))

    def _take(self, n: int, state: State, outcomes: list[Outcome], edges: array[int]) -> None:
        """Follow outcomes that are not the baseline's, with every check that a search makes of them."""
        monitors, mutated = self.baseline.monitors, self.mutated
        self._rest(n)
        for via, after in outcomes:
            self.enabled.add(via)
            for property_id, check in mutated.before_checks.get(via, ()):
                if wrong := _wrong(check, state):
                    self._kill(property_id, n, wrong, via, state)
            if not isinstance(after, tuple):
                if isinstance(after, ScopeExceeded):
                    self.exact = False
                else:
                    self.result.automatic.add(after.property_id)
                continue
            for property_id, step_check in mutated.step_checks.get(via, ()):
                if wrong := _wrong(step_check, state, after):
                    self._kill(property_id, n, wrong, via, after)
            if via in mutated.sought_steps:
                self.met_by_steps.update(mutated.met_by_step(via, state, after))
            before = len(self.new)
            target = self._number(n, via, after)
            edges.append(via)
            edges.append(target)
            if len(self.new) > before and not monitors.all_hold(after):
                for property_id, message in monitors.false_ones(after):
                    self._kill(property_id, target, message)
            if self.result.kill is not None:
                return
        if self.other_edges is not None:
            self.other_edges[n] = edges

    def _number(self, n: int, via: int, after: State) -> int:
        """The number of a state, which is visited if it is seen for the first time."""
        known = self.baseline.number.get(after)
        if known is not None:
            if not self.reached[known]:
                self.reached[known] = 1
                self.parent[known] = (n, via)
                self.following.append(known)
            return known
        target = self.new_number.get(after)
        if target is None:
            target = self.size + len(self.new)
            self.new.append(after)
            self.new_number[after] = target
            self.parent[target] = (n, via)
            self.following.append(target)
        return target

    def _kill(self, property_id: str, n: int, message: str, via: int | None = None, after: State | None = None) -> None:
        if self.result.kill is None:
            initial, steps = self.path(n)
            if via is not None and after is not None:
                steps = (*steps, PathStep(via, after))
            self.result.kill = Kill(property_id, "violated", Counterexample(property_id, initial, steps, message))

    def _known_reached(self) -> Iterator[int]:
        return (n for n in range(self.size) if self.reached[n])

    def _unreachable(self) -> Kill | None:
        """A witness, or the premise of an invariant, that the baseline meets and the mutant does not."""
        everything = all(self.reached)
        for key in sorted(self.baseline.reached):
            check = self.baseline.monitors.sought[key]
            if everything or any(check(self.baseline.states[n]) for n in self._known_reached()):
                continue
            try:
                if any(map(check, self.new)):
                    continue
            except Fault as fault:
                at = next(n for n, s in enumerate(self.new, start=self.size) if _wrong(check, s, or_false=False))
                self._kill(owner(key), at, f"cannot be evaluated in the last state: {fault.message}")
                return self.result.kill
            return Kill(owner(key), "unreachable" if owner(key) == key else "vacuous")
        return None

    def _no_step(self) -> Kill | None:
        """A witness of steps that the baseline meets and the mutant does not."""
        first, end = self.mutated.first, self.mutated.end
        for key in sorted(self.baseline.met_by_steps.keys() - self.met_by_steps):
            for n, via in self.baseline.met_by_steps[key]:
                if self.reached[n] and not (first <= via < end and self.mutated.is_different(n)):
                    break
            else:
                return Kill(key, "unreachable")
        return None

    def _vacuous(self) -> Kill | None:
        """A property about steps of which the mutant has none, and the baseline has."""
        enabled = {self.mutated.instances[via].step.name for via in self.enabled}
        for p in self.baseline.system.properties:
            if isinstance(p, (ActionProperty, BoundaryClause)):
                actions = about_steps_by(p)
                if not any(self.baseline.sources(a) for a in actions) or enabled & set(actions):
                    continue
                if not any(self._still_enabled(a) for a in actions):
                    return Kill(p.id, "vacuous")
        return None

    def _still_enabled(self, action: str) -> bool:
        """Whether a state that does not differ, and is reached, has an edge by the action."""
        sources = (n for n in self.baseline.sources(action) if self.reached[n])
        if action != self.mutated.action:
            return any(True for _ in sources)
        return any(not self.mutated.is_different(n) for n in sources)


def _wrong(check: Callable[..., bool], *states: State, or_false: bool = True) -> str | None:
    """Why a check is not true of ``states``; ``None`` if it is."""
    try:
        return None if check(*states) or not or_false else "is false"
    except Fault as e:
        return f"cannot be evaluated: {e.message}"
