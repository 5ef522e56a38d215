"""What an action of one module needs of the other's state."""

from __future__ import annotations

from interlock.spec.encoder.predicates import is_
from interlock.spec.kv.vocabulary import r, request_state, request_states
from interlock.spec.language.actions import Conjunct
from interlock.spec.language.terms import Term, forall


def _need(id_: str, term: Term) -> Conjunct:
    return Conjunct(id=id_, term=term)


LET_THROUGH = _need("let-through-by-the-encoder", is_(r, "running", "loading"))
"""A visit asks the encoder before it allocates (contract 5(a)); a stalled request is not scheduled."""

GLUE = {
    "hit": (LET_THROUGH,),
    "allocate": (LET_THROUGH,),
    "publish": (_need("runs", is_(r, "running")),),
    "plan_load": (_need("admitted-to-load", is_(r, "loading")),),
    "build_connector_meta": (
        _need(
            "admitted-loads-are-planned",
            forall(r, is_(r, "loading") >> request_state(r).eq(request_states["loading"])),
        ),
    ),
}
