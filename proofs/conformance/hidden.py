"""The hidden steps behind a trace: a run of the explored system that shows it, with as few of them as can be.

With them written down, nobody has to search for them again: an observed event may need a hidden step of long
before it, such as a copy that fails before the flush that would have made it.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

from interlock.proofs.conformance.observed import Label, ObservedGraph
from interlock.statemachine.trace import TraceEvent


class _Way(NamedTuple):
    """How a state is reached: with how many hidden steps, from which state, by which step, hidden or not."""

    hidden: int
    before: int
    via: int
    silent: bool = False


def as_events(graph: ObservedGraph, labels: Sequence[Label]) -> list[TraceEvent]:
    """A path of the graph as events, hidden ones marked as such.

    Raises:
        ValueError: the labels are no path from the initial view.
    """
    return [graph.event(seq, via) for seq, via in enumerate(_run(graph, labels))]


def _run(graph: ObservedGraph, labels: Sequence[Label]) -> list[int]:
    """Instances, in order."""
    layers: list[dict[int, _Way]] = []
    entered: dict[int, _Way] = {0: _Way(0, -1, -1)}
    for label in labels:
        reached = _with_hidden(graph, entered)
        layers.append(reached)
        entered = {}
        for state, way in sorted(reached.items()):
            for via, shows, target in graph.moves(state):
                if shows == label and (target not in entered or way.hidden < entered[target].hidden):
                    entered[target] = _Way(way.hidden, state, via)
        if not entered:
            raise ValueError(f"{label} is no edge after {len(layers) - 1} events")
    return _backwards(layers, entered)


def _with_hidden(graph: ObservedGraph, entered: dict[int, _Way]) -> dict[int, _Way]:
    """All states that hidden steps lead to, each with the fewest."""
    reached: dict[int, _Way] = {}
    todo = [(way.hidden, state, way) for state, way in entered.items()]
    heapq.heapify(todo)
    while todo:
        hidden, state, way = heapq.heappop(todo)
        if state in reached:
            continue
        reached[state] = way
        for via, shows, target in graph.moves(state):
            if shows is None and target not in reached:
                heapq.heappush(todo, (hidden + 1, target, _Way(hidden + 1, state, via, True)))
    return reached


def _backwards(layers: list[dict[int, _Way]], entered: dict[int, _Way]) -> list[int]:
    run: list[int] = []
    way = min(entered.items(), key=lambda found: (found[1].hidden, found[0]))[1]
    for reached in reversed(layers):
        run.append(way.via)
        way = reached[way.before]
        while way.silent:
            run.append(way.via)
            way = reached[way.before]
    return run[::-1]
