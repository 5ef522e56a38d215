"""Follows what was observed through an observed graph, whatever the implementation calls its things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.proofs.conformance.observed import Label, ObservedGraph

REUSED = frozenset({"request", "job"})
"""Sorts whose elements stand for one entity after the other: an unknown name takes one that is free again."""


class Walk:
    """A place in the graph, and which element each name stands for.

    Args:
        chooses: sorts whose elements the implementation chooses; those of others are named by who drives it.
    """

    def __init__(self, graph: ObservedGraph, chooses: frozenset[str] = frozenset({"chunk", "job"})) -> None:
        self._graph, self._chooses = graph, chooses
        self._names: dict[str, dict[str, str]] = {}
        self.view = 0

    def step(self, event: str, args: Mapping[str, str], hint: Label | None = None) -> Label | None:
        """Go along the edge that an event is; its label, or ``None`` if there is no such edge.

        Args:
            hint: taken if the event may be it. Where two elements are alike in this view, such as chunks that
                hold nothing, it may be it after they have been renamed to each other.
        """
        possible = list(self._possible(event, args))
        if not possible:
            return None
        label = possible[0]
        if hint is not None and hint not in possible:
            for other in possible:
                if self._renamed(other, hint):
                    label = hint
                    break
        elif hint is not None:
            label = hint
        for parameter, element in label.args:
            if parameter in args:
                self._name(self._graph.sorts[parameter], args[parameter], element)
        self.view = self._graph.edges[self.view][label].target
        return label

    def named(self, args: Mapping[str, str]) -> dict[str, str]:
        """Arguments by the elements that they stand for here; a name that stands for none gets a mark."""
        sorts = self._graph.sorts
        return {p: self._names.get(sorts[p], {}).get(name, f"{name}+") for p, name in args.items()}

    def _renamed(self, label: Label, hint: Label) -> bool:
        """Make one label the other by renaming elements that are alike here; false if that cannot be."""
        if label.event != hint.event or len(label.args) != len(hint.args):
            return False
        swaps: dict[str, tuple[int, int]] = {}
        for (parameter, element), (wanted_parameter, wanted) in zip(label.args, hint.args, strict=True):
            if parameter != wanted_parameter:
                return False
            if element != wanted:
                sort = self._graph.sorts[parameter]
                if sort not in self._chooses:
                    return False
                swaps[sort] = (int(element.removeprefix(sort)), int(wanted.removeprefix(sort)))
        if not self._graph.same_after(self.view, swaps):
            return False
        for sort, (one, other) in swaps.items():
            pair = {f"{sort}{one}": f"{sort}{other}", f"{sort}{other}": f"{sort}{one}"}
            self._names[sort] = {n: pair.get(e, e) for n, e in self._names.get(sort, {}).items()}
        return True

    def _possible(self, event: str, args: Mapping[str, str]) -> Iterator[Label]:
        for label in self._graph.edges[self.view]:
            if label.event == event and self._fits(label, args):
                yield label

    def _fits(self, label: Label, args: Mapping[str, str]) -> bool:
        if not args.keys() <= {parameter for parameter, _ in label.args}:
            return False
        for parameter, element in label.args:
            if parameter not in args:
                continue  # who told of it cannot see that
            sort = self._graph.sorts[parameter]
            names = self._names.get(sort, {})
            known = names.get(args[parameter])
            if known != element and (known is not None or (sort not in REUSED and element in names.values())):
                return False
        return True

    def _name(self, sort: str, name: str, element: str) -> None:
        names = self._names.setdefault(sort, {})
        if names.get(name) != element:
            for old in [n for n, e in names.items() if e == element]:
                del names[old]
            names[name] = element
