"""What a search for a mutant has visited, in the form in which leads-to properties are judged."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.result import PathStep

if TYPE_CHECKING:
    from interlock.proofs.mutation.difference import Search


class MutantGraph:
    """The states that a search has reached, numbered without gaps, and their edges."""

    def __init__(self, search: Search) -> None:
        assert search.other_edges is not None
        self._search, self._other = search, search.other_edges
        self._order: list[int] | None = None
        self._index: dict[int, int] = {}
        self.states = search.baseline.states + search.new
        if not all(search.reached):
            self._order = [n for n in range(search.size) if search.reached[n]]
            self._order += range(search.size, search.size + len(search.new))
            self._index = {n: k for k, n in enumerate(self._order)}
            self.states = [self.states[n] for n in self._order]
        self.edges = self

    def __getitem__(self, k: int) -> array[int]:
        n = k if self._order is None else self._order[k]
        other = self._other.get(n)
        edges = self._search.baseline.edges_of(n) if other is None else other
        if self._order is not None:
            edges = edges[:]
            edges[1::2] = array("i", map(self._index.__getitem__, edges[1::2]))
        return edges

    def path(self, number: int) -> tuple[State, tuple[PathStep, ...]]:
        """As the search's."""
        return self._search.path(number if self._order is None else self._order[number])
