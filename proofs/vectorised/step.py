"""One step of the search: a chunk of states in, the states out that were not known before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from interlock.proofs.vectorised.backend import Array
from interlock.proofs.vectorised.engine import Engine, Words
from interlock.proofs.vectorised.symmetry import Canonical
from interlock.proofs.vectorised.visited import Visited

_FIRST_SUCCESSORS = 4.0
"""Successors per state that are expected before the first chunk has shown how many there are."""
_WORKING_COPIES = 3
"""Working memory in multiples of the successors: candidates, their pieces, hashing."""


@dataclass(slots=True)
class Step:
    """What a chunk leads to.

    Attributes:
        new: states [W, M] that were not known, each once; the set knows them now.
        transitions: enabled instances, but for those that go wrong.
        enabled: which instances.
        alarms: rows of the chunk in which something goes wrong; ``None`` if there are none.
        quiescent: how many states of the chunk no fair action can change; ``None`` if that was not asked.
        found: names of what was seen in the new states; ``None`` if they were not looked at.
    """

    new: list[Array]
    transitions: int
    enabled: set[int]
    alarms: Array | None
    quiescent: int | None
    found: list[str] | None = None


class Stepper(Protocol):
    """Takes chunks of at most ``chunk_rows`` states."""

    chunk_rows: int

    def step(self, words: Words) -> Step:
        """Expand states [W, N]."""

    def bytes_wanted(self, rows: int) -> int:
        """Memory for the set of states and for working on a chunk of so many rows."""


class EagerStep:
    """Array operations one by one, in numpy or torch; on any device, with or without symmetry."""

    def __init__(self, engine: Engine, visited: Visited, canonical: Canonical | None) -> None:
        self._engine, self._visited, self._canonical = engine, visited, canonical
        self.chunk_rows = engine.ops.chunk_rows
        self._successors_max = _FIRST_SUCCESSORS

    def step(self, words: Words) -> Step:
        ops = self._engine.ops
        found = self._engine.expand(words)
        alarms = None
        if found.alarm is not None and ops.any(found.alarm):
            alarms = ops.rows(found.alarm)
        new = [w[:0] for w in words]
        after = self._engine.successors(found)
        if after is not None:
            self._successors_max = max(self._successors_max, int(after[0].shape[0]) / int(words[0].shape[0]))
            if self._canonical is not None:
                after = self._canonical.of(after, ops)
            rows = self._visited.insert(after)
            new = [w[rows] for w in after]
        return Step(new, found.transitions, found.enabled, alarms, found.quiescent)

    def bytes_wanted(self, rows: int) -> int:
        successors = int(rows * self._successors_max * 1.25) + 1
        working = successors * 8 * _WORKING_COPIES * self._engine.model.packing.words
        return self._visited.bytes_after(successors) + working
