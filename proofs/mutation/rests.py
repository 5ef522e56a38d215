"""Where a mutant comes to rest: what must be true of the states that no fair action of it can change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.proofs.explorer.monitors import fair_instances
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.terms import FALSE

if TYPE_CHECKING:
    from interlock.proofs.mutation.difference import Search


class Rests:
    """The states at rest of a mutant: those of the baseline, but where the mutant differs or another action is fair."""

    def __init__(self, search: Search) -> None:
        self._search, self._mutated, self._baseline = search, search.mutated, search.baseline
        self._fair = fair_instances(search.mutated.instances)
        self._asked = bool(search.baseline.monitors.at_rest)
        self._anew: set[int] = set()
        """The states of the baseline that were judged anew."""
        self._met = False
        """Some state that was judged here is at rest."""

    def wrong(self, n: int) -> list[tuple[str, str]]:
        """The properties that are false in a state that is not as it was and is now at rest, each with a message."""
        if not self._asked:
            return []
        if n < self._search.size:
            self._anew.add(n)
        if not self._at_rest(n):
            return []
        self._met = True
        return self._baseline.monitors.false_at_rest(self._search.state(n))

    def _at_rest(self, n: int) -> bool:
        """Whether no fair action of the mutant changes a state."""
        fair, first, end = self._fair, self._mutated.first, self._mutated.end
        if n < self._search.size:
            pairs = iter(self._baseline.edges_of(n))
            edges = zip(pairs, pairs, strict=True)
            if any(via in fair and target != n and not first <= via < end for via, target in edges):
                return False
        # Edges are not all: a step may fail, or leave the scope's bound on integers.
        state = self._search.state(n)
        mine = ((first + k, after) for k, after in self._mutated.outcomes(state))
        if any(via in fair and after != state for via, after in mine):
            return False
        others = self._baseline.program.successors(state)
        return not any(via in fair and after != state and not first <= via < end for via, after in others)

    def vacuous(self) -> str | None:
        """A property of states at rest, if the mutant has none although the baseline has."""
        reached = self._search.reached
        if self._met or not self._baseline.at_rest:
            return None
        if any(reached[n] and n not in self._anew for n in self._baseline.at_rest):
            return None
        formulas = (p for p in self._baseline.system.properties if isinstance(p, Quiescence))
        return next((p.id for p in formulas if p.formula != FALSE), None)
