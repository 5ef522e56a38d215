"""What happens to one request, or at one worker, leaves the others as they are."""

from __future__ import annotations

from interlock.spec.encoder.coverage import ARRIVALS, ASK, EVERY, LOADS, POOL, QUEUE, ROOM, RUNNING, TIGHT, TWICE
from interlock.spec.encoder.vocabulary import PUTS_OFF, embedding, gave_up, i, item, r, request, visited, w, worker
from interlock.spec.language.properties import ActionProperty, Property
from interlock.spec.language.terms import forall
from interlock.spec.shared.frames import unchanged

_r, _i, _w = request.var("ry"), item.var("iy"), worker.var("wy")

BUDGET_OF_ONE = ActionProperty(
    id="a-deadline-is-of-one-request-and-item",
    source="R-66, V-04; contract 4.2: 60 s per (request, hash)",
    doc="A deadline spends the budget of one request for one item: the others keep what they have.",
    slices=(ASK, TWICE, POOL, RUNNING, TIGHT),
    applies=PUTS_OFF,
    actions=("expire",),
    formula=forall(_r, _i, (_r.ne(r) | _i.ne(i)) >> unchanged(gave_up(_r, _i))),
)
FORGETS_ITS_OWN = ActionProperty(
    id="an-end-forgets-no-budget-of-others",
    source="contract 4.3: request_finished; R-66",
    doc="When a request ends, what others have given up stays given up.",
    slices=(ASK, POOL, RUNNING, TIGHT, ARRIVALS),
    applies=PUTS_OFF,
    actions=("finish", "complete", "fail_unavailable"),
    formula=forall(_r, _i, _r.ne(r) >> unchanged(gave_up(_r, _i))),
)
PREEMPTED_KEEP_BUDGET = ActionProperty(
    id="a-preemption-gives-no-budget-back",
    source="R-66, V-04; contract 4.2: 60 s per (request, hash)",
    doc="What was given up for a request stays given up when it is preempted: it is not put off for that again.",
    slices=(ROOM, RUNNING, TIGHT),
    applies=PUTS_OFF,
    actions=("preempt",),
    formula=forall(_r, _i, unchanged(gave_up(_r, _i))),
)
VISITS_ONE = ActionProperty(
    id="a-visit-is-to-one-request",
    source="contract section 1: one request is popped, and asked, at a time",
    doc="A visit of schedule() counts for the request that it is to: the others are still to be asked.",
    slices=(*EVERY, QUEUE, ARRIVALS),
    actions=("defer", "stall", "resume", "go_on", "admit", "no_kv", "start_kv_load"),
    formula=forall(_r, _r.ne(r) >> unchanged(visited(_r))),
)
OWN_CACHE = ActionProperty(
    id="a-step-fills-the-cache-of-its-worker",
    source="contract I-62, I-63: each worker has an encoder cache of its own",
    doc="The step of one worker changes nothing in the encoder caches of the others.",
    slices=(LOADS,),
    actions=("run_step",),
    formula=forall(_w, _i, _w.ne(w) >> unchanged(embedding(_w, _i))),
)

OTHERS: tuple[Property, ...] = (BUDGET_OF_ONE, FORGETS_ITS_OWN, PREEMPTED_KEEP_BUDGET, VISITS_ONE, OWN_CACHE)
