"""Lemmas: a proof that succeeds without one does not need it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from interlock.proofs.smt.ask import Asked
from interlock.proofs.smt.cti import find_cti
from interlock.proofs.smt.induction import Induction, invariants_of
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.specification import Specification

TIMEOUT_S = 3.0
"""Per obligation, without a lemma."""
WHOLE_S = 20.0
"""Per obligation, once, with all lemmas."""


@dataclass
class Lemmas:
    """The inductions of one specification, with all their lemmas."""

    spec: Specification
    switches: dict[str, str]
    _whole: dict[str, Induction] = field(default_factory=dict)
    _answers: dict[tuple[str, str], list[Asked]] = field(default_factory=dict)

    def failing(self, property_id: str, lemma: str, deadline: float) -> tuple[str | None, list[str]]:
        """The first obligation that fails without the lemma, if one does, and those that no answer came to.

        Args:
            deadline: by ``time.perf_counter()``.

        Raises:
            TimeoutError: it has passed.
        """
        whole = self._induction(property_id)
        rest = Induction(whole.system, tuple(c for c in whole.invariants if c.name != lemma))
        unknown: list[str] = []
        # The property's own obligations and the start's are the fewest; what fails is in any of them.
        for place in rest.places:
            if time.perf_counter() > deadline:
                raise TimeoutError
            for asked in rest.ask("z3", place, TIMEOUT_S, only=self._that_need(property_id, lemma, place)):
                if asked.answer == "proved":
                    continue
                name = asked.obligation
                refuted = asked.answer == "failed" or find_cti(rest.system, rest.named(name), rest.invariants)
                if refuted and self._proved(property_id, whole.named(name).place, name):
                    return name, []
                unknown.append(name)
        return None, unknown

    def _that_need(self, property_id: str, lemma: str, place: str) -> frozenset[str]:
        """The obligations of a place but those that are proved with other hypotheses than this lemma."""
        if (property_id, place) not in self._answers:
            self._answers[property_id, place] = self._induction(property_id).ask("z3", place, WHOLE_S)
        return frozenset(
            a.obligation
            for a in self._answers[property_id, place]
            if a.answer != "proved"
            or not a.uses
            or any(used is None or any(name.partition("#")[0] == lemma for name in used) for used in a.uses)
        )

    def _induction(self, property_id: str) -> Induction:
        if property_id not in self._whole:
            system = elaborate(self.spec, self.switches)
            self._whole[property_id] = Induction(system, invariants_of(system, property_id))
        return self._whole[property_id]

    def _proved(self, property_id: str, place: str, name: str) -> bool:
        """Whether all lemmas together prove it, so that its failure is for want of one."""
        if any(a.obligation == name and a.answer == "proved" for a in self._answers[property_id, place]):
            return True
        whole = self._induction(property_id)
        (asked,) = whole.ask("z3", place, 2 * TIMEOUT_S, only=frozenset([name]))
        return asked.answer == "proved"
