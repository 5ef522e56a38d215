"""Which edges of a slice's state graph runs of a :class:`KVEngine` have taken, and the way to one that none has.

The graph is that of ``interlock conformance``: what an observer knows of the state, with an event; edges that differ in
names only are one. Counted are those that a boundary can tell, which is visits before what the metadata carries.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from interlock.proofs.conformance import order
from interlock.proofs.conformance.observed import Label, ObservedGraph
from interlock.proofs.conformance.plan import Planner
from interlock.proofs.conformance.walk import Walk
from interlock.spec.kv import SPECIFICATION
from support.kv_engine import KVEngine
from support.kv_parts import BLOCK_SIZE, Choose, Shape, Wanted, lowest

ASKED_MAX = 12
"""Runs that may ask for an edge in vain, before no way leads along it any more."""

NAME, PROMPT = "A", ("p", 1, 1)
"""The one request of a slice with one request, one block and one hash: the block, and a token more."""

Asked = tuple[int, Label]
Node = tuple[int, str]
"""A view of the graph, and how far a schedule() has been told."""


class Slice:
    """A slice, and what is covered of it."""

    def __init__(self, name: str) -> None:
        whole = SPECIFICATION.slice(name)
        # The engine keeps the blocks of a request whose load has failed, so nobody is looked up anew.
        taken = whole.model_copy(update={"remove": tuple({*whole.remove, "look_up_anew"})})
        self.graph = ObservedGraph(SPECIFICATION, SPECIFICATION.switch_values(), taken)
        self.told = frozenset(Planner(self.graph).told)
        self.covered: set[int] = set()
        self._asked: Counter[Asked] = Counter()

    @property
    def shape(self) -> Shape:
        """An engine that is as large as the slice."""
        sizes = self.graph.scope
        return Shape(
            blocks=sizes["block"], chunks=sizes["chunk"], workers=sizes["worker"], bare=True, hits=self.has("hit")
        )

    def has(self, action: str) -> bool:
        """Whether the slice has an action."""
        return action not in self.graph.slice.remove

    @property
    def share(self) -> float:
        """Of the edges that can be told, those that were taken."""
        return len(self.covered) / len(self.told)

    def uncovered(self) -> list[str]:
        """Of each class of edges that no run has taken, a shortest way to it."""
        return [" ".join(map(str, way)) for way in self._ways((0, order.START), self.told - self.covered)]

    def way(self, view: int, phase: str, vain: AbstractSet[Asked]) -> list[Label]:
        """The next event, or schedule(), on a shortest way from a view to an edge that no run has taken.

        Args:
            vain: what this run has asked for in vain; what many runs have, no way leads along either.
        """
        given_up = {asked for asked, runs in self._asked.items() if runs >= ASKED_MAX}
        way = next(self._ways((view, phase), self.told - self.covered, vain | given_up), [])
        for at, label in enumerate(way, 1):
            after = order.after(phase, label.event)
            assert after is not None
            phase = after
            if phase in order.WHOLE:
                return way[:at]
        return way

    def difference(self, view: int, hoped: Sequence[Label], seen: Sequence[Label]) -> Asked | None:
        """The first edge that was hoped for from a view on, where something else was seen."""
        for at, label in enumerate(hoped):
            if at >= len(seen) or seen[at] != label:
                self._asked[view, label] += 1
                return view, label
            view = self.graph.edges[view][label].target
        return None

    def _ways(
        self, start: Node, wanted: AbstractSet[int], vain: AbstractSet[Asked] | None = None
    ) -> Iterator[list[Label]]:
        """Of each wanted class, a shortest way that ends with it, the shortest first.

        Args:
            vain: if given, the way is one to go: not along these, and on to where nothing is told by half.
        """
        came_by: dict[Node, tuple[Node, Label] | None] = {start: None}
        todo, left = deque([start]), set(wanted)
        while todo and left:
            node = todo.popleft()
            for label, target in self._leaving(node, vain):
                kind = self.graph.kind(node[0], label)
                if kind in left:
                    end = [] if vain is None else self._to_the_end(target, vain)
                    if end is not None:
                        left.discard(kind)
                        yield [*_back(came_by, node), label, *end]
                if target not in came_by:
                    came_by[target] = (node, label)
                    todo.append(target)

    def _to_the_end(self, start: Node, vain: AbstractSet[Asked]) -> list[Label] | None:
        """A shortest way to where nothing is told by half; ``None`` if there is none."""
        came_by: dict[Node, tuple[Node, Label] | None] = {start: None}
        todo = deque([start])
        while todo:
            node = todo.popleft()
            if node[1] in order.WHOLE:
                return _back(came_by, node)
            for label, target in self._leaving(node, vain):
                if target not in came_by:
                    came_by[target] = (node, label)
                    todo.append(target)
        return None

    def _leaving(self, node: Node, vain: AbstractSet[Asked] | None) -> Iterator[tuple[Label, Node]]:
        view, phase = node
        for label, edge in self.graph.edges[view].items():
            then = order.after(phase, label.event)
            if then is not None and (vain is None or (view, label) not in vain):
                yield label, (edge.target, then)


def _back(came_by: dict[Node, tuple[Node, Label] | None], node: Node) -> list[Label]:
    way: list[Label] = []
    while (step := came_by[node]) is not None:
        node, label = step
        way.append(label)
    return way[::-1]


class Follower:
    """Where one run is in a slice; nowhere, once it has left it."""

    def __init__(self, slice_: Slice, engine: KVEngine) -> None:
        self._slice, self._engine = slice_, engine
        self._walk = Walk(slice_.graph)
        self._followed = 0
        self._vain: set[Asked] = set()
        self.left = False
        """Whether the run did what the slice has no room for."""

    def follow(self) -> list[Label]:
        """Go along what was seen since the last time."""
        seen = [e for e in self._engine.seen[self._followed :] if not e.hidden]
        self._followed = len(self._engine.seen)
        path: list[Label] = []
        for e in seen:
            view = self._walk.view
            label = None if self.left else self._walk.step(e.event, e.args)
            if label is None:
                self.left = True
                break
            path.append(label)
            self._slice.covered |= {self._slice.graph.kind(view, label)} & self._slice.told
        return path

    def go_on(self, choose: Choose) -> bool:
        """Do the next event, or schedule(), on the way to an edge that no run has taken; false if that ends it.

        It ends where no way is left but along what was asked for in vain: what the machine decides otherwise.
        """
        self.follow()
        view, phase = self._walk.view, order.EXECUTING if self._engine.under_way else order.BETWEEN
        hoped = [] if self.left else self._slice.way(view, phase, self._vain)
        if not hoped:
            return False
        self._play(hoped, choose)
        asked = self._slice.difference(view, hoped, self.follow())
        if asked is not None:
            self._vain.add(asked)
        return not self.left

    def _play(self, hoped: list[Label], choose: Choose) -> None:
        """Do the engine's part of one event, or of one schedule()."""
        engine, event = self._engine, hoped[0].event
        match event:
            case "add_request":
                engine.arrive(NAME, *PROMPT)
            case "finish":
                engine.end(engine.requests[NAME])
            case "acknowledge" | "acknowledge_failure":
                self._report(event == "acknowledge", choose)
            case "reset_cache":
                engine.reset()
            case "loaded":
                engine.hear((), True)
            case order.OUTPUT:
                engine.process(choose, reports=False)
            case _:
                self._schedule([label.event for label in hoped], choose)

    def _report(self, done: bool, choose: Choose) -> None:
        """Some worker reports so, if one can."""
        engine = self._engine
        if not any(well == done for _, _, well in engine.reports):
            able = engine.copies("store_queued", "load_queued", "copied" if done else "copy_failed")
            if not able:
                return
            rank, job = able[choose(0, len(able) - 1)]
            (engine.copy if done else engine.fail)(rank, job)
            engine.report(rank, job)
        engine.hear([next(at for at, (_, _, well) in enumerate(engine.reports) if well == done)], False)

    def _schedule(self, events: list[str], choose: Choose) -> None:
        engine = self._engine
        for rank, job in engine.copies("store_queued", "load_queued") if "order_flush" in events else ():
            if choose(0, 1):
                engine.fail(rank, job)  # a flush would make it too late for that
        visited = {"allocate", "publish", "hit", "plan_load"} & set(events)
        tokens = BLOCK_SIZE if "publish" in events else 1
        engine.wanted = Wanted("hit" in events, events.count("allocate"), tokens, "plan_load" in events)
        engine.to_preempt += [NAME] * ("preempt" in events)
        engine.schedule(lowest, empty=not visited)
        engine.wanted = None
