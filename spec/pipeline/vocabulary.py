"""Sorts, switches and variables of transfers under a pipelined scheduler.

A slot is a place for a step that has been scheduled and not processed: as many as the pipeline is deep
(two with the asynchronous scheduler). One job moves one block; requests are left out, and their blocks
stand for them: a block is allocated, computed or loaded, and given up when its request finishes or is
preempted. A request that waits after its preemption goes by the block that it had.
"""

from __future__ import annotations

from interlock.spec.kv.vocabulary import finish_store, idle
from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.variables import Discipline, Site, channel, counter, function, relation
from interlock.spec.shared.sorts import block, job, worker

slot = Sort(name="slot", doc="a place for a step that is scheduled and not yet processed: the depth of the pipeline")
SORTS = (block, job, worker, slot)

slot_states = Enumeration(
    name="slot_states", members=("idle", "building", "dispatched"), doc="a step, as the scheduler sees it"
)
stow_states = Enumeration(
    name="stow_states",
    members=("absent", "planned", "in_flight", "flush_ordered"),
    doc="a job, as the scheduler sees it",
)
shard_states = Enumeration(
    name="shard_states", members=("idle", "queued", "copied"), doc="a job, as one worker sees it"
)
comeback_states = Enumeration(
    name="comeback_states", members=("nobody", "waits"), doc="the request that was preempted and lost the block"
)
ENUMS = (slot_states, stow_states, shard_states, comeback_states)

flush_point = Switch(
    name="flush_point",
    values=("after_zero", "before_zero"),
    doc="Whether a worker flushes before or after the step's new blocks are zeroed (and copied on write).",
    source="contract R-32, D10: the first model runner flushes before, the second after",
)
pipeline_dedup = Switch(
    name="pipeline_dedup",
    values=("per_step", "in_flight"),
    doc="Which blocks a scan skips: those planned in this step, or those with an open store.",
    source="vLLM PR 41289; contract 5(e)",
)
nofwd_save = Switch(
    name="nofwd_save",
    values=("skip", "call"),
    doc="Whether wait_for_save is called, and so stores are queued, in a step without a forward.",
    source="contract R-35, NOFWD_SAVE: skip up to 0.28, call in 0.32",
)
pipeline_idle = Switch(
    name="pipeline_idle",
    values=idle.values,
    doc="The switch idle of kv, where steps are scheduled ahead of their outputs. " + idle.doc,
    source=idle.source,
)
pipeline_finish_store = Switch(
    name="pipeline_finish_store",
    values=finish_store.values,
    doc="The switch finish_store of kv, where steps are scheduled ahead of their outputs. " + finish_store.doc,
    source=finish_store.source,
)
SWITCHES = (flush_point, pipeline_dedup, nofwd_save, pipeline_idle, pipeline_finish_store)

b, b2 = block.var("b"), block.var("b2")
j, j2, j3 = job.var("j"), job.var("j2"), job.var("j3")
w, w2 = worker.var("w"), worker.var("w2")
t, t2, t3 = slot.var("t"), slot.var("t2"), slot.var("t3")
S, W, G = Site.SCHEDULER, Site.WORKER, Site.GHOST

slot_state = function("slot_state", t, result=slot_states, site=S, init=slot_states["idle"], doc="lifecycle slot")
before = relation("before", t, t2, site=S, doc="t was dispatched before t2, and neither is processed")
handed = relation("handed", w, t, site=S, doc="the executor has handed step t to worker w")
has_forward = relation("has_forward", t, site=S, doc="step t computes something")
used = relation("used", b, site=S, doc="a request has b")
fresh = relation("fresh", b, site=S, doc="b was allocated in this schedule()")
returned = relation("returned", b, site=S, doc="this schedule() has allocated b to one who comes back")
scanned = relation("scanned", b, site=S, doc="a store of b, in its present allocation, was planned")
leftover = relation("leftover", b, site=S, doc="a request finished with b unstored: the next metadata may store it")
busy = relation("busy", b, site=S, doc="the dedup set: b has an open store")
held = relation("held", b, site=S, doc="a request ended while b was being loaded: b is its until the load has ended")
comeback_state = function(
    "comeback_state", b, result=comeback_states, site=S, init=comeback_states["nobody"], doc="lifecycle comeback"
)
finish_untold = relation("finish_untold", site=S, doc="a request has finished since the last metadata")
resting = relation("resting", site=S, doc="the engine has nothing to do: no step is made and no report heard")

stow_state = function("stow_state", j, result=stow_states, site=S, init=stow_states["absent"], doc="lifecycle stow")
source = function(
    "source", j, result=block, site=S, domain=stow_state(j).ne(stow_states["absent"]),
    doc="the GPU block of j: the source of a store, the target of a load",
)  # fmt: skip
loads = relation("loads", j, site=S, doc="j is a load (CPU to GPU), otherwise a store")
acks_due = counter("acks_due", j, site=S, high=worker.size, doc="workers that have still to acknowledge j")
names = relation("names", t, j, site=S, doc="step t orders the flush of j, whose id is not used again before its end")
flush_due = relation(
    "flush_due", j, site=S,
    doc="in this schedule() the source of j was allocated, or its request preempted: flush j first",
)  # fmt: skip

shard_state = function(
    "shard_state", w, j, result=shard_states, site=W, init=shard_states["idle"], doc="lifecycle shard"
)

overwrites = relation(
    "overwrites", t, j, site=G, doc="step t zeroes and computes the source of j, for the allocation after that of j"
)
owes = relation("owes", w, j, site=G, doc="w has still to acknowledge j")
spoilt = relation("spoilt", w, j, site=G, doc="w overwrote the source of j before it had copied it")
lost = relation("lost", j, site=G, doc="the request of store j was preempted while j was open")

VARIABLES = (
    slot_state, before, handed, has_forward, used, fresh, returned, scanned, leftover, busy, held, comeback_state,
    finish_untold, resting, stow_state, source, loads, acks_due, names, flush_due,
    shard_state, overwrites, owes, spoilt, lost,
)  # fmt: skip

_STEP = Discipline.WITH_STEP
step_order = channel("step_order", w, t, sender=S, receiver=W, discipline=_STEP, doc="step t, in the hands of w")
forward_order = channel("forward_order", w, t, sender=S, receiver=W, discipline=_STEP, doc="t has a forward")
store_order = channel(
    "store_order", w, j, t, sender=S, receiver=W, discipline=_STEP, doc="the metadata of t has store j"
)
load_order = channel("load_order", w, j, t, sender=S, receiver=W, discipline=_STEP, doc="the metadata of t has load j")
flush_order = channel(
    "flush_order", w, j, t, sender=S, receiver=W, discipline=_STEP, doc="the metadata of t orders the flush of j"
)
step_done = channel("step_done", w, t, sender=W, receiver=S, discipline=Discipline.BAG, doc="w has run step t")
stored = channel("stored", j, sender=W, receiver=S, discipline=Discipline.BAG, doc="a worker acknowledges j")
CHANNELS = (step_order, forward_order, store_order, load_order, flush_order, step_done, stored)
