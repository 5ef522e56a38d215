"""Leads-to under fairness, on the explored graph: a violation is a fair lasso.

A cycle is fair if every weakly fair action instance is taken on it or disabled somewhere on it, and
every strongly fair one is taken or disabled everywhere. Standing still is a cycle too: an action
that is not fair need never happen. For weak fairness it is enough to look at a
maximal strongly connected component: an instance that is enabled everywhere and taken nowhere in it
is so in every part of it. For strong fairness, states in which the neglected instance is enabled
are taken out and what is left is decomposed again (Emerson and Lei's way with Streett conditions).
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.program import Fault, Program
from interlock.proofs.explorer.result import Counterexample, PathStep
from interlock.spec.language.actions import Fairness
from interlock.spec.language.properties import LeadsTo
from interlock.spec.language.terms import Var

if TYPE_CHECKING:
    from interlock.proofs.explorer.search import Graph


@dataclass(frozen=True, slots=True)
class LeadsToFound:
    """What was found of one property.

    Args:
        counterexample: a fair lasso that visits the premise and then never the conclusion, or a path
            to a state in which one of the two cannot be evaluated; ``None`` if there is neither.
        premise_met: the premise is true in some state; otherwise the property says nothing.
    """

    counterexample: Counterexample | None
    premise_met: bool


def check_leads_to(program: Program, graph: Graph, p: LeadsTo) -> LeadsToFound:
    """Judge a property on the whole graph. The conclusion need be defined only from a premise on."""
    met = False
    for env in _representatives(program, p.vars):
        search = _Lassos(program, graph, p, env)
        try:
            found = search.find()
        except _Undefined as undefined:
            found = undefined.counterexample
        met |= search.premise_met
        if found is not None:
            return LeadsToFound(found, met)
    return LeadsToFound(None, met)


def _representatives(program: Program, variables: tuple[Var, ...]) -> Iterator[dict[Var, int]]:
    """Assignments up to renaming elements."""
    for values in product(*(range(program.system.size(v.sort)) for v in variables)):
        if program.system.is_canonical(variables, values):
            yield dict(zip(variables, values, strict=True))


class _Undefined(Exception):
    """The premise or the conclusion reads outside a domain."""

    def __init__(self, counterexample: Counterexample) -> None:
        super().__init__(counterexample.message)
        self.counterexample = counterexample


class _Lassos:
    """The search for a lasso at one assignment of the property's variables."""

    def __init__(self, program: Program, graph: Graph, p: LeadsTo, env: dict[Var, int]) -> None:
        self._program, self._graph, self._property = program, graph, p
        self._premise, self._conclusion = program.predicate(p.premise, env), program.predicate(p.conclusion, env)
        self._open: dict[int, bool] = {}
        self._region: dict[int, tuple[int, int]] = {}
        """States after a premise and before a conclusion, with how each was first reached from one."""
        self.premise_met = False

    def find(self) -> Counterexample | None:
        """A fair lasso, if there is one.

        Raises:
            _Undefined: with a path to where a formula cannot be evaluated.
        """
        graph = self._graph
        assert graph.edges is not None
        for state in range(len(graph.states)):
            if self._true(self._premise, "premise", state, None):
                self.premise_met = True
                if self._is_open(state, None):
                    self._region[state] = (-1, -1)
        queue = deque(self._region)
        while queue:
            state = queue.popleft()
            for via, target in _pairs(graph.edges[state]):
                if target not in self._region and self._is_open(target, (state, via)):
                    self._region[target] = (state, via)
                    queue.append(target)
        fairness = _Fairness(self._program)
        pending: list[Iterable[int]] = [self._region]
        while pending:
            for component in _components(graph, set(pending.pop())):
                inside = set(component)
                judged = fairness.judge(graph, component, inside)
                if isinstance(judged, set):
                    if judged:
                        pending.append(judged)
                    continue
                cycle = _cycle(graph, component, inside, judged)
                message = "the cycle can be repeated for ever" if cycle else "nothing has to happen any more"
                initial, stem = self._stem(component[0])
                return Counterexample(self._property.id, initial, (*stem, *cycle), message, loop_from=len(stem))
        return None

    def _is_open(self, state: int, reached: tuple[int, int] | None) -> bool:
        if state not in self._open:
            self._open[state] = not self._true(self._conclusion, "conclusion", state, reached)
        return self._open[state]

    def _true(self, check: Callable[[State], bool], part: str, state: int, reached: tuple[int, int] | None) -> bool:
        """Whether a part of the property is true; ``reached``: from which state of the region, if from one."""
        try:
            return check(self._graph.states[state])
        except Fault as fault:
            message = f"its {part} cannot be evaluated in the last state: {fault.message}"
            if reached is None:
                initial, path = self._graph.path(state)
            else:
                initial, stem = self._stem(reached[0])
                path = (*stem, PathStep(reached[1], self._graph.states[state]))
            raise _Undefined(Counterexample(self._property.id, initial, path, message)) from None

    def _stem(self, state: int) -> tuple[State, tuple[PathStep, ...]]:
        """The initial state and the steps to a state of the region, by way of a premise."""
        tail: list[PathStep] = []
        while self._region[state][0] != -1:
            previous, via = self._region[state]
            tail.append(PathStep(via, self._graph.states[state]))
            state = previous
        initial, head = self._graph.path(state)
        return initial, (*head, *reversed(tail))


def _pairs(edges: array[int]) -> Iterator[tuple[int, int]]:
    it = iter(edges)
    return zip(it, it, strict=True)


Reason = tuple[str, int, int]
"""("state", s, instance): instance is disabled in s; or ("edge", s, instance): it is taken from s."""


class _Fairness:
    """The fair instances of a program, and whether a component can be run for ever under them."""

    def __init__(self, program: Program) -> None:
        self._weak, self._strong = (
            [i for i, instance in enumerate(program.instances) if instance.step.action.fairness is kind]
            for kind in (Fairness.WEAK, Fairness.STRONG)
        )
        self._fair = frozenset((*self._weak, *self._strong))

    def judge(self, graph: Graph, component: list[int], inside: set[int]) -> list[Reason] | set[int]:
        """Reasons why the component is fair; else the states of it that may still be (perhaps none)."""
        assert graph.edges is not None
        if len(component) == 1:
            # Most are a single state without a step to itself: what is fair and enabled there is not taken.
            edges = graph.edges[component[0]]
            if component[0] not in edges[1::2] and not self._fair.isdisjoint(edges[::2]):
                return set()
        taken: dict[int, int] = {}
        enabled_in: dict[int, set[int]] = {}
        for state in component:
            for via, target in _pairs(graph.edges[state]):
                enabled_in.setdefault(via, set()).add(state)
                if target in inside:
                    taken.setdefault(via, state)
        reasons: list[Reason] = [("edge", taken[i], i) for i in (*self._weak, *self._strong) if i in taken]
        for i in self._weak:
            if i not in taken:
                disabled = next((s for s in component if s not in enabled_in.get(i, ())), None)
                if disabled is None:
                    return set()
                reasons.append(("state", disabled, i))
        neglected = [enabled_in[i] for i in self._strong if i not in taken and i in enabled_in]
        return inside.difference(*neglected) if neglected else reasons


def _cycle(graph: Graph, component: list[int], inside: set[int], reasons: list[Reason]) -> tuple[PathStep, ...]:
    """A closed walk from the component's first state that visits every reason."""
    assert graph.edges is not None
    here, walk = component[0], []
    for kind, state, instance in reasons:
        walk += _walk(graph, here, state, inside)
        here = state
        if kind == "edge":
            target = next(t for via, t in _pairs(graph.edges[state]) if via == instance and t in inside)
            walk.append((instance, target))
            here = target
    walk += _walk(graph, here, component[0], inside)
    return tuple(PathStep(via, graph.states[target]) for via, target in walk)


def _walk(graph: Graph, start: int, goal: int, inside: set[int]) -> list[tuple[int, int]]:
    """A shortest path inside the component as (instance, target) pairs."""
    assert graph.edges is not None
    if start == goal:
        return []
    came: dict[int, tuple[int, int]] = {start: (-1, -1)}
    queue = deque([start])
    while goal not in came:
        state = queue.popleft()
        for via, target in _pairs(graph.edges[state]):
            if target in inside and target not in came:
                came[target] = (state, via)
                queue.append(target)
    steps: list[tuple[int, int]] = []
    while goal != start:
        state, via = came[goal]
        steps.append((via, goal))
        goal = state
    return steps[::-1]


def _components(graph: Graph, region: set[int]) -> Iterator[list[int]]:
    """Strongly connected components of the region (Tarjan, without recursion)."""
    assert graph.edges is not None
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    for root in region:
        if root in index:
            continue
        work: list[tuple[int, Iterator[tuple[int, int]]]] = [(root, _pairs(graph.edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            state, edges = work[-1]
            advanced = False
            for _, target in edges:
                if target not in region:
                    continue
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, _pairs(graph.edges[target])))
                    advanced = True
                    break
                if target in on_stack:
                    low[state] = min(low[state], index[target])
            if advanced:
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[state])
            if low[state] == index[state]:
                component: list[int] = []
                while True:
                    member = stack.pop()
                    on_stack.discard(member)
                    component.append(member)
                    if member == state:
                        break
                yield component
