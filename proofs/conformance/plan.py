"""Traces that cover the edges of an observed graph: few, each from the initial view, none needlessly long.

A greedy form of the Chinese postman's tour: from where a trace is, a shortest path to the nearest edge whose
class is uncovered, again and again. Traces are planned one by one, because an implementation may decide
otherwise than a trace hopes: what it was asked for in vain, no later trace passes through.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from random import Random
from typing import NamedTuple

from interlock.proofs.conformance import order
from interlock.proofs.conformance.observed import Label, ObservedGraph


class Step(NamedTuple):
    """One event of a planned trace, and the view that it starts at."""

    view: int
    label: Label


class Move(NamedTuple):
    """An edge at a node: a view of the graph, and how far the schedule() at hand has been told."""

    label: Label
    kind: int
    target: int


START = 0
"""The node of the initial view."""


class Planner:
    """Plans over what is still uncovered and has not been refused.

    Args:
        attempts: how often an edge may be asked for in vain, before no trace asks for it again.
        length: events after which a trace is not extended; it ends with the schedule() that it is in.
        never: events that no trace may have.

    Attributes:
        told: the classes that some trace in the boundary's order has.
        covered: the classes seen so far.
    """

    def __init__(
        self, graph: ObservedGraph, attempts: int = 1, length: int = 60, never: frozenset[str] = frozenset()
    ) -> None:
        self.graph = graph
        self._attempts, self._length = attempts, length
        self._view: list[int] = []
        self._whole: list[bool] = []
        self._moves: list[list[Move]] = []
        self._build()
        self._nodes: dict[int, list[int]] = {}
        for node, view in enumerate(self._view):
            self._nodes.setdefault(view, []).append(node)
        self._asked: dict[Step, int] = {}
        self.covered: set[int] = set()
        self.told = self.still_reachable()
        for node in range(len(self._moves)):
            self._leave_out(node, lambda m: m.label.event in never)
        self._uncovered = self.still_reachable()

    @property
    def left(self) -> int:
        """How many classes some trace may have that are not covered."""
        return len(self._uncovered)

    def cover(self, view: int, label: Label) -> bool:
        """An edge was seen; whether it is the first of its class."""
        kind = self.graph.kind(view, label)
        new = kind not in self.covered
        self.covered.add(kind)
        self._uncovered.discard(kind)
        return new

    def refuse(self, step: Step) -> None:
        """An edge was asked for, and something else was seen; after so many attempts, no trace asks for it again."""
        self._asked[step] = self._asked.get(step, 0) + 1
        if self._asked[step] >= self._attempts:
            for node in self._nodes[step.view]:
                self._leave_out(node, lambda m: m.label == step.label)

    def ask_only_for(self, edges: int) -> None:
        """So many classes of edges, always the same; others are passed through on the way to them."""
        listed = sorted(self._uncovered)
        self._uncovered = set(Random(0).sample(listed, min(edges, len(listed))))

    def next_trace(self) -> list[Step]:
        """A trace that covers something new if it is followed; empty if none is left."""
        while True:
            path, node = self._extended()
            if not path or self._whole[node]:
                return path
            # Every way to end the schedule() at hand has been refused since: nothing leads there any more.
            self._close(self._without_end())

    def still_reachable(self) -> set[int]:
        """The classes that some trace without refused edges has."""
        return {m.kind for n in self._reachable() for m in self._moves[n]}

    def _build(self) -> None:
        number = {(0, order.START): START}
        todo = deque(number)
        while todo:
            view, phase = todo.popleft()
            self._view.append(view)
            self._whole.append(phase in order.WHOLE)
            moves: list[Move] = []
            for label, edge in self.graph.edges[view].items():
                then = order.after(phase, label.event)
                if then is None:
                    continue
                target = (edge.target, then)
                if target not in number:
                    number[target] = len(number)
                    todo.append(target)
                moves.append(Move(label, self.graph.classes[edge.number], number[target]))
            self._moves.append(moves)

    def _extended(self) -> tuple[list[Step], int]:
        """Shortest path to shortest path, then the end of the schedule() at hand, if it still has one."""
        trace: list[Step] = []
        wanted = set(self._uncovered)
        node = START
        while len(trace) < self._length and wanted:
            path, end = self._path(node, wanted)
            if not path:
                break
            trace += path
            node = end
            wanted -= {self.graph.kind(s.view, s.label) for s in path}
        if trace and not self._whole[node]:
            path, node = self._path(node, None)
            trace += path
        return trace, node

    def _leave_out(self, node: int, which: Callable[[Move], bool]) -> None:
        self._moves[node] = [m for m in self._moves[node] if not which(m)]

    def _close(self, nodes: AbstractSet[int]) -> None:
        for n in range(len(self._moves)):
            self._leave_out(n, lambda m: m.target in nodes)

    def _reachable(self) -> set[int]:
        reached = {START}
        todo = [START]
        while todo:
            for m in self._moves[todo.pop()]:
                if m.target not in reached:
                    reached.add(m.target)
                    todo.append(m.target)
        return reached

    def _without_end(self) -> set[int]:
        """Nodes inside a schedule() from which it cannot be told to its end."""
        comes_from: dict[int, list[int]] = {}
        for n in self._reachable():
            for m in self._moves[n]:
                comes_from.setdefault(m.target, []).append(n)
        ends = {n for n in comes_from if self._whole[n]}
        todo = list(ends)
        while todo:
            for n in comes_from.get(todo.pop(), ()):
                if n not in ends:
                    ends.add(n)
                    todo.append(n)
        return {n for n in comes_from if n not in ends}

    def _path(self, start: int, wanted: set[int] | None) -> tuple[list[Step], int]:
        """A shortest path that ends with a wanted edge; without any, one to where nothing is told by half.

        Returns:
            The path and its last node; no path and ``start``, if there is none.
        """
        came_by: dict[int, tuple[int, Label]] = {}
        todo = deque([start])
        while todo:
            node = todo.popleft()
            for m in self._moves[node]:
                if m.kind in wanted if wanted is not None else self._whole[m.target]:
                    return [*self._back(came_by, node, start), Step(self._view[node], m.label)], m.target
                if m.target not in came_by and m.target != start:
                    came_by[m.target] = (node, m.label)
                    todo.append(m.target)
        return [], start

    def _back(self, came_by: dict[int, tuple[int, Label]], node: int, start: int) -> list[Step]:
        path: list[Step] = []
        while node != start:
            node, label = came_by[node]
            path.append(Step(self._view[node], label))
        return path[::-1]
