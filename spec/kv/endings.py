"""Requests that lose their blocks, and resets of the cache."""

from __future__ import annotations

from interlock.spec.kv.common import SCHEDULER
from interlock.spec.kv.predicates import forgets_jobs, is_of, live, open_store, pins, pool_is_free, reset_succeeds
from interlock.spec.kv.vocabulary import (
    b,
    block_hash,
    c,
    cpu_value,
    expects,
    failure_seen,
    gpu_value,
    h,
    hashed,
    holds,
    in_flight,
    j,
    job_loads,
    kept,
    kv_reset,
    must_flush,
    phase,
    phases,
    r,
    reads_current,
    request_state,
    request_states,
    scan_result,
    scan_results,
    scanned,
    w,
)
from interlock.spec.language.actions import Action, assign, assign_all, fire, fire_all, need

preempt = Action(
    name="preempt", event="preempt", params=(r,), site=SCHEDULER,
    fires=(fire("request", r), fire_all("block", b, when=holds(r, b))),
    guard=(need("after-update", phase().eq(phases["updated"])),),
    updates=(
        assign_all(b, to=holds(r, b), value=False),
        assign_all(b, to=scanned(r, b), value=False),
        assign_all(b, h, to=expects(r, b, h), value=False),
        assign_all(
            j, to=must_flush(j), value=True, when=~pins() & open_store(j) & is_of(j, r),
        ),
    ),
    source="contract Q22, R-60, 2.1 flush sources",
    doc=(
        "A schedule() begins by taking the blocks of a running request, which waits again. Where nothing else "
        "keeps the sources of its stores, the metadata of that schedule() orders their flush."
    ),
)  # fmt: skip

slide_out = Action(
    name="slide_out", event="slide_out", params=(r, b), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b)),
    guard=(need("after-update", phase().eq(phases["updated"])), need("held", holds(r, b))),
    updates=(
        assign(holds(r, b), False),
        assign(scanned(r, b), False),
        assign_all(h, to=expects(r, b, h), value=False),
    ),
    source="contract G6, 5(d) early freeing; single_type_kv_cache_manager.py:645-710 remove_skipped_blocks",
    doc=(
        "A schedule() begins by taking blocks of windowed groups (sliding window, chunked local, Mamba) that r, which "
        "goes on, has no more use for, perhaps while a store reads them. No connector is told: it sees the block given "
        "away again. (What a step computes does not slide out in the same schedule().)"
    ),
)  # fmt: skip

_STAYS_NOT = request_state(r).ne(request_states["loading"])
"""A request that ends while it is loading is held, blocks and all, until the load has ended."""

finish = Action(
    name="finish", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("request", r), fire_all("block", b, when=holds(r, b))),
    guard=(need("after-update", phase().eq(phases["updated"])),),
    updates=(
        assign_all(b, to=holds(r, b), value=False, when=_STAYS_NOT),
        assign_all(b, h, to=expects(r, b, h), value=False, when=_STAYS_NOT),
        assign_all(
            b, h, to=kept(r, b, h), value=True,
            when=_STAYS_NOT & holds(r, b) & hashed(b) & block_hash(b).eq(h),
        ),
    ),
    source="contract Q26, Q30, Q31, Q18, G4",
    doc="A request ends (stop, length, abort): its blocks go back, unless another holds them or a store pins them.",
)  # fmt: skip

_FORGETS = forgets_jobs()

reset_cache = Action(
    name="reset_cache", event="reset_cache", site=SCHEDULER,
    fires=(fire_all("job", j), fire_all("chunk", c)),
    guard=(need("between-steps", phases.one_of(phase(), "updated", "resting")),),
    updates=(
        assign_all(j, to=must_flush(j), value=kv_reset.is_("flush"), when=_FORGETS & live(j)),
        assign_all(j, to=failure_seen(j), value=False, when=_FORGETS & live(j) & ~job_loads(j)),
        assign_all(j, to=reads_current(j), value=False, when=_FORGETS & live(j)),
        assign_all(b, to=in_flight(b), value=False, when=_FORGETS),
        assign_all(r, b, h, to=kept(r, b, h), value=False, when=_FORGETS),
        assign_all(r, b, to=scanned(r, b), value=False, when=_FORGETS),
        assign_all(b, to=scan_result(b), value=scan_results["unscanned"], when=_FORGETS),
        # The GPU's prefix cache comes first, and does not look at what the connector says.
        assign_all(b, to=hashed(b), value=False, when=pool_is_free()),
        # Where the caller is told of success the weights may have changed, so what was computed is worthless.
        assign_all(w, b, h, to=gpu_value(w, b, h), value=False, when=reset_succeeds()),
        assign_all(w, c, h, to=cpu_value(w, c, h), value=False, when=reset_succeeds()),
    ),
    source="contract J12, L6, G7, Q23, R-62, R-63; vLLM #57727",
    doc=(
        "reset_prefix_cache with its connector: the GPU's prefix cache is emptied if no block is in use, the tier "
        "forgets what it has, or refuses to (kv_reset). The reset succeeds if both have; otherwise the caller is told "
        "to try again, although one of the two may be done."
    ),
)  # fmt: skip
