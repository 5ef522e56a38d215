"""What happens to one request, block, job or worker leaves the others as they are."""

from __future__ import annotations

from interlock.spec.kv.coverage import (
    BROKEN,
    FINISH,
    FINISH_TWICE,
    IDLE,
    LOADED_WAITS,
    TWO_CHUNKS,
    TWO_FAILING,
    TWO_SLIDE,
    WINDOWED,
)
from interlock.spec.kv.vocabulary import (
    b,
    c,
    cpu_value,
    expects,
    failure_seen,
    finish_store,
    gpu_value,
    h,
    hashed,
    holds,
    j,
    job_loads,
    kept,
    load_value,
    must_flush,
    pending_count,
    r,
    scanned,
    store_mode,
    w,
)
from interlock.spec.language.properties import ActionProperty, Property
from interlock.spec.language.terms import forall
from interlock.spec.shared.frames import unchanged
from interlock.spec.shared.sorts import block, chunk, hash_, job, request, worker

_r, _w = request.var("rv"), worker.var("wv")
_j, _b, _c, _h = job.var("jv"), block.var("bv"), chunk.var("cv"), hash_.var("hv")
_EAGER = store_mode.is_("eager")
_AT_FINISH = _EAGER & finish_store.is_("yes")

ONE_BLOCK = ActionProperty(
    id="a-block-is-given-or-published-alone",
    source="contract G1, G3, Q13",
    doc="Who is given a block, or has one published, changes nothing of what others hold or are found under.",
    slices=(LOADED_WAITS,),
    actions=("allocate", "publish_loaded"),
    formula=forall(_b, _h, _b.ne(b) >> unchanged(hashed(_b), load_value(_b, _h))),
)
ONE_LOADED = ActionProperty(
    id="a-load-that-ends-is-of-one-request",
    source="contract Q12, Q32, L3",
    doc="The end of the loads of one request takes no block from another.",
    slices=(LOADED_WAITS,),
    actions=("loaded",),
    formula=forall(_r, _b, _r.ne(r) >> unchanged(holds(_r, _b))),
)
ONE_PREEMPTED = ActionProperty(
    id="a-preemption-resets-one-cursor",
    source="contract Q22, R-60",
    doc="The scans of others go on from where they were when one request is preempted.",
    slices=(FINISH_TWICE,),
    applies=_EAGER,
    actions=("preempt",),
    formula=forall(_r, _b, _r.ne(r) >> unchanged(scanned(_r, _b), holds(_r, _b))),
)
ONE_SLIDES = ActionProperty(
    id="one-block-slides-out-of-one-table",
    source="contract G6",
    doc="What slides out of one window stays where others have it, and as far as others have come.",
    slices=(WINDOWED, TWO_SLIDE),
    actions=("slide_out",),
    formula=forall(
        _r, _b, _h, (_r.ne(r) | _b.ne(b)) >> unchanged(holds(_r, _b), scanned(_r, _b), expects(_r, _b, _h))
    ),
)  # fmt: skip
ONE_LEFT_UNSTORED = ActionProperty(
    id="a-finish-store-is-of-one-block-of-one-request",
    source="contract J1, J5, R-28",
    doc="A store at the finish takes its block off the list of what is left, and leaves the rest of the list.",
    slices=(IDLE, FINISH, FINISH_TWICE),
    applies=_AT_FINISH,
    actions=("plan_finish_store",),
    formula=forall(_r, _b, _h, (_r.ne(r) | _b.ne(b) | _h.ne(h)) >> unchanged(kept(_r, _b, _h))),
)
ONE_WORKER = ActionProperty(
    id="a-worker-writes-its-own-shards",
    source="contract 6.1 worker step, J8, L2; R-43: a load may fail on one rank",
    doc="The step, the copies and the failures of one worker leave the shards of the others as they are.",
    slices=(BROKEN,),
    actions=("run_step", "copy_store", "copy_load", "load_fails"),
    formula=forall(_w, _b, _h, _w.ne(w) >> unchanged(gpu_value(_w, _b, _h)))
    & forall(_w, _c, _h, _w.ne(w) >> unchanged(cpu_value(_w, _c, _h))),
)
ONE_CHUNK = ActionProperty(
    id="a-chunk-is-reserved-or-evicted-alone",
    source="contract 3.2, I-31, I-40",
    doc="Which chunk a store is to write, or the tier evicts, says nothing of what is in the others.",
    slices=(TWO_CHUNKS,),
    actions=("plan_store", "plan_finish_store", "plan_lazy_store", "evict"),
    formula=forall(_w, _c, _h, _c.ne(c) >> unchanged(cpu_value(_w, _c, _h))),
)
ONE_JOB = ActionProperty(
    id="a-job-is-planned-and-reported-alone",
    source="contract J4, J10, J11, R-43",
    doc="What is planned, or reported, of one job leaves what is known of others: kind, failures, reports to come.",
    slices=(TWO_FAILING,),
    actions=("plan_store", "plan_finish_store", "plan_lazy_store", "plan_load", "acknowledge", "acknowledge_failure"),
    formula=forall(_j, _j.ne(j) >> unchanged(job_loads(_j), failure_seen(_j), pending_count(_j), must_flush(_j))),
)

OTHERS: tuple[Property, ...] = (
    ONE_BLOCK, ONE_LOADED, ONE_PREEMPTED, ONE_SLIDES, ONE_LEFT_UNSTORED, ONE_WORKER, ONE_CHUNK, ONE_JOB,
)  # fmt: skip
