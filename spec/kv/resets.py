"""What a reset of the cache may leave behind, what it has to, and that it can be had."""

from __future__ import annotations

from interlock.spec.kv.coverage import BROKEN, PARTIAL, WITH_RESETS, WITH_REST
from interlock.spec.kv.judging import live, live_store, stale, tier_refuses
from interlock.spec.kv.vocabulary import (
    b,
    block_hash,
    block_state,
    block_states,
    c,
    chunk_hash,
    chunk_state,
    chunk_states,
    copy_state,
    copy_states,
    cpu_value,
    due,
    failure_seen,
    flush_meta,
    gpu_value,
    h,
    hashed,
    idle,
    in_flight,
    j,
    j2,
    job_chunk,
    job_loads,
    kv_reset,
    must_flush,
    phase,
    phases,
    w,
)
from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.terms import Primed, exists, forall

RESET_AT_REST = Invariant(
    id="a-reset-succeeds-once-the-engine-rests",
    policy=True,
    source="contract V-13, R-62; block_pool.py:827-866: a reset is refused while a block is in use",
    doc=(
        "Where the connector reports pending work, no GPU block is in use when the engine rests, and the tier has no "
        "reason to refuse. So a caller whose reset was refused, and who lets the engine run out of work, is not "
        "refused again."
    ),
    slices=WITH_REST,
    applies=idle.is_("flush", "drain") | kv_reset.is_("unsupported"),
    formula=phase().eq(phases["resting"]) >> (forall(b, block_state(b).eq(block_states["free"])) & ~tier_refuses()),
    premise=phase().eq(phases["resting"]),
)

_other = job_chunk(j2).eq(job_chunk(j))
_in_use = chunk_state(job_chunk(j)).eq(chunk_states["ready"]) | exists(j2, live(j2) & _other)
_to_copy = (copy_state(w, j).eq(copy_states["store_queued"]) & _in_use) | (
    copy_state(w, j).eq(copy_states["load_queued"]) & exists(j2, live_store(j2) & _other)
)
STALE_TOUCHES_NOTHING = Invariant(
    id="stale-job-touches-nothing",
    aliases=("I-58",),
    source="vLLM #44541; contract L6, I-57, I-58, R-62",
    doc=(
        "A chunk that is in use again is out of reach of the copies that a reset has made stale: where one has still "
        "to write it, or to read it while something new is stored there, its flush comes first."
    ),
    slices=WITH_RESETS,
    applies=kv_reset.is_("forget", "flush", "hold"),
    formula=forall(w, j, (stale(j) & _to_copy) >> (must_flush(j) | (flush_meta(w, j) > 0))),
    premise=exists(j, stale(j)),
)  # fmt: skip

RESET_FORGETS = Invariant(
    id="after-reset-nothing-old-is-served",
    source="vLLM #57727, #44541; contract R-62",
    doc=(
        "A reset that succeeds makes worthless whatever was computed before. Nothing of that is found afterwards, "
        "neither in the CPU tier nor among the GPU's blocks, on any worker."
    ),
    slices=WITH_RESETS,
    formula=forall(c, w, chunk_state(c).eq(chunk_states["ready"]) >> cpu_value(w, c, chunk_hash(c)))
    & forall(b, w, (hashed(b) & ~due(b)) >> gpu_value(w, b, block_hash(b))),
    premise=exists(c, chunk_state(c).eq(chunk_states["ready"])),
)

_was_ready = chunk_state(c).eq(chunk_states["ready"])
REFUSED_LEAVES_READY = ActionProperty(
    id="a-refused-reset-leaves-what-is-ready",
    source="contract V-13, R-62; simple_kv_offload/manager.py:1443 of 0.32.0",
    doc=(
        "A reset that the tier refuses takes nothing from what it serves, under the prefix that it had, and what is "
        "there is as true as before; a tier that supports no reset keeps its jobs as well. (Under hold these are "
        "forgotten all the same: no result of theirs is ever found, which costs a copy and no more.)"
    ),
    slices=WITH_RESETS,
    applies=kv_reset.is_("unsupported", "hold"),
    actions=("reset_cache",),
    formula=tier_refuses()
    >> (
        forall(c, _was_ready >> Primed(body=_was_ready))
        & forall(w, c, h, cpu_value(w, c, h) >> Primed(body=cpu_value(w, c, h)))
        & (kv_reset.is_("hold") | forall(j, live(j) >> Primed(body=live(j))))
    ),
)

LATE_REPORTS = ActionProperty(
    id="late-report-settles-nothing",
    aliases=("I-47",),
    source="contract J12, I-47, I-58",
    doc="A report on a job that a reset has made stale makes no chunk ready and ends no entry of the dedup set.",
    slices=WITH_RESETS,
    actions=("acknowledge", "acknowledge_failure"),
    formula=stale(j)
    >> (
        forall(c, Primed(body=chunk_state(c).eq(chunk_states["ready"])) >> chunk_state(c).eq(chunk_states["ready"]))
        & forall(b, in_flight(b) >> Primed(body=in_flight(b)))
    ),
)

STALE_HAS_NOT_FAILED = Invariant(
    id="a-stale-store-has-no-failure",
    source="contract J12, I-58",
    doc="That a store has failed somewhere is forgotten with its result, and of a stale one it is not noted any more.",
    slices=(PARTIAL, BROKEN),
    applies=kv_reset.is_("forget", "flush", "hold"),
    formula=forall(j, (stale(j) & ~job_loads(j)) >> ~failure_seen(j)),
    premise=exists(j, stale(j) & ~job_loads(j)),
)

RESETS = (STALE_HAS_NOT_FAILED, RESET_AT_REST, STALE_TOUCHES_NOTHING, RESET_FORGETS, REFUSED_LEAVES_READY, LATE_REPORTS)
