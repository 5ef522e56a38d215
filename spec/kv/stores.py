"""Store scans: what is stored, what is passed over, and which chunk makes room."""

from __future__ import annotations

from interlock.spec.kv.common import BETWEEN_STEPS, SCHEDULER, SCHEDULING, plan
from interlock.spec.kv.predicates import (
    dedup_says_skip,
    is_read_by_open_load,
    no_room,
    open_store,
    pins,
    serves,
    stale_load,
)
from interlock.spec.kv.vocabulary import (
    b,
    block_hash,
    c,
    c2,
    chunk_hash,
    chunk_state,
    chunk_states,
    cpu_value,
    finish_store,
    fresh,
    h,
    h2,
    hashed,
    holds,
    in_flight,
    j,
    j2,
    job_block,
    job_chunk,
    kept,
    must_flush,
    r,
    reads_current,
    request_state,
    request_states,
    scan_result,
    scan_results,
    scanned,
    store_choice,
    store_meta,
    store_mode,
    w,
)
from interlock.spec.language.actions import Action, assign, assign_all, fire, need, send
from interlock.spec.language.terms import exists, ite

FENCE_SETTLED = need(
    "flush-ordered-before-scan",
    ~exists(j2, open_store(j2) & must_flush(j2) & job_block(j2).eq(b)),
    policy=True,
)
EAGERLY = need("eagerly", store_mode.is_("eager"), policy=True)
NOT_IN_FLIGHT = need("not-in-flight", ~dedup_says_skip(b, block_hash(b)), policy=True)
NOT_STORED = need("not-stored", ~serves(b), policy=True)
CHOOSES = store_choice.is_("some_blocks")


_STILL_READ = exists(j2, stale_load(j2) & job_chunk(j2).eq(c))
"""A chunk's old bytes are of no more interest once a store is to overwrite it, unless a stale load still reads them."""

plan_store = Action(
    name="plan_store", event="plan_store", params=(r, b, c, j), site=SCHEDULER,
    fires=(fire("request", r), fire("chunk", c), fire("job", j)),
    sends=(send(store_meta, w, j, over=(w,)),),
    guard=(
        EAGERLY,
        BETWEEN_STEPS,
        need("held", holds(r, b)),
        need("hashed", hashed(b)),
        need("cursor", ~scanned(r, b), policy=True),
        FENCE_SETTLED,
        NOT_IN_FLIGHT,
        NOT_STORED,
    ),
    updates=plan(
        (
            assign(chunk_hash(c), block_hash(b)),
            assign(in_flight(b), True),
            assign(scanned(r, b), True),
            assign(must_flush(j), False),
            assign(reads_current(j), True),
            assign(
                scan_result(b),
                ite(
                    scan_result(b).eq(scan_results["evicted"]),
                    scan_results["passed_again"],
                    scan_results["passed"],
                ),
            ),
            assign_all(w, h, to=cpu_value(w, c, h), value=False, when=~_STILL_READ),
        ),
        loads=False,
    ),
    source="contract J1 to J4, 5(e); vLLM PR 41289",
    doc="The store scan of r plans a store of one of its blocks into a free chunk.",
)  # fmt: skip

plan_finish_store = Action(
    name="plan_finish_store", event="plan_store", params=(r, b, h, c, j), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b), fire("chunk", c), fire("job", j)),
    sends=(send(store_meta, w, j, over=(w,)),),
    guard=(
        EAGERLY,
        need("finish-stores-are-made", finish_store.is_("yes"), policy=True),
        BETWEEN_STEPS,
        need("kept-at-finish", kept(r, b, h)),
        need("cursor", ~scanned(r, b), policy=True),
        need("reallocation-is-fenced", ~pins() | ~fresh(b)),
        FENCE_SETTLED,
        need("not-in-flight", ~dedup_says_skip(b, h), policy=True),
        need("not-stored", ~exists(c2, chunk_state(c2).eq(chunk_states["ready"]) & chunk_hash(c2).eq(h)), policy=True),
    ),
    updates=plan(
        (
            assign(chunk_hash(c), h),
            assign(in_flight(b), True),
            assign(kept(r, b, h), False),
            assign(must_flush(j), fresh(b)),
            assign(reads_current(j), ~fresh(b)),
            assign(scan_result(b), ite(fresh(b), scan_result(b), scan_results["passed"])),
            assign_all(w, h2, to=cpu_value(w, c, h2), value=False, when=~_STILL_READ),
        ),
        loads=False,
    ),
    source="contract J1, J5, R-28: the job of a request that finished in the step before",
    doc=(
        "What a request left unstored at its finish is stored by the next metadata. If the block was "
        "allocated again in that very schedule(), the same metadata must order the flush."
    ),
)  # fmt: skip

skip_store = Action(
    name="skip_store", event="skip_store", params=(r, b), site=SCHEDULER, observed=False,
    guard=(
        EAGERLY,
        BETWEEN_STEPS,
        need("scheduled", request_state(r).eq(request_states["scheduled"])),
        need("held", holds(r, b)),
        need("hashed", hashed(b)),
        need("cursor", ~scanned(r, b)),
        FENCE_SETTLED,
        need("has-a-reason", dedup_says_skip(b, block_hash(b)) | serves(b) | no_room() | CHOOSES),
    ),
    updates=(
        assign(scanned(r, b), True),
        assign(
            scan_result(b),
            # Excused by the state, not by the guard: a scan that skips for no reason has passed over b.
            ite(
                (no_room() | CHOOSES) & ~dedup_says_skip(b, block_hash(b)) & ~serves(b),
                scan_results["excused"],
                scan_results["passed"],
            ),
        ),
        SCHEDULING,
    ),
    source="contract J2, J3, 5(e): IN_FLIGHT and ALREADY_CACHED advance the cursor, and so does a threshold",
    doc=(
        "The store scan of r passes over a block: a store of it is under way, it is stored, the tier is full, or the "
        "connector chooses not to."
    ),
)  # fmt: skip

plan_lazy_store = Action(
    name="plan_lazy_store", event="plan_store", params=(b, c, j), site=SCHEDULER,
    fires=(fire("block", b), fire("chunk", c), fire("job", j)),
    sends=(send(store_meta, w, j, over=(w,)),),
    guard=(need("lazily", store_mode.is_("lazy")), BETWEEN_STEPS, need("hashed", hashed(b)), NOT_STORED),
    updates=plan(
        (
            assign(chunk_hash(c), block_hash(b)),
            assign(reads_current(j), True),
            assign_all(w, h, to=cpu_value(w, c, h), value=False, when=~_STILL_READ),
        ),
        loads=False,
        of_request=False,
    ),
    source="vLLM 0.32.0 v1/simple_kv_offload/manager.py:586-640; seeds 004; contract 2.2, I-53",
    doc=(
        "A walk along the free queue stores an addressable block that nobody refers to, before it is given away and "
        "lost. No dedup set is asked: the reference that the store takes keeps the block out of the queue meanwhile."
    ),
)  # fmt: skip

evict = Action(
    name="evict", event="evict", params=(c,), site=SCHEDULER, observed=False,
    fires=(fire("chunk", c),),
    guard=(BETWEEN_STEPS, need("not-pinned", ~is_read_by_open_load(c))),
    updates=(
        assign_all(
            b, to=scan_result(b), value=scan_results["evicted"],
            when=scan_results.one_of(scan_result(b), "passed", "passed_again")
            & hashed(b) & block_hash(b).eq(chunk_hash(c))
            & ~exists(
                c2,
                c2.ne(c) & chunk_state(c2).eq(chunk_states["ready"]) & chunk_hash(c2).eq(chunk_hash(c)),
            ),
        ),
        assign_all(w, h, to=cpu_value(w, c, h), value=False),
    ),
    source="contract 3.2, I-40",
    doc="The tier evicts a ready chunk that no load reads.",
)  # fmt: skip
