"""One slice of a module, judged by one property: whether it holds, and what the shortest counterexample does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.proofs.check import Run, Violation, run_check
from interlock.spec.language.properties import ActionProperty, Invariant, Property, Witness
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import Term


@dataclass(frozen=True)
class Judge:
    """Judges properties of one module.

    Options of all methods: ``change`` (a fault, as ``drop-conjunct:ACTION:CONJUNCT``), ``scope``, ``preset``, and
    switches by name.
    """

    spec: Specification
    engine: str = "auto"

    def run(
        self,
        slice_: str,
        *properties: str | Property,
        change: str | None = None,
        scope: dict[str, int] | None = None,
        preset: str = "interlock",
        **switches: str,
    ) -> Run:
        """The slice under the properties; one that is no id is not of the module, and is added to it."""
        added = tuple(p for p in properties if not isinstance(p, str))
        (run,) = run_check(
            spec=self.spec.model_copy(update={"properties": (*self.spec.properties, *added)}) if added else self.spec,
            slices=[slice_],
            properties=[p if isinstance(p, str) else p.id for p in properties],
            change=change,
            scope=scope,
            preset=preset,
            sets=switches,
            engine=self.engine,
        ).runs
        return run

    def holds(self, slice_: str, property_: str | Property, **options) -> bool:
        """Whether the property is found to hold in all of the slice."""
        run = self.run(slice_, property_, **options)
        id_ = property_ if isinstance(property_, str) else property_.id
        return run.exhaustive and run.properties[id_] == "holds"

    def always(self, slice_: str, formula: Term, *actions: str, **options) -> bool:
        """Whether a formula is true of every state, or of every step by one of the actions."""
        common = {"id": "test-claim", "doc": "of a test", "source": "test", "slices": (slice_,), "formula": formula}
        claim = ActionProperty(**common, actions=actions) if actions else Invariant(**common)
        return self.holds(slice_, claim, **options)

    def reachable(self, slice_: str, formula: Term, **options) -> bool:
        """Whether some state satisfies a formula."""
        goal = Witness(id="test-goal", doc="of a test", source="test", slices=(slice_,), formula=formula)
        return self.holds(slice_, goal, **options)

    def shortest(self, slice_: str, property_: str, **options) -> Violation:
        """The counterexample; on its way faults that nobody asked about may be found."""
        (found,) = (v for v in self.run(slice_, property_, **options).violations if v.property == property_)
        return found

    def names(self, slice_: str, property_: str, **options) -> list[str]:
        """The names of the counterexample's actions."""
        return names(self.shortest(slice_, property_, **options).actions)


def names(actions: Iterable[str]) -> list[str]:
    """Actions without their parameters."""
    return [a.partition("(")[0] for a in actions]


def in_order(actions: Iterable[str], *wanted: str) -> bool:
    """Whether the wanted ones occur in this order, with anything between."""
    rest = iter(actions)
    return all(w in rest for w in wanted)
