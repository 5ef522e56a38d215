"""What an action of one module needs of the other's state."""

from __future__ import annotations

from interlock.spec.encoder.predicates import is_
from interlock.spec.kv.predicates import is_of, live_store
from interlock.spec.kv.vocabulary import (
    b,
    block_state,
    block_states,
    c,
    chunk_state,
    chunk_states,
    j,
    job_state,
    job_states,
    r,
    request_state,
    request_states,
)
from interlock.spec.language.actions import need
from interlock.spec.language.terms import exists, forall

LET_THROUGH = need("let-through-by-the-encoder", is_(r, "running", "loading"))
"""A visit asks the encoder before it allocates (contract 5(a)); a stalled request is not scheduled."""
RUNS = need("runs", is_(r, "running"))

CAN_LOAD = (
    exists(c, chunk_state(c).eq(chunk_states["ready"]))
    & exists(b, block_state(b).eq(block_states["free"]))
    & exists(j, job_state(j).eq(job_states["absent"]))
    & ~exists(j, live_store(j) & is_of(j, r))
)
"""The KV match comes before the encoder is asked: a request is admitted to load only what it can load."""

GLUE = {
    # A request admitted to load has not found its block in the prefix cache.
    "hit": (RUNS,),
    "allocate": (LET_THROUGH,),
    "publish": (RUNS,),
    "start_kv_load": (need("there-is-something-to-load", CAN_LOAD),),
    "plan_load": (need("admitted-to-load", is_(r, "loading")),),
    "build_connector_meta": (
        need(
            "admitted-loads-are-planned",
            forall(r, is_(r, "loading") >> request_state(r).eq(request_states["loading"])),
        ),
    ),
}

FAIR = {
    "allocate": "a request that schedule() has admitted gets its blocks in it",
    "plan_load": "update_state_after_alloc plans the load of a request that was admitted to load",
}
