"""Sorts, enumerations, switches and variables of the encoder cache and its connector (EC).

An item is one image or clip, named by the hash of its content. It may be in three places: in the
encoder cache of the workers, booked by the scheduler's EncoderCacheManager; in the pool of the EC
connector; and on its way into that pool. A feature is one place in a prompt at which an item
stands; a request may hold one item at two places. Every item takes one slot, and a request's KV is
one share.
"""

from __future__ import annotations

from interlock.spec.language.orders import Order
from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.terms import Int, Size, Term
from interlock.spec.language.variables import Discipline, Site, StateVar, channel, counter, function, relation
from interlock.spec.shared.sorts import block, item, job, position, request, worker
from interlock.spec.shared.step import output, phase, phases, step

slot = Sort(name="slot", doc="a place in the encoder cache, as large as one item")
cell = Sort(name="cell", doc="a place in the EC connector's pool, as large as one item")
SORTS = (request, item, position, worker, job, block, slot, cell)

visit_states = Enumeration(
    name="visit_states",
    members=(
        "absent", "waiting", "deferred", "loading", "running", "stalled", "preempted", "held", "delayed", "finished",
    ),
    doc=(
        "a request, as the scheduler's visits see it; deferred: it waits with nothing computed and its last answer "
        "was no; stalled: the same for one that has KV; held: ended while its KV load is still to come; "
        "delayed: ended, and the EC connector asked to keep its KV"
    ),
)  # fmt: skip
feature_states = Enumeration(
    name="feature_states",
    members=("none", "ahead", "matched", "entered", "counted", "passed"),
    doc=(
        "a feature against the computed tokens; matched: the KV match covers it; entered: they have reached it "
        "(offset + length > computed); counted: the scheduler counts beyond it, drafts included; passed: settled"
    ),
)
encoder_entry_states = Enumeration(
    name="encoder_entry_states",
    members=("absent", "referenced", "freeable", "evicted"),
    doc="an item in the encoder cache; evicted: its slot is free again, and the workers are still to be told",
)
pool_entry_states = Enumeration(
    name="pool_entry_states",
    members=("absent", "in_transit", "ready", "pinned", "unavailable"),
    doc="an item in the connector's pool; unavailable: given up (a tombstone), its place held until the transfer ends",
)
pool_load_states = Enumeration(
    name="pool_load_states",
    members=("idle", "under_way"),
    doc="a load from the pool into the workers' encoder caches",
)
ENUMS = (visit_states, feature_states, encoder_entry_states, pool_entry_states, pool_load_states, phases)

ec_gate = Switch(
    name="ec_gate",
    values=("none", "waiting_only", "all"),
    doc=(
        "Whom the scheduler asks whether its items are there: nobody (also the case of a connector without "
        "ensure_cache_available, whose default is True: ec_transit says whether that is sound), waiting requests "
        "with nothing computed, or all."
    ),
    source="vLLM PR 41627, R-64, R-73; none: up to 0.22.1, waiting_only: 0.23 to 0.28, all: 0.32",
)
ec_transit = Switch(
    name="ec_transit",
    values=("possible", "never"),
    doc=(
        "Whether the connector can have an item in transit (it fetches ahead, or when asked), or never has: what it "
        "holds is there. Only the latter does without ensure_cache_available (ec_gate=none)."
    ),
    source="R-64, R-73; contract 4.2; never: a connector that reads a store of files, as ECExampleConnector does",
)
ec_future = Switch(
    name="ec_future",
    values=("all_features", "future_only"),
    doc="Which features an answer is about: all of the request's, or those beyond its computed tokens.",
    source="vLLM PR 41627, R-65",
)
ec_defer = Switch(
    name="ec_defer",
    values=("head_of_line", "requeued", "skipped"),
    doc=(
        "What a no does: the scan ends there, as for want of KV (head_of_line); or goes on behind the request, which "
        "is put at the end of the queue (requeued) or back at its place (skipped)."
    ),
    source=(
        "vLLM PR 41627; contract section 1, skip and break; requeued is no release's: seeds 000 forbids it, and all "
        "put back with prepend_requests"
    ),
)
ec_deadline = Switch(
    name="ec_deadline",
    values=("none", "expires"),
    doc="Whether the connector bounds how long it says no (60 s per request and item in ECCPU).",
    source="R-66, V-04; contract 4.2",
)
ec_free = Switch(
    name="ec_free",
    values=("optimistic", "settled"),
    doc="When an input is freed: once the scheduler counts beyond it, drafts included, or once that is settled.",
    source="vLLM PR 45347; contract 4.1",
)
ec_waiting_refs = Switch(
    name="ec_waiting_refs",
    values=("kept", "released"),
    doc="What becomes of entries that a visit took, when the request is not admitted after all.",
    source="vLLM PR 31857; contract Q7",
)
ec_external = Switch(
    name="ec_external",
    values=("assumed", "loaded"),
    doc="What follows when the connector holds an item: only that it is not encoded, or that workers load it.",
    source="vLLM PR 51222; contract 4.3",
)
ec_finish_delay = Switch(
    name="ec_finish_delay",
    values=("asked", "never"),
    doc="Whether EC request_finished may answer True, on which the scheduler keeps the request's KV.",
    source="contract D4, R-69; asked: 0.28 to 0.32",
)
SWITCHES = (
    ec_gate,
    ec_transit,
    ec_future,
    ec_defer,
    ec_deadline,
    ec_free,
    ec_waiting_refs,
    ec_external,
    ec_finish_delay,
)

PUTS_OFF = ec_gate.is_("waiting_only", "all") & ec_transit.is_("possible")
"""Somebody is put off, sometime: requests are asked about, and items can be in transit."""
PUTS_RUNNERS_OFF = ec_gate.is_("all") & ec_transit.is_("possible")

r, r2 = request.var("r"), request.var("r2")
i, i2 = item.var("i"), item.var("i2")
p, p2 = position.var("p"), position.var("p2")
j, j2 = job.var("j"), job.var("j2")
w = worker.var("w")

S, W, E, G = Site.SCHEDULER, Site.WORKER, Site.ENVIRONMENT, Site.GHOST

visit_state = function(
    "visit_state", r, result=visit_states, site=S, init=visit_states["absent"], doc="lifecycle visit"
)
feature_state = function(
    "feature_state", r, p, result=feature_states, site=S, init=feature_states["none"], doc="lifecycle feature"
)
feature_item = function(
    "feature_item", r, p, result=item, site=S, domain=feature_state(r, p).ne(feature_states["none"]),
    doc="the item that stands at p in the prompt of r",
)  # fmt: skip
kv_held = relation("kv_held", r, site=S, doc="r has its KV blocks (computed tokens, or a load of them under way)")
kv_used = counter("kv_used", site=S, doc="shares of KV in use; no more than there are is a property with a name")
visited = relation("visited", r, site=S, doc="this schedule() has visited r")
visiting = relation("visiting", r, site=S, doc="the visit to r is open: its answer was yes, and it goes on with r")
scan_stopped = relation("scan_stopped", site=S, doc="this schedule() has ended its scan of the queue")


def known(x: Term) -> Term:
    """Request x has arrived, and its id is not free again."""
    return visit_state(x).ne(visit_states["absent"])


def in_queue(x: Term) -> Term:
    """Request x waits: a visit may admit it."""
    return visit_states.one_of(visit_state(x), "waiting", "deferred", "preempted")


queue = Order(name="ahead_of", member=request, site=S, among=in_queue, doc="x stands before y in the waiting queue")
arrivals = Order(name="came_before", member=request, site=G, among=known, doc="x has arrived before y")

encoder_entry = function(
    "encoder_entry", i, result=encoder_entry_states, site=S, init=encoder_entry_states["absent"],
    doc="lifecycle encoder_entry",
)  # fmt: skip
uses = relation("uses", r, i, site=S, doc="r is among those for whom the encoder cache keeps i")


def _slots(name: str, doc: str, size: Size, high: Size | None) -> StateVar:
    """A counter that starts at a capacity; that it stays from 0 on is a property with a name."""
    return StateVar(name=name, result="int", site=S, init=size, low=Int(value=-1), high=high, doc=doc)


free_slots = _slots("free_slots", "slots that no entry takes (num_free_slots)", slot.size, slot.size)
# No declared bound: that it stays within the capacity is a property with a name.
freeable_slots = _slots(
    "freeable_slots", "slots that are free or could be, by eviction (num_freeable_slots)", slot.size, None
)

pool_entry = function(
    "pool_entry", i, result=pool_entry_states, site=S, init=pool_entry_states["absent"], doc="lifecycle pool_entry"
)
pool_free = _slots("pool_free", "places of the pool that no entry takes", cell.size, cell.size)
pool_evictable = relation("pool_evictable", i, site=S, doc="the pool's eviction list: i may be evicted")
pool_pins = counter("pool_pins", i, site=S, high=job.size, doc="loads that still need i in the pool")
gave_up = relation("gave_up", r, i, site=S, doc="the connector's budget for i on behalf of r is spent")

pool_load = function(
    "pool_load", j, result=pool_load_states, site=S, init=pool_load_states["idle"], doc="lifecycle pool_load"
)
load_item = function(
    "load_item", j, result=item, site=S, domain=pool_load(j).eq(pool_load_states["under_way"]),
    doc="the item that load j brings to the workers",
)  # fmt: skip
load_reports = counter("load_reports", j, site=S, high=worker.size, doc="workers whose report on load j is to come")

embedding = relation("embedding", w, i, site=G, doc="the encoder cache of w holds the embedding of i (else garbage)")
pool_value = relation("pool_value", i, site=G, doc="the pool's entry for i holds the embedding of i (else garbage)")
read_due = relation("read_due", i, site=G, doc="the forward of the step being built, or running, reads i")
room_ran_out = relation("room_ran_out", site=G, doc="a visit of this schedule() has found no KV")

VARIABLES = (
    visit_state, feature_state, feature_item, kv_held, kv_used, visited, visiting, scan_stopped, phase,
    *queue.variables, *arrivals.variables,
    encoder_entry, uses, free_slots, freeable_slots,
    pool_entry, pool_free, pool_evictable, pool_pins, gave_up, pool_load, load_item, load_reports,
    embedding, pool_value, read_due, room_ran_out,
)  # fmt: skip

_STEP, _BAG = Discipline.WITH_STEP, Discipline.BAG
encode_order = channel("encode_order", w, i, sender=S, receiver=W, discipline=_STEP, doc="this step encodes i")
free_order = channel("free_order", w, i, sender=S, receiver=W, discipline=_STEP, doc="i is evicted: drop it")
load_order = channel("load_order", w, j, sender=S, receiver=W, discipline=_STEP, doc="EC metadata: load j")
load_done = channel("load_done", j, sender=W, receiver=S, discipline=_BAG, doc="a worker reports that load j is done")
transit = channel("transit", i, sender=S, receiver=E, discipline=_BAG, doc="a transfer of i into the pool is under way")
arrived = channel("arrived", i, sender=E, receiver=S, discipline=_BAG, doc="the transfer of i has ended well")
broken = channel("broken", i, sender=E, receiver=S, discipline=_BAG, doc="the transfer of i has ended badly")
CHANNELS = (step, encode_order, free_order, load_order, output, load_done, transit, arrived, broken)
