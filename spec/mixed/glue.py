"""What an action of one module needs of the other's state."""

from __future__ import annotations

from interlock.spec.encoder.predicates import is_
from interlock.spec.kv.vocabulary import r, request_state, request_states
from interlock.spec.language.actions import need
from interlock.spec.language.terms import forall

LET_THROUGH = need("let-through-by-the-encoder", is_(r, "running", "loading"))
"""A visit asks the encoder before it allocates (contract 5(a)); a stalled request is not scheduled."""

GLUE = {
    "hit": (LET_THROUGH,),
    "allocate": (LET_THROUGH,),
    "publish": (need("runs", is_(r, "running")),),
    "plan_load": (need("admitted-to-load", is_(r, "loading")),),
    "build_connector_meta": (
        need(
            "admitted-loads-are-planned",
            forall(r, is_(r, "loading") >> request_state(r).eq(request_states["loading"])),
        ),
    ),
}
