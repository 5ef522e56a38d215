"""Properties that say again what the specification says elsewhere.

One is true of every step of its action from any state whatever: it reminds a reader, and notices a
change to the action, but says nothing of what the system comes to. z3 is asked, at any size: do the
guard and the updates alone imply it? Another is the witness that a row of a table fires, made from
that very table.
"""

from __future__ import annotations

from interlock.proofs.smt.ask import ask
from interlock.proofs.smt.encode import Encoding
from interlock.proofs.smt.owed import Claim, Obligation
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import ActionProperty, BoundaryClause, about_steps_by
from interlock.spec.language.rows import is_of_a_row
from interlock.spec.language.specification import Specification

TIMEOUT_S = 3.0
"""Per property and action."""


def restating(spec: Specification, switches: dict[str, str]) -> frozenset[str]:
    """The ids of action properties and boundary clauses that no invariant is needed for."""
    system = elaborate(spec, switches)
    encoding = Encoding(system)
    steps = {s.name for s in system.steps}
    found: set[str] = set()
    for p in system.properties:
        if not isinstance(p, (ActionProperty, BoundaryClause)):
            continue
        actions = [a for a in about_steps_by(p) if a in steps]
        if actions and all(_implied(encoding, Obligation(Claim(p.id, p.formula), a)) for a in actions):
            found.add(p.id)
    return frozenset(found)


def without_restating(spec: Specification, switches: dict[str, str]) -> Specification:
    """The specification without them, and without the witnesses of rows."""
    dropped = restating(spec, switches)
    left = tuple(p for p in spec.properties if p.id not in dropped and not is_of_a_row(p))
    return spec.model_copy(update={"properties": left})


def _implied(encoding: Encoding, obligation: Obligation) -> bool:
    return ask("z3", encoding.values, encoding.query(obligation, ()), TIMEOUT_S) == "proved"
