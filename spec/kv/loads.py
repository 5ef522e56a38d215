"""Loads: planned at an admission, over when all workers have reported."""

from __future__ import annotations

from interlock.spec.kv.common import BETWEEN_STEPS, LISTENING, SCHEDULER, SCHEDULING, plan
from interlock.spec.kv.predicates import held_by_another, is_filled_by_load, is_of, live_store
from interlock.spec.kv.vocabulary import (
    b,
    c,
    chunk_hash,
    due,
    expects,
    fresh,
    h,
    h2,
    hashed,
    holds,
    j,
    j2,
    load_meta,
    load_value,
    match_busy,
    r,
    request_state,
    request_states,
    scanned,
    w,
)
from interlock.spec.language.actions import Action, Fairness, assign, assign_all, fire, fire_all, need, send
from interlock.spec.language.terms import exists, forall

plan_load = Action(
    name="plan_load", event="plan_load", params=(r, b, c, j), site=SCHEDULER,
    fires=(fire("request", r), fire("chunk", c), fire("job", j)),
    sends=(send(load_meta, w, j, over=(w,)),),
    guard=(
        BETWEEN_STEPS,
        need("held", holds(r, b)),
        need("not-shared", ~held_by_another(b, r)),
        need("not-hashed", ~hashed(b)),
        need("freshly-allocated", fresh(b)),
        need("not-yet-loading", ~exists(h2, load_value(b, h2))),
        need(
            "no-store-is-open",
            match_busy.is_("proceed") | ~exists(j2, live_store(j2) & is_of(j2, r)),
            policy=True,
        ),
    ),
    updates=plan(
        (
            assign_all(h2, to=load_value(b, h2), value=h2.eq(chunk_hash(c))),
            assign(due(b), False),
        ),
        loads=True,
    ),
    source="contract 2.1 load job, Q8, I-24",
    doc="A ready chunk is to be loaded into a block that r was just given.",
)  # fmt: skip

admit_loaded = Action(
    name="admit_loaded", event="admit_loaded", params=(r,), site=SCHEDULER,
    fires=(fire("request", r),),
    guard=(BETWEEN_STEPS, need("has-blocks", exists(b, holds(r, b)))),
    updates=(SCHEDULING,),
    source="contract Q11; 5(d): partial right edge",
    doc=(
        "A request whose load has ended computes on in blocks that it has. None is full yet, as where a hit ends "
        "inside the block of a group whose blocks are larger, so nothing is published with that."
    ),
)  # fmt: skip

loaded = Action(
    name="loaded", event="loaded", params=(r,), site=SCHEDULER,
    fires=(fire("request", r), fire_all("block", b, when=holds(r, b))),
    guard=(LISTENING, need("loads-have-ended", forall(b, holds(r, b) >> ~is_filled_by_load(b)))),
    updates=(
        assign_all(b, to=holds(r, b), value=False, when=request_state(r).eq(request_states["held"])),
        assign_all(b, h, to=expects(r, b, h), value=False, when=request_state(r).eq(request_states["held"])),
    ),
    fairness=Fairness.STRONG,
    fairness_why="once the reports are there, finished_recving comes with the next output",
    source="contract Q12, Q32, L3, R-42",
    doc="finished_recving: all loads of r have ended on all workers. Had it ended meanwhile, its blocks go back now.",
)  # fmt: skip

look_up_anew = Action(
    name="look_up_anew", event="look_up_anew", params=(r,), site=SCHEDULER,
    fires=(fire("request", r), fire_all("block", b, when=holds(r, b))),
    guard=(
        BETWEEN_STEPS,
        need("some-load-failed", exists(b, holds(r, b) & ~hashed(b) & ~exists(h, load_value(b, h)))),
    ),
    updates=(
        assign_all(b, to=holds(r, b), value=False),
        assign_all(b, to=scanned(r, b), value=False),
        assign_all(b, h, to=expects(r, b, h), value=False),
        SCHEDULING,
    ),
    source="contract Q15, Q17, I-12",
    doc=(
        "Nothing of a load is left to a request: all its blocks go back, hits in the GPU's cache too, and it is looked "
        "up anew, as one that was preempted. (Where something is left, the rest is computed in the blocks that it has: "
        "Q14. Which it is, is for recovery: module engine.)"
    ),
)  # fmt: skip
