"""A slice as an observer sees it: the graph whose edges a conformance suite covers.

Nobody outside sees a worker copy, a store scan pass over a block, or a chunk being evicted. What can be
known after some observed events is therefore a *set* of states: all that some hidden steps in between can
lead to. Such a set is a **view**, and an **edge** is a view with an observed event that is possible in
one of its states. (This is the observer automaton of Cassandras and Lafortune: the subset
construction over the explorer's graph, with hidden actions as its silent moves.) It is deterministic, so
a trace of events is a path or is none, and where it ends says all that can be known of the state.

Ghost variables are left out, since no guard may read them. Edges that differ only in the names of their
elements (block0 for block1) are one **class** of edges, and it is classes that are counted: an
implementation is free to number its jobs and to choose among chunks that are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from interlock.proofs.explorer.layout import UNDEFINED, Layout, State
from interlock.proofs.explorer.size import require_buildable
from interlock.proofs.mutation.baseline import Baseline
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.settings import Slice
from interlock.spec.language.specification import Specification
from interlock.spec.language.variables import Site
from interlock.statemachine.trace import TraceEvent

STATES_MAX = 400_000
SECONDS_MAX = 120.0

View = frozenset[int]


class Label(NamedTuple):
    """An observed event with all its arguments, by the names of parameters: ``(("b", "block0"), ("r", "request0"))``.

    Actions that share an event and their arguments are one: no observer tells them apart.
    """

    event: str
    args: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.event}({', '.join(element for _, element in self.args)})"


class Edge(NamedTuple):
    """Args: number: in the order of views and labels; target: the view after it."""

    number: int
    target: int


class ObservedGraph:
    """The views of a slice and the edges between them; view 0 is the initial one.

    Attributes:
        edges: per view, its edges by label.
        classes: per edge number, the number of the edge that stands for its class.
        sorts: the sort of each parameter name.

    Raises:
        ScopeTooLarge, TooLarge: its program would not fit, or it has more than :data:`STATES_MAX` states.
    """

    def __init__(
        self,
        spec: Specification,
        switches: dict[str, str],
        slice_: Slice,
        scope: dict[str, int] | None = None,
    ) -> None:
        ghosts = [v.name for v in spec.variables if v.site is Site.GHOST]
        narrow = slice_.model_copy(update={"drop": tuple(dict.fromkeys((*slice_.drop, *ghosts)))})
        require_buildable(elaborate(spec, switches, narrow, scope, ()))
        self.spec, self.switches, self.slice = spec, switches, slice_
        self._base = Baseline(spec, switches, narrow, scope, states=STATES_MAX, seconds=SECONDS_MAX, judged=False)
        self.scope = dict(self._base.scope)
        self.states = len(self._base.states)
        self.sorts = {p.name: p.sort for a in spec.actions for p in a.params}
        self._labels = [self._label(n) for n in range(len(self._base.program.instances))]
        self.edges: list[dict[Label, Edge]] = []
        self._number: dict[View, int] = {}
        self._views: list[View] = []
        self._images: dict[tuple[str, int, int], list[int]] = {}
        self.count = 0
        self._build()
        self.classes = self._classify()
        self.class_count = len(set(self.classes))

    def __len__(self) -> int:
        return len(self._views)

    def each(self) -> Iterator[tuple[int, Label, Edge]]:
        """All edges with the view that each starts at, by number."""
        for view, leaving in enumerate(self.edges):
            for label, edge in leaving.items():
                yield view, label, edge

    def kind(self, view: int, label: Label) -> int:
        """The class of an edge."""
        return self.classes[self.edges[view][label].number]

    def same_after(self, view: int, swaps: Mapping[str, tuple[int, int]]) -> bool:
        """Whether a view is the same view after elements of some sorts are renamed to each other."""
        states = self._views[view]
        for sort, (one, other) in swaps.items():
            image = self._image(sort, one, other)
            states = frozenset(image[n] for n in states)
        return states == self._views[view]

    def moves(self, state: int) -> Iterator[tuple[int, Label | None, int]]:
        """The steps from a state of the slice: the instance, its label or ``None`` if it is hidden, the state after."""
        edges = self._base.edges_of(state)
        for via, target in zip(edges[::2], edges[1::2], strict=True):
            yield via, self._labels[via], target

    def event(self, seq: int, via: int) -> TraceEvent:
        """An instance as a line of a trace."""
        instance = self._base.program.instances[via]
        action = instance.step.action
        return TraceEvent(
            seq=seq,
            event=action.event,
            action=action.name,
            args=instance.named(self._base.system),
            site=action.site.value,
            hidden=not action.observed,
        )

    # -- views ---------------------------------------------------------------------------------------

    def _label(self, number: int) -> Label | None:
        instance = self._base.program.instances[number]
        action = instance.step.action
        if not action.observed:
            return None
        return Label(action.event, tuple(sorted(instance.named(self._base.system).items())))

    def _build(self) -> None:
        hidden: dict[int, list[int]] = {}
        seen: list[list[tuple[Label, int]]] = []
        for n in range(self.states):
            leaving: list[tuple[Label, int]] = []
            for _, label, target in self.moves(n):
                if label is None:
                    hidden.setdefault(n, []).append(target)
                else:
                    leaving.append((label, target))
            seen.append(leaving)
        self._view(_closed([0], hidden))
        at = 0
        while at < len(self._views):
            after: dict[Label, set[int]] = {}
            for n in sorted(self._views[at]):
                for label, target in seen[n]:
                    after.setdefault(label, set()).add(target)
            leaving_view: dict[Label, Edge] = {}
            for label in sorted(after):
                leaving_view[label] = Edge(self.count, self._view(_closed(after[label], hidden)))
                self.count += 1
            self.edges.append(leaving_view)
            at += 1

    def _view(self, states: View) -> int:
        number = self._number.get(states)
        if number is None:
            number = self._number[states] = len(self._views)
            self._views.append(states)
        return number

    # -- classes -------------------------------------------------------------------------------------

    def _classify(self) -> list[int]:
        """Joins each edge with what swapping two neighbouring elements of a sort makes of it."""
        parent = list(range(self.count))

        def root(e: int) -> int:
            while parent[e] != e:
                parent[e] = parent[parent[e]]
                e = parent[e]
            return e

        for sort, size in self.scope.items():
            for first in range(size - 1):
                image = self._image(sort, first, first + 1)
                for view, leaving in enumerate(self.edges):
                    other = self.edges[self._number[frozenset(image[n] for n in self._views[view])]]
                    for label, edge in leaving.items():
                        a, b = root(edge.number), root(other[_swapped(label, sort, first, first + 1)].number)
                        parent[max(a, b)] = min(a, b)
        return [root(e) for e in range(self.count)]

    def _image(self, sort: str, one: int, other: int) -> list[int]:
        """Per state, the state that it is after two elements of a sort are renamed to each other."""
        key = (sort, one, other)
        if key not in self._images:
            swap = _swapped_state(self._base.program.layout, sort, one, other)
            number = self._base.number
            self._images[key] = [number[swap(s)] for s in self._base.states]
        return self._images[key]


def _closed(states: Iterable[int], hidden: dict[int, list[int]]) -> View:
    """With all states that hidden steps lead to."""
    reached = set(states)
    todo = list(reached)
    while todo:
        for n in hidden.get(todo.pop(), ()):
            if n not in reached:
                reached.add(n)
                todo.append(n)
    return frozenset(reached)


def _swapped_state(layout: Layout, sort: str, one: int, other: int) -> Callable[[State], State]:
    """Renames two elements of a sort to each other."""
    pair = {one: other, other: one}
    comes_from: list[int] = []
    renamed: list[bool] = []
    for slot in layout.slots:
        v = layout.variable(slot.variable)
        args = tuple(pair.get(i, i) if a.sort == sort else i for a, i in zip(v.args, slot.args, strict=True))
        comes_from.append(layout.index(slot.variable, args))
        renamed.append(v.result == sort)

    def swap(state: State) -> State:
        return tuple(
            pair.get(state[at], state[at]) if names and state[at] != UNDEFINED else state[at]
            for at, names in zip(comes_from, renamed, strict=True)
        )

    return swap


def _swapped(label: Label, sort: str, one: int, other: int) -> Label:
    names = {f"{sort}{one}": f"{sort}{other}", f"{sort}{other}": f"{sort}{one}"}
    return Label(label.event, tuple((p, names.get(e, e)) for p, e in label.args))
