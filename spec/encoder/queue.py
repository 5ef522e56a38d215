"""Properties of the waiting queue: who stands where in it, and who comes first."""

from __future__ import annotations

from interlock.spec.encoder.answers import has_its_items
from interlock.spec.encoder.coverage import ARRIVALS, DRAFTS, POOL, QUEUE, ROOM, RUNNING, TIGHT, WITH_POOL
from interlock.spec.encoder.judging import is_queued
from interlock.spec.encoder.predicates import is_
from interlock.spec.encoder.vocabulary import (
    PUTS_OFF,
    arrivals,
    ec_gate,
    kv_held,
    queue,
    r,
    r2,
    request,
    visited,
)
from interlock.spec.language.properties import ActionProperty, Invariant, LeadsTo, Property, witnesses_of
from interlock.spec.language.terms import Primed, exists, forall

_r, _x = request.var("ry"), request.var("rz")

KEEPS_ITS_PLACE = ActionProperty(
    id="deferred-keeps-its-place",
    source="vLLM PR 41627; seeds 000; contract section 1: prepend_requests, order preserved",
    doc="Who is put off for an item is put back where it stood: nobody in the queue comes before another than did.",
    slices=(POOL, RUNNING, TIGHT, QUEUE, ARRIVALS),
    actions=("defer",),
    applies=PUTS_OFF,
    formula=forall(_r, _x, Primed(body=queue.before(_r, _x)).eq(queue.before(_r, _x))),
)

FIRST_COME = ActionProperty(
    id="later-arrival-is-not-admitted-first",
    source="seeds 000: not overtaken for ever; contract section 1 (FCFS)",
    doc=(
        "A request is admitted before one that has arrived earlier and still waits only if this schedule() has asked "
        "the connector about that one, and the answer was no."
    ),
    slices=(ARRIVALS,),
    only_in_slices="who is preempted waits too, and need not come before one that arrived later",
    actions=("admit",),
    formula=forall(_r, (arrivals.before(_r, r) & is_queued(_r)) >> (visited(_r) & is_(_r, "deferred"))),
)

NOT_FOR_EVER = LeadsTo(
    id="deferred-is-scheduled-though-others-arrive",
    source="vLLM PR 41627; seeds 000: not overtaken for ever",
    doc="However many arrive meanwhile, who was put off is scheduled or aborted once its items are there and stay.",
    slices=(ARRIVALS,),
    vars=(r,),
    applies=PUTS_OFF,
    premise=is_(r, "deferred") & has_its_items(r),
    conclusion=is_(r, "running", "finished") | ~has_its_items(r),
)

IN_TURN = ActionProperty(
    id="queue-is-visited-in-order",
    source="contract section 1: kv_holding_waiting first, then waiting, each from its head",
    doc="schedule() comes to those who wait in turn: who holds KV, then by place (who was preempted: at any time).",
    slices=(ROOM, DRAFTS, POOL, RUNNING, TIGHT, QUEUE, ARRIVALS),
    actions=("start_fetch", "defer", "stall", "admit", "no_kv", "start_kv_load", "claim_cached"),
    formula=is_queued(r)
    >> forall(
        _r,
        (
            is_queued(_r)
            & (
                (kv_held(_r) & ~kv_held(r))
                | (kv_held(_r).eq(kv_held(r)) & queue.before(_r, r) & ~is_(_r, "preempted") & ~is_(r, "preempted"))
            )
        )
        >> visited(_r),
    ),
)

LAST_IN_LAST = ActionProperty(
    id="new-request-is-queued-last",
    source="contract Q1",
    doc="Who arrives stands behind all others.",
    slices=(ROOM, RUNNING, TIGHT, QUEUE, ARRIVALS),
    actions=("add_request",),
    formula=forall(_r, (is_queued(_r) & _r.ne(r)) >> Primed(body=queue.before(_r, r))),
)

PREEMPTED_FIRST = ActionProperty(
    id="preempted-request-is-queued-first",
    source="contract Q22: waiting.prepend; Q12 to Q16",
    doc="Who is preempted stands before all others, and so does who comes back from a load of KV to wait.",
    slices=(ROOM, RUNNING, TIGHT),
    actions=("preempt", "loaded", "kv_load_fails"),
    formula=forall(_r, (Primed(body=is_queued(r)) & is_queued(_r) & _r.ne(r)) >> Primed(body=queue.before(r, _r))),
)

UNASKED = Invariant(
    id="nobody-is-put-off-unasked",
    source="vLLM PR 41627, R-73: ensure_cache_available is optional, and answers True by default",
    doc=(
        "Nobody is put off for the encoder's sake where the connector has no ensure_cache_available, and nobody "
        "who has KV where only those who wait are asked."
    ),
    slices=WITH_POOL,
    formula=forall(r, ~is_(r, "stalled") & (ec_gate.is_("none") >> ~is_(r, "deferred"))),
    applies=ec_gate.is_("none", "waiting_only"),
    premise=exists(r, is_(r, "waiting")),
)

_witness = witnesses_of("encoder")

WITNESSES = (
    _witness(
        "some-deferred-and-there", exists(r, is_(r, "deferred") & has_its_items(r)),
        "The items of a deferred request are there.", ARRIVALS, applies=PUTS_OFF,
    ),
    _witness(
        "some-deferred-is-overtaken", exists(r, r2, is_(r, "deferred") & is_(r2, "running") & arrivals.before(r, r2)),
        "One that arrived later runs, while one that was put off waits.", ARRIVALS,
        applies=PUTS_OFF, source="seeds 000: skipped, the scan goes on",
    ),
)  # fmt: skip

QUEUES: tuple[Property, ...] = (
    KEEPS_ITS_PLACE,
    FIRST_COME,
    NOT_FOR_EVER,
    IN_TURN,
    LAST_IN_LAST,
    PREEMPTED_FIRST,
    UNASKED,
    *queue.lemmas((ROOM, RUNNING, TIGHT, QUEUE, ARRIVALS)),
    *arrivals.lemmas((ARRIVALS,)),
    *WITNESSES,
)
