"""Sorts, enumerations, switches and variables of admission under block pressure.

Granularity: blocks are counted, not named. A request's prompt takes ``WHOLE`` blocks, its first step ``STEP``
more (the token that it computes, and what speculation looks ahead), and it may outgrow them by one. The size
of sort ``block`` is the pool. A schedule() is a running loop and a waiting loop of single visits, because a
request that is visited early in a pass may be the victim later in the same pass, and because what stands
behind the visit that ends a loop is not reached.
"""

from __future__ import annotations

from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration
from interlock.spec.language.terms import Int
from interlock.spec.language.variables import Discipline, Site, StateVar, channel, counter, function, relation
from interlock.spec.shared.sorts import block, request

SORTS = (request, block)

PART, WHOLE, STEP = 1, 2, 1
"""Blocks: what a partial hit loads, what a whole hit loads, what the first step needs besides the prompt."""
FIRST = WHOLE + STEP
FULL = FIRST + 1
"""Blocks of a request that runs its first step, and of one that has outgrown them."""

admission_states = Enumeration(
    name="admission_states",
    members=(
        "absent", "waiting", "loading", "loaded", "running", "preempted", "held_for_load", "held_for_store", "finished",
    ),
    doc=(
        "a request, as far as blocks are granted to it; loaded: the load was reported and the visit that lets it "
        "run is still to come; held: ended, but a transfer keeps its blocks"
    ),
)  # fmt: skip
prefix_entry_states = Enumeration(
    name="prefix_entry_states",
    members=("absent", "pending", "ready", "expired"),
    doc=(
        "a request's prefix in the tier, as lookup sees it: a miss, being stored (ask later), a hit, or a store "
        "that was given up and whose slot waits for the late report (a miss)"
    ),
)
engine_phases = Enumeration(
    name="engine_phases",
    members=("idle", "running_loop", "waiting_loop", "building", "flushing", "updating"),
    doc=(
        "what the engine thread does: between calls, in one of the two loops of schedule(), building metadata, "
        "waiting for stores while it builds, or in update_from_output()"
    ),
)
step_slots = Enumeration(
    name="step_slots",
    members=("none", "empty", "full"),
    doc="a step that was dispatched and is not yet processed: none, one without tokens, one with",
)
ENUMS = (admission_states, prefix_entry_states, engine_phases, step_slots)

load_admission = Switch(
    name="load_admission",
    values=("blocks_only", "rest_of_prompts", "reserve"),
    doc=(
        "When a request may start an asynchronous load, which holds its blocks and cannot be preempted: if its own "
        "blocks are free, if the rest of the prompts of those that load is free besides, or if also each first "
        "step (its token and its speculation) is."
    ),
    source="contract Q8, V-10; vLLM 0.23 on reserves; B-058 vllm #45388, B-059 vllm #57104",
)
full_sequence_fits = Switch(
    name="full_sequence_fits",
    values=("no", "tokens", "first_step"),
    doc=(
        "What must be free, besides what load_admission asks for, before a request is admitted, be it for a load of a "
        "part: the blocks of this part only, those of all its tokens, or also what speculation looks ahead in its "
        "first step. (Without speculation its tokens are all that the first step takes.)"
    ),
    source=(
        "vLLM --scheduler-reserve-full-isl, on by default in 0.19.1 to 0.32.0: 0.32.0 config/scheduler.py:190, "
        "v1/core/kv_cache_manager.py:522-539 (num_tokens, without num_lookahead_tokens)"
    ),
)
promotion_scan = Switch(
    name="promotion_scan",
    values=("behind_head", "holders_by_priority", "holders_first"),
    doc=(
        "Whether one whose load has ended waits at its place in the queue or is visited before all without blocks, and "
        "those among themselves by priority or as they got their blocks. (A load is admitted if all before it could "
        "still run; whoever is let past them may not fit, and the scan stops at it.)"
    ),
    source=(
        "contract section 1 (kv_holding_waiting), V-12; B-058 vllm #45388; holders_by_priority: found with this model, "
        "vLLM 0.32.0 v1/core/sched/scheduler.py:227 makes that queue by the policy; its scheduler stands still with "
        "--scheduling-policy priority and speculation, without speculation if --no-scheduler-reserve-full-isl is set"
    ),
)
freed_in_flight = Switch(
    name="freed_in_flight",
    values=("at_once", "parked"),
    doc=(
        "What becomes of blocks whose owner lets go of them while a step that may write them is in flight: they are "
        "free at once (harmless where no connector loads into GPU blocks), or once that step is processed."
    ),
    source="contract G8; B-063 vllm #45357",
)
scheduling_policy = Switch(
    name="scheduling_policy",
    values=("fcfs", "priority"),
    doc=(
        "Whether requests have priorities (here two), by which they wait and of which the lowest is preempted, be it "
        "scheduled in this very pass, and those of one priority by arrival; else they wait as they came, the last of "
        "those that run is preempted, and is the next to be asked. (In module engine anybody may be the victim.)"
    ),
    source=(
        "contract Q22, section 10; vLLM 0.32.0 v1/core/sched/scheduler.py:794-844, v1/request.py:357-367 (priority, "
        "arrival_time), v1/core/sched/request_queue.py:159 (prepend_request is add_request); --scheduling-policy"
    ),
)
fenced_victim = Switch(
    name="fenced_victim",
    values=("preempt_anyway", "wait"),
    doc="Whether a victim is preempted whose blocks cannot come back at once, because a step in flight may write them.",
    source="contract Q21; B-062 vllm #49674, PR 49675",
)
parked_drain = Switch(
    name="parked_drain",
    values=("nonempty_steps", "every_step"),
    doc="Which processed steps return the blocks that were parked behind them.",
    source="contract G8, V-08; B-170 unified-cache-management #1350",
)
lookup_deadline = Switch(
    name="lookup_deadline",
    values=("none", "expires"),
    doc="Whether 'being stored, ask later' ends although the store is never reported.",
    source="R-02, V-03; B-017 vllm #49829",
)
store_hold = Switch(
    name="store_hold",
    values=("until_report", "until_deadline", "until_unread", "nothing"),
    doc=(
        "What keeps the blocks of a request that ended while its store was under way: the report alone; the report "
        "or a deadline, whoever still reads them; the report, or a deadline and then a flush, after which no worker "
        "reads them; or nothing (fences protect the source)."
    ),
    source=(
        "contract Q31, R-51; until 0.20.2 held, from 0.21 on not; B-178 ROCm/ATOM #2261; "
        "until_unread: R-34, I-27: what a store still reads is not given away"
    ),
)
stall_latch = Switch(
    name="stall_latch",
    values=("for_good", "until_probe"),
    doc="How long storing stays off, and a given-up store counts as work, once a store was given up.",
    source="R-58, V-11; B-182 ROCm/ATOM #2053",
)
last_stores = Switch(
    name="last_stores",
    values=("block_engine", "keep_stepping"),
    doc="How stores are waited for that are under way when all requests have ended: on the engine thread, or by steps.",
    source="contract 5(c): flush in 0.22 and 0.23, drain from 0.24 on; B-164 vllm #45595",
)
storable_range = Switch(
    name="storable_range",
    values=("keys_known", "computed"),
    doc="How much of a request that has ended the next metadata takes for storable.",
    source="R-52, R-54; B-001 vllm #49118",
)
SWITCHES = (
    load_admission, full_sequence_fits, promotion_scan, freed_in_flight, scheduling_policy, fenced_victim,
    parked_drain, lookup_deadline, store_hold, stall_latch, last_stores, storable_range,
)  # fmt: skip

r, r2, r3 = request.var("r"), request.var("r2"), request.var("r3")

S, W, G = Site.SCHEDULER, Site.WORKER, Site.GHOST

admission_state = function(
    "admission_state", r, result=admission_states, site=S, init=admission_states["absent"], doc="lifecycle admission"
)
prefix_entry_state = function(
    "prefix_entry_state", r, result=prefix_entry_states, site=S, init=prefix_entry_states["absent"],
    doc="lifecycle prefix_entry",
)  # fmt: skip
engine_phase = function(
    "engine_phase", result=engine_phases, site=S, init=engine_phases["idle"], doc="where the engine thread is"
)
older_step = function("older_step", result=step_slots, site=S, init=step_slots["none"], doc="the next step to process")
newer_step = function(
    "newer_step", result=step_slots, site=S, init=step_slots["none"], doc="the step dispatched behind it"
)
ahead = relation("ahead", r, r2, site=S, doc="both wait, or both run, and r stands before r2")
older = relation(
    "older", r, r2, site=S,
    doc="under policy priority: neither has ended, and r arrived before r2; of one priority they stand in this order",
)  # fmt: skip
urgent = relation("urgent", r, site=S, doc="r is of the higher priority; of one policy all are of the same")
visited = relation("visited", r, site=S, doc="the waiting loop of this pass has skipped r")
scheduled_now = relation("scheduled_now", r, site=S, doc="r has tokens in the step that is being built")
in_older = relation("in_older", r, site=S, doc="r has tokens in the older step")
in_newer = relation("in_newer", r, site=S, doc="r has tokens in the newer step")
output_due = relation("output_due", r, site=S, doc="the processed step has an output for r that is still to be handled")
crossed = relation("crossed", r, site=S, doc="r has outgrown the blocks of its first step and needs one more")
preempted_now = relation("preempted_now", site=S, doc="somebody was preempted in this pass")
somebody_lost_blocks = relation("somebody_lost_blocks", site=G, doc="a preemption has happened in this pass")
exposed_older = relation("exposed_older", site=G, doc="the older step may still write a block that is free")
exposed_newer = relation("exposed_newer", site=G, doc="the newer step may still write a block that is free")
stayed = relation("stayed", r, site=S, doc="an output of r has neither ended it nor taken it into a new block")
own_store = relation(
    "own_store", r, site=S, doc="the store of r's prefix, not reported yet, reads the blocks of r (not of another)"
)
flushing = relation("flushing", r, site=S, doc="the deadline of r's held blocks has passed, and its store is flushed")
storing_off = relation("storing_off", site=S, doc="a store was given up, and no further one is planned")
# Declared ranges of blocks have room for a fault (one block too many), so that a named property finds it.
owns = counter("owns", r, site=S, high=FULL + 1, doc="blocks in the table of r")
free = StateVar(
    name="free_blocks", result="int", site=S, init=block.size, low=Int(value=-FULL),
    doc="blocks in the free queue; representable below zero, so that a property can say that it never is",
)  # fmt: skip
parked_older = counter("parked_older", site=S, doc="parked until the older step is processed")
parked_newer = counter(
    "parked_newer", site=S, doc="parked until the newer step, perhaps just being built, is processed"
)
storable = counter(
    "storable", r, site=S, high=FULL, doc="blocks of r, which has ended, that the next metadata takes for storable"
)

VARIABLES = (
    admission_state, prefix_entry_state, engine_phase, older_step, newer_step,
    ahead, older, urgent, visited, scheduled_now, in_older, in_newer, output_due, crossed, preempted_now,
    somebody_lost_blocks, exposed_older, exposed_newer, stayed, own_store, flushing, storing_off,
    owns, free, parked_older, parked_newer, storable,
)  # fmt: skip

load_order = channel("load_order", r, sender=S, receiver=W, discipline=Discipline.BAG, doc="load the prefix of r")
load_report = channel("load_report", r, sender=W, receiver=S, discipline=Discipline.BAG, doc="r is loaded")
store_order = channel("store_order", r, sender=S, receiver=W, discipline=Discipline.BAG, doc="store the prefix of r")
store_report = channel("store_report", r, sender=W, receiver=S, discipline=Discipline.BAG, doc="r is stored")
flush_order = channel("flush_order", r, sender=S, receiver=W, discipline=Discipline.BAG, doc="flush the store of r")
flush_report = channel(
    "flush_report", r, sender=W, receiver=S, discipline=Discipline.BAG, doc="no worker has the store of r left"
)
CHANNELS = (load_order, load_report, store_order, store_report, flush_order, flush_report)
