"""Sorts, enumerations, switches and variables of the scheduler's step and of load-failure recovery.

Granularity: one block holds one token, so a block's place in a table is its token's position. All
requests have the same tokens, so a block at a place is right for every request or for none.
"""

from __future__ import annotations

from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.terms import exists
from interlock.spec.language.variables import Discipline, Site, StateVar, channel, counter, function, relation
from interlock.spec.shared.sorts import block, request

slot = Sort(name="slot", doc="a place for a step that is built or unprocessed; used again once its output is processed")
SORTS = (request, block, slot)

status_states = Enumeration(
    name="status_states",
    members=(
        "absent", "waiting", "deferred_by_lookup", "admitting", "loading", "loading_failed", "received",
        "received_failed", "promoted", "running", "preempted", "held",
    ),
    doc=(
        "a request: admitting (its visit is under way), loading (WAITING_FOR_REMOTE_KVS; failed and received are its "
        "sub-states), promoted (loaded, not yet admitted), held (finished, its load is still to come)"
    ),
)  # fmt: skip
pass_states = Enumeration(
    name="pass_states",
    members=("idle", "building", "dispatched", "updating"),
    doc="a step at the scheduler: being built, with the workers, its output being processed",
)
transfer_states = Enumeration(
    name="transfer_states",
    members=("idle", "ended", "vanished"),
    doc="the asynchronous load of a request at the worker; on its way it is a message",
)
loops = Enumeration(
    name="loops",
    members=("between", "run_loop", "no_wait", "wait_loop", "no_room", "updating"),
    doc=(
        "where the scheduler is: between calls, in a loop of schedule() (no_wait: after a preemption; no_room: a "
        "waiting request got no block, and no other is visited), or updating"
    ),
)
roles = Enumeration(
    name="roles",
    members=("none", "read", "computed"),
    doc="what a step does with a block for a request: nothing, attend to it, compute it",
)
ENUMS = (status_states, pass_states, transfer_states, loops, roles)

recovery_base = Switch(
    name="recovery_base",
    values=("cached_tokens", "computed_minus_scheduled", "computed_minus_in_flight"),
    doc=(
        "How many tokens of a request are scanned for invalid blocks, and what a sharer of one goes back to. What is "
        "in flight is of the present life: stale tokens, of one that a reset has ended, are not subtracted."
    ),
    source="vLLM PR 38096; seeds 001; contract 5(b)",
)
pipeline = Switch(
    name="pipeline",
    values=("one", "two"),
    doc=(
        "How many steps may be unprocessed: one, or as many as there are slots (two in the slices): "
        "schedule(N+1) comes before update(N)."
    ),
    source="contract section 1, engine loop: max_concurrent_batches",
)
load_failure_policy = Switch(
    name="load_failure_policy",
    values=("recompute", "fail"),
    doc="What happens to a request whose load failed.",
    source="contract Q16 to Q18, Q24, Q25: kv_load_failure_policy, default fail",
)
invalid_hash = Switch(
    name="invalid_hash",
    values=("keep", "evict"),
    doc="Whether a block whose load failed stays addressable while its request is to compute it again.",
    source="contract D1, 5(b)",
)
in_flight_output = Switch(
    name="in_flight_output",
    values=("deliver", "drop"),
    doc="What becomes of the output of a later step that was dispatched before a load failure was known.",
    source="contract D2; vLLM #49250, #45146",
)
invalid_scan = Switch(
    name="invalid_scan",
    values=("running_and_loading", "all_holders"),
    doc="Which requests are scanned for invalid blocks: promoted ones too, or not.",
    source="contract D8, R-44",
)
reoffer = Switch(
    name="reoffer",
    values=("allowed", "suppressed"),
    doc="Whether a connector may offer a request again what it has just failed to load for it.",
    source="contract D9, R-10",
)
shared_recompute = Switch(
    name="shared_recompute",
    values=("trusted", "awaited"),
    doc=(
        "Whether a request that shares a block which another is to compute again goes on at once, or waits for it "
        "(and takes it over, if the other goes away)."
    ),
    source="seeds 001: the first request that holds an invalid block recomputes it; found with this model",
)
loading_hash = Switch(
    name="loading_hash",
    values=("at_start", "at_promotion"),
    doc="When blocks that are loaded asynchronously become addressable.",
    source="contract Q13, I-34: delay_cache_blocks; at_start: bytedance-iaas/sglang #768",
)
cached_count = Switch(
    name="cached_count",
    values=("frozen", "refreshed"),
    doc="Whether the reported count of cached tokens is that of the first admission, or of the last.",
    source="vLLM #36638; contract 8.1: num_cached_tokens up to 0.20.2",
)
deferred_free = Switch(
    name="deferred_free",
    values=("none", "fenced"),
    doc="Whether blocks that an unprocessed step may still write are kept from the free queue until it is processed.",
    source="vLLM #45357; contract G8, I-26: since 0.24.0",
)
zeroed_blocks = Switch(
    name="zeroed_blocks",
    values=("all_new", "without_loads"),
    doc="Which new blocks a step zeroes before its forward: all, or all but those that a load fills.",
    source="vLLM #48481; contract R-21: get_loaded_kv_cache_group_ids",
)
stale_output = Switch(
    name="stale_output",
    values=("deliver", "drop"),
    doc="What becomes of the last token of a request that was preempted after the step that samples it went out.",
    source="contract Q27, R-61; vLLM #50297",
)
hit_chain = Switch(
    name="hit_chain",
    values=("by_hash", "same_blocks"),
    doc=(
        "Whether a block is a hit for every request of that prefix, or only for one whose blocks so far are those of a "
        "request that holds it; if nobody does, for every one, once no step under way computes or loads it. Two "
        "blocks may have one hash, and a hit may be any of them; a failed load is reported by block. So who holds the "
        "right one of the two, and behind it what was, or will be, computed from the failed one, is not found. (vLLM's "
        "map gives the block that was hashed first, and the connector is asked after it: no way to this is known.)"
    ),
    source="found with this model; contract G2: hits go by hash, block by block; 5(b): the scan goes by block",
)
SWITCHES = (
    recovery_base, pipeline, load_failure_policy, invalid_hash, in_flight_output, invalid_scan, reoffer,
    shared_recompute, loading_hash, cached_count, deferred_free,
    zeroed_blocks, stale_output, hit_chain,
)  # fmt: skip

r, r2, r3 = request.var("r"), request.var("r2"), request.var("r3")
b, b2, b3 = block.var("b"), block.var("b2"), block.var("b3")
t, t2 = slot.var("t"), slot.var("t2")

S, W, G = Site.SCHEDULER, Site.WORKER, Site.GHOST

PROMPT = 2
"""Tokens of every prompt."""

status = function("status", r, result=status_states, site=S, init=status_states["absent"], doc="lifecycle status")
table = relation("table", r, b, site=S, doc="b is in the block table of r")
addressable = relation("addressable", b, site=S, doc="b can be found through the prefix cache")
place = StateVar(
    name="place",
    args=(b,),
    result="int",
    site=S,
    domain=exists(r, table(r, b)) | addressable(b),
    doc="the position of b in the tables that hold it, and under which it is found",
)
computed = counter("computed", r, site=S, low=-3, doc="num_computed_tokens, those of unprocessed steps included")
tokens = counter("tokens", r, site=S, doc="num_tokens: the prompt and the tokens delivered")
in_flight = counter(
    "in_flight", r, site=S, low=-3, doc="num_in_flight_tokens - num_stale_tokens: of this life, in unprocessed steps"
)
placeholders = counter("placeholders", r, site=S, low=-3, doc="num_output_placeholders: outputs that are still to come")
external = counter("external", r, site=S, low=-3, doc="prompt tokens that a connector loaded, as they are reported")
cached = counter("cached", r, site=S, low=-3, doc="prompt tokens that were not computed, as they are reported")
counted = relation("counted", r, site=S, doc="cached has been set in this life")
filling = relation("filling", b, site=S, doc="an asynchronous load fills b, or has filled it and r is not promoted yet")
refused = relation("refused", r, site=S, doc="a load for r failed: nothing more is offered to it")
redo = relation("redo", b, site=S, doc="what is in b is known to be wrong, and a holder is to compute it again")
planned = relation("planned", b, site=S, doc="the step that is being built computes b")
unsettled = relation("unsettled", t, b, site=S, doc="step t, whose output is not processed yet, computes or loads b")
scheduled_in = counter("scheduled_in", r, t, site=S, doc="num_scheduled_tokens of r in step t")
entry_lost = relation("entry_lost", r, t, site=S, doc="r is missing in the scheduled-tokens map of t")
entry_wrong = relation("entry_wrong", r, t, site=S, doc="the scheduled-tokens map of t has one token too many for r")
sampling = relation("sampling", r, t, site=S, doc="step t will sample a token for r")
drafted = relation("drafted", r, t, site=S, doc="the last token of r in t is a draft: t may reject it")
stale_in = relation("stale_in", r, t, site=S, doc="the output of t for r is of an earlier life, or was rolled back")
before = relation("before", t, t2, site=S, doc="t was dispatched before t2, and both are unprocessed")
pass_state = function("pass_state", t, result=pass_states, site=S, init=pass_states["idle"], doc="lifecycle pass")
loop = function("loop", result=loops, site=S, init=loops["between"], doc="where the scheduler is")
parked = relation("parked", t, b, site=S, doc="b is not free before t is processed (deferred_frees)")
invalid = relation("invalid", b, site=S, doc="the output that is being processed reports b invalid")
claimed = relation("claimed", b, site=S, doc="a request that was scanned in this update is to compute b again")
affected = relation("affected", r, site=S, doc="this update has rolled r back: its output of this step is dropped")

transfer_state = function(
    "transfer_state", r, result=transfer_states, site=W, init=transfer_states["idle"], doc="lifecycle transfer"
)
broke = relation("broke", r, site=W, doc="the load of r failed as a whole, and the next report will say so")
bad = relation("bad", b, site=W, doc="the load of b failed and the next report will say so")
withheld = relation("withheld", b, site=W, doc="but not the very next")
delayed = relation("delayed", b, site=W, doc="it has been withheld once: a report is at most one step late")

good = relation("good", b, site=G, doc="what is in b is the KV of the prefix that ends at its place")
role = function("role", r, t, b, result=roles, site=G, init=roles["none"], doc="what t, until it has run, does with b")
start = counter("start", r, t, site=G, doc="computed tokens of r before step t")
this_life = relation("this_life", r, t, site=G, doc="t computes tokens that r, in its present life, counts as computed")
confirmed = counter(
    "confirmed",
    r,
    site=G,
    low=-3,
    doc="tokens of r up to the first that was neither found, nor loaded, nor computed by a step that is processed",
)
tainted = relation("tainted", r, t, site=G, doc="what t sampled for r comes from a block that was wrong when t ran")
late = relation("late", b, site=G, doc="the report on b is withheld: nobody could know")
load_has_failed = relation(
    "load_has_failed", r, site=G, doc="a load that was ordered for r, in its present life under this id, has failed"
)
untold = relation(
    "untold", b, site=G, doc="b was let go wrong, though settled, by who held it behind a failed load not reported yet"
)
foreign = relation("foreign", t, b, site=G, doc="b was allocated again while t, which writes it, had not run")

VARIABLES = (
    status, table, addressable, place, computed, tokens, in_flight, placeholders, external, cached, counted, filling,
    refused, redo, planned, unsettled, scheduled_in, entry_lost, entry_wrong, sampling, drafted, stale_in,
    before, pass_state, loop, parked, invalid, claimed, affected,
    transfer_state, broke, bad, withheld, delayed,
    good, role, start, this_life, confirmed, tainted, late, untold, load_has_failed, foreign,
)  # fmt: skip

step_meta = channel("step_meta", t, sender=S, receiver=W, discipline=Discipline.WITH_STEP, doc="the step itself")
sync_meta = channel(
    "sync_meta", t, b, sender=S, receiver=W, discipline=Discipline.WITH_STEP, doc="metadata: load b before t's forward"
)
zero_meta = channel(
    "zero_meta", t, b, sender=S, receiver=W, discipline=Discipline.WITH_STEP, doc="new_block_ids_to_zero of step t"
)
load_start = channel(
    "load_start", r, sender=S, receiver=W, discipline=Discipline.BAG, doc="metadata: start the load of r"
)
load_meta = channel("load_meta", r, b, sender=S, receiver=W, discipline=Discipline.BAG, doc="metadata: it fills b")
step_output = channel("step_output", t, sender=W, receiver=S, discipline=Discipline.BAG, doc="t has run")
invalid_msg = channel(
    "invalid_msg", t, b, sender=W, receiver=S, discipline=Discipline.BAG, doc="invalid_block_ids in the output of t"
)
recv_msg = channel(
    "recv_msg", t, r, sender=W, receiver=S, discipline=Discipline.BAG, doc="finished_recving in the output of t"
)
failed_msg = channel(
    "failed_msg", t, r, sender=W, receiver=S, discipline=Discipline.BAG, doc="failed_recving in the output of t"
)
CHANNELS = (step_meta, sync_meta, zero_meta, load_start, load_meta, step_output, invalid_msg, recv_msg, failed_msg)
