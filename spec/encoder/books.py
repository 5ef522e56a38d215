"""What is booked is so: slots, references, pins, transfers, reports and KV; the lemmas of the proofs."""

from __future__ import annotations

from interlock.spec.encoder.coverage import DRAFTS, EVERY, LOADS, ROOM, TWICE, WITH_POOL
from interlock.spec.encoder.predicates import in_pool, is_, is_loading, stands
from interlock.spec.encoder.vocabulary import (
    arrived,
    block,
    broken,
    cell,
    embedding,
    encode_order,
    encoder_entry,
    encoder_entry_states,
    feature_item,
    free_order,
    free_slots,
    freeable_slots,
    i,
    item,
    j,
    job,
    kv_held,
    kv_used,
    load_done,
    load_item,
    load_order,
    load_reports,
    p,
    pool_evictable,
    pool_free,
    pool_pins,
    pool_value,
    position,
    r,
    request,
    slot,
    transit,
    uses,
    visiting,
    w,
)
from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.terms import Term, card, exists, forall, ite

_i, _j, _p, _r = item.var("iy"), job.var("jy"), position.var("py"), request.var("ry")

BOOKS_OF_PROOFS = (
    "encoder-budget-adds-up", "used-entry-is-referenced", "encoder-pool-accounting",
    "encoder-load-pin-released-once", "encoder-load-reports-are-counted", "ended-loads-left-nothing",
    "encoder-kv-shares-add-up",
)  # fmt: skip
"""The lemmas with which every counter stays in its range and every partial function in its domain."""


def _entry(i: Term, *states: str) -> Term:
    return encoder_entry_states.one_of(encoder_entry(i), *states)


BUDGET = Invariant(
    id="encoder-budget-adds-up",
    aliases=("I-60",),
    source="contract I-60; vLLM issue 55733",
    doc=(
        "Slots that are free and slots that entries take add up to the capacity, which is never exceeded; freeable "
        "ones are counted right."
    ),
    slices=EVERY,
    formula=(free_slots() >= 0)
    & (free_slots() + card(_i, _entry(_i, "referenced", "freeable"))).eq(slot.size)
    & freeable_slots().eq(free_slots() + card(_i, _entry(_i, "freeable"))),
)

EVICTS_FOR_ROOM = ActionProperty(
    id="encoder-cache-evicts-for-room-only",
    source="contract N4: can_allocate evicts while too few slots are free",
    doc="An unused item leaves the encoder cache only when all slots are taken and the visited runner needs one.",
    slices=(ROOM, DRAFTS, TWICE, LOADS),
    actions=("evict_entry",),
    formula=card(_i, _entry(_i, "referenced", "freeable")).eq(slot.size)
    & exists(
        r,
        p,
        visiting(r)
        & is_(r, "running")
        & stands(r, p, "ahead", "entered")
        & ~_entry(feature_item(r, p), "referenced", "freeable"),
    ),
    policy=True,
)

USED_IS_REFERENCED = Invariant(
    id="used-entry-is-referenced",
    source="contract I-61",
    doc="The encoder cache keeps what a request uses.",
    slices=EVERY,
    formula=forall(r, i, uses(r, i) >> _entry(i, "referenced")),
    lemma=True,
)

UNUSED_IS_FREEABLE = Invariant(
    id="unused-entry-is-freeable",
    aliases=("I-61",),
    source="contract I-61",
    doc="An entry is referenced exactly while some request uses it.",
    slices=EVERY,
    formula=forall(i, _entry(i, "referenced").eq(exists(_r, uses(_r, i)))),
)

EVICTED_TOLD = Invariant(
    id="evicted-and-told",
    aliases=("I-62",),
    source="contract I-62, N4, N5",
    doc=(
        "Workers are told to drop an item only while it is not cached, and what they hold beyond the "
        "scheduler's entries is evicted and they are about to be told."
    ),
    slices=EVERY,
    formula=forall(
        w,
        i,
        ((free_order(w, i) > 0) >> _entry(i, "absent"))
        & (embedding(w, i) >> (~_entry(i, "absent") | (free_order(w, i) > 0))),
    ),
    premise=exists(w, i, embedding(w, i)),
)

DROPS_OR_BRINGS = Invariant(
    id="a-step-drops-nothing-that-it-brings",
    source="contract N5, E:305-310; vLLM PR 52482",
    doc=(
        "No worker is told to drop an item by the step that has it encode or load it: an eviction that the same "
        "schedule() takes back is told to nobody, so it does not matter what a worker does first."
    ),
    slices=(ROOM, DRAFTS, TWICE, LOADS),
    formula=forall(
        w,
        i,
        (free_order(w, i) > 0) >> (encode_order(w, i).eq(0) & forall(j, (load_order(w, j) > 0) >> load_item(j).ne(i))),
    ),
    premise=exists(w, i, free_order(w, i) > 0),
)

CACHED_IS_THERE = Invariant(
    id="cached-entry-is-on-the-workers",
    aliases=("I-63",),
    source="contract I-63",
    doc="What the encoder cache has booked is on every worker, or on its way there with the step.",
    slices=EVERY,
    formula=forall(
        w,
        i,
        _entry(i, "referenced", "freeable")
        >> (
            embedding(w, i)
            | (encode_order(w, i) > 0)
            | exists(_j, is_loading(_j) & (load_order(w, _j) > 0) & load_item(_j).eq(i))
        ),
    ),
    premise=exists(i, _entry(i, "referenced", "freeable")),
)

ENTERED_IS_THERE = Invariant(
    id="entered-feature-has-its-entry",
    aliases=("I-67",),
    source="contract I-67; vLLM PR 45347",
    doc="A request whose tokens are in a feature, settled or not, uses the item that stands there.",
    slices=EVERY,
    formula=forall(r, p, stands(r, p, "entered", "counted") >> uses(r, feature_item(r, p))),
    premise=exists(r, p, stands(r, p, "entered", "counted")),
)

POOL_ACCOUNTING = Invariant(
    id="encoder-pool-accounting",
    aliases=("I-64",),
    source="contract 4.2, I-64",
    doc=(
        "Entries and free places of the pool add up to its capacity, which is never exceeded, and its eviction list "
        "names the ready entries without a pin."
    ),
    slices=EVERY,
    formula=(pool_free() >= 0)
    & (pool_free() + card(_i, ~in_pool(_i, "absent"))).eq(cell.size)
    & forall(i, pool_evictable(i).eq(in_pool(i, "ready"))),
)

POOL_EVICTS_FOR_ROOM = ActionProperty(
    id="encoder-pool-evicts-for-room-only",
    source="contract 4.2 _evict_until",
    doc="An entry leaves the pool to make room only while every place of it is taken.",
    slices=WITH_POOL,
    actions=("evict_pool",),
    formula=card(_i, ~in_pool(_i, "absent")).eq(cell.size),
    policy=True,
)

PIN_ONCE = Invariant(
    id="encoder-load-pin-released-once",
    aliases=("I-65",),
    source="contract I-65, I-58",
    doc="An entry has exactly one pin for each load that has not ended, and is pinned while it has one.",
    slices=EVERY,
    formula=forall(
        i,
        pool_pins(i).eq(card(_j, is_loading(_j) & load_item(_j).eq(i))) & in_pool(i, "pinned").eq(pool_pins(i) > 0),
    ),
)

LOAD_REPORTS = Invariant(
    id="encoder-load-reports-are-counted",
    source="contract 4.2, I-65",
    doc="A load waits for exactly the workers that still have it and the reports under way.",
    slices=WITH_POOL,
    formula=forall(
        j,
        is_loading(j) >> (load_reports(j).eq(card(w, load_order(w, j) > 0) + load_done(j))),
    ),
    premise=exists(j, is_loading(j)),
)

LOADS_WAIT = Invariant(
    id="load-under-way-waits-for-a-report",
    source="contract 4.2, I-65",
    doc="A load that is under way waits for some worker.",
    slices=WITH_POOL,
    formula=forall(j, is_loading(j) >> (load_reports(j) > 0)),
    premise=exists(j, is_loading(j)),
)

ENDED_LOADS = Invariant(
    id="ended-loads-left-nothing",
    source="contract 4.2, I-58, R-70",
    doc="A load that is not under way is with no worker, and no report on it is to come; no worker gets one twice.",
    slices=EVERY,
    formula=forall(j, ~is_loading(j) >> (load_done(j).eq(0) & forall(w, load_order(w, j).eq(0))))
    & forall(w, j, load_order(w, j) <= 1),
    lemma=True,
)

TRANSIT_OUTSTANDING = Invariant(
    id="in-transit-has-a-transfer",
    aliases=("I-66",),
    source="contract I-66",
    doc="An entry that is in transit, or given up, has exactly one transfer outstanding; any other has none.",
    slices=EVERY,
    formula=forall(
        i,
        (transit(i) + arrived(i) + broken(i)).eq(ite(in_pool(i, "in_transit", "unavailable"), 1, 0)),
    ),
)

ABSENT_IS_EMPTY = Invariant(
    id="absent-pool-entry-holds-nothing",
    source="contract 4.2: discarded",
    doc="What the pool holds is an entry's, and nothing is in it while its transfer is under way.",
    slices=WITH_POOL,
    formula=forall(i, pool_value(i) >> (~in_pool(i, "absent") & transit(i).eq(0))),
    premise=exists(i, pool_value(i)),
)

KV_ADDS_UP = Invariant(
    id="encoder-kv-shares-add-up",
    source="contract Q7 to Q11, Q31",
    doc="As many shares of KV are in use as requests hold one, and only requests that may hold one do.",
    slices=EVERY,
    formula=kv_used().eq(card(_r, kv_held(_r)))
    & (kv_used() <= block.size)
    & forall(
        r,
        (is_(r, "loading", "running", "stalled", "held", "delayed") >> kv_held(r))
        & (kv_held(r) >> is_(r, "waiting", "loading", "running", "stalled", "held", "delayed")),
    ),
    premise=exists(r, kv_held(r)),
)

BOOKS = (
    BUDGET,
    EVICTS_FOR_ROOM,
    USED_IS_REFERENCED,
    UNUSED_IS_FREEABLE,
    EVICTED_TOLD,
    DROPS_OR_BRINGS,
    CACHED_IS_THERE,
    ENTERED_IS_THERE,
    POOL_ACCOUNTING,
    POOL_EVICTS_FOR_ROOM,
    PIN_ONCE,
    LOAD_REPORTS,
    LOADS_WAIT,
    ENDED_LOADS,
    TRANSIT_OUTSTANDING,
    ABSENT_IS_EMPTY,
    KV_ADDS_UP,
)
