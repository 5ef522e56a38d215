"""What holds only if both modules keep their word."""

from __future__ import annotations

from interlock.spec.encoder.predicates import is_
from interlock.spec.encoder.quiescence import AT_REST as ENCODER_AT_REST
from interlock.spec.encoder.vocabulary import PUTS_OFF, kv_held
from interlock.spec.kv.judging import live_store
from interlock.spec.kv.quiescence import QUIESCENCE as KV_QUIESCENCE
from interlock.spec.kv.vocabulary import b, holds, j, r, request_state, request_states
from interlock.spec.language.properties import Invariant, Quiescence, Witness
from interlock.spec.language.terms import exists, forall

_DEFERRED = exists(r, is_(r, "deferred"))

PROPERTIES = (
    Quiescence(
        id="both-rest-with-nothing-owed",
        source="contract section 1 engine loop; seeds 000, 002",
        doc="Where nothing has to happen any more, neither module owes anything: neither waits for the other.",
        slices=("kv_and_encoder", "open_store"),
        formula=ENCODER_AT_REST & KV_QUIESCENCE.formula,
    ),
    Invariant(
        id="deferred-by-encoder-holds-no-block",
        source="vLLM PR 41627; seeds 000",
        doc="A request that the encoder defers before its admission has no block in its table.",
        slices=("kv_and_encoder",),
        applies=PUTS_OFF,
        formula=forall(r, b, is_(r, "deferred") >> ~holds(r, b)),
        premise=_DEFERRED,
    ),
    Invariant(
        id="blocks-are-booked-as-kv",
        source="contract Q9 to Q11, I-08",
        doc="Who has blocks in the table is booked as holding KV: what one module frees, the other does not keep.",
        slices=("kv_and_encoder",),
        only_in_slices="complete, of the encoder, ends a request of which the KV module knows nothing",
        formula=forall(r, b, holds(r, b) >> kv_held(r)),
        premise=exists(r, b, holds(r, b)),
    ),
    Invariant(
        id="held-for-a-load-in-both",
        source="contract Q31, Q32, I-15",
        doc="A request that ended while its KV load was under way is held in both modules, or in neither.",
        slices=("kv_and_encoder",),
        formula=forall(r, is_(r, "held").eq(request_state(r).eq(request_states["held"]))),
        premise=exists(r, is_(r, "held")),
    ),
    Witness(
        id="stalled-while-a-store-is-open",
        source="contract Q19, J6",
        doc="The encoder holds up a running request while a store of its blocks is under way.",
        slices=("kv_and_encoder",),
        formula=exists(r, is_(r, "stalled")) & exists(j, live_store(j)),
    ),
    Witness(
        id="deferred-while-a-store-is-open",
        source="contract Q5, Q22, J9",
        doc="A preempted request is deferred by the encoder while a store of its former blocks is under way.",
        slices=("kv_and_encoder",),
        formula=_DEFERRED & exists(j, live_store(j)),
    ),
)
