"""Sorts, enumerations, switches and variables of a connector with two tiers.

The first tier is slots of CPU memory, one per key. The second (disk or remote) has an entry per key. An
operation is one round of one transfer; its id is used again only after it has ended.
"""

from __future__ import annotations

from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.terms import Int
from interlock.spec.language.variables import Discipline, Site, StateVar, channel, counter, function, relation
from interlock.spec.shared.sorts import chunk, hash_, request

operation = Sort(name="operation", doc="one round of a transfer between tiers, or between the CPU tier and the GPU")
SORTS = (request, chunk, hash_, operation)

client_states = Enumeration(
    name="client_states",
    members=("away", "waiting", "running", "ended"),
    doc="a request as the connector knows it; ended: finished, and its tier is still to be told",
)
record_states = Enumeration(
    name="record_states",
    members=("none", "recorded", "granted", "settled"),
    doc=(
        "what lookup keeps for a request and a key: recorded (asked later, something is to arrive), granted (a hit, "
        "pinned), settled (the answer has been used, or is no)"
    ),
)
cpu_slot_states = Enumeration(
    name="cpu_slot_states",
    members=("absent", "pending", "ready", "stale"),
    doc="a CPU slot; stale: reset while a transfer still uses it, neither visible nor free",
)
entry_states = Enumeration(
    name="entry_states",
    members=("absent", "pending", "ready", "stale"),
    doc="a key in the second tier's index; stale: reset while a cascade still writes it",
)
operation_states = Enumeration(
    name="operation_states",
    members=("absent", "planned", "in_flight", "retrieved"),
    doc="planned: queued for the end of the step; retrieved: a load that ended, until the request's save ends",
)
operation_kinds = Enumeration(
    name="operation_kinds",
    members=("promotion", "cascade", "fill", "retrieval"),
    doc="second tier to CPU, CPU to second tier, GPU to CPU, CPU to GPU",
)
tier_values = Enumeration(
    name="tier_values",
    members=("none", "right", "outdated", "garbage"),
    doc="what is in a slot or a file, against the key it is kept under; outdated: right before the last reset",
)
ENUMS = (client_states, record_states, cpu_slot_states, entry_states, operation_states, operation_kinds, tier_values)

failed_read = Switch(
    name="failed_read",
    values=("counted_as_loaded", "verdict_kept", "reported"),
    doc=(
        "What becomes of a failed read of the second tier: its status is dropped and it counts as done, or it is "
        "reported but the request's cached verdict still says hit, or it ends that verdict."
    ),
    source="B-146 dynamo #15079; B-016 vllm #49176",
)
failed_write = Switch(
    name="failed_write",
    values=("entry_kept", "entry_removed"),
    doc="Whether the key of a failed write to the second tier stays, visible and taken for a backup.",
    source="B-124 LMCache #4991; B-134 sglang #27108",
)
pending_wait = Switch(
    name="pending_wait",
    values=("unbounded", "deadline"),
    doc="Whether a request that is told to ask later has a deadline.",
    source="B-017 vllm #49829; contract V-03",
)
completion_names = Switch(
    name="completion_names",
    values=("request", "round"),
    doc="What the report of a promotion names: the request that asked for it, or the operation.",
    source="B-019 vllm #49820",
)
cleanup_error = Switch(
    name="cleanup_error",
    values=("result_lost", "result_published"),
    doc="Whether a transfer's result is published although releasing its handle raises.",
    source="B-020 vllm #49947",
)
tier_reset = Switch(
    name="tier_reset",
    values=("not_passed_on", "frees_in_flight", "fences"),
    doc=(
        "What a reset of the prefix cache does to the tiers: nothing, free every slot, or free what no transfer uses "
        "and keep the rest out of sight until its transfer has ended."
    ),
    source="B-042 vllm #57727; B-043 vllm #44541; contract R-62",
)
repeated_match = Switch(
    name="repeated_match",
    values=("pins_again", "drops_old_pin"),
    doc="What a lookup does that is asked again for a key while its earlier answer is still pinned.",
    source="contract R-01; vLLM 0.32.0 v1/simple_kv_offload/manager.py:346",
)
unused_locks = Switch(
    name="unused_locks",
    values=("kept", "released"),
    doc="Whether the pins of keys that allocation found on the GPU, and that are not retrieved, are given back.",
    source="B-102 vllm #35931; contract R-11",
)
retrieval_unpins = Switch(
    name="retrieval_unpins",
    values=("again_at_save", "once"),
    doc="Whether the end of a request's save drops the pin that the end of its retrieval has dropped.",
    source="B-117 LMCache #2954",
)
cancelled_plan = Switch(
    name="cancelled_plan",
    values=("dropped", "undone"),
    doc="Whether cancelling an operation before its launch gives back what its plan took: locks, slot, entry.",
    source="B-188 FlexKV #236",
)
finish_lookup = Switch(
    name="finish_lookup",
    values=("forgotten", "released"),
    doc="Whether finish removes the lookup records of a request that was never allocated.",
    source="B-181 ATOM #2175; contract R-11, I-56",
)
cancelled_prefetch = Switch(
    name="cancelled_prefetch",
    values=("abandoned", "collected"),
    doc="Whether the slot of a promotion in flight is taken back when its request has ended meanwhile.",
    source="B-132 sglang #9874, #9927",
)
evict_when = Switch(
    name="evict_when",
    values=("backup_started", "backed_up"),
    doc="When a CPU slot may be evicted: when its backup has begun, or when it has succeeded.",
    source="B-143 sglang #39444",
)
claim_order = Switch(
    name="claim_order",
    values=("after_move", "before_move"),
    doc="Whether an evicted slot is taken off the books of the level it had, or of the one it has by then.",
    source="B-153 TensorRT-LLM #12834",
)
failure_reach = Switch(
    name="failure_reach",
    values=("worker", "operation"),
    doc="What a failed transfer takes down: the worker, by an assertion, or itself.",
    source="B-162 llm-d-kv-cache #514",
)
SWITCHES = (
    failed_read, failed_write, pending_wait, completion_names, cleanup_error, tier_reset, repeated_match, unused_locks,
    retrieval_unpins, cancelled_plan, finish_lookup, cancelled_prefetch, evict_when, claim_order, failure_reach,
)  # fmt: skip

r, r2 = request.var("r"), request.var("r2")
c, c2 = chunk.var("c"), chunk.var("c2")
h, h2 = hash_.var("h"), hash_.var("h2")
o, o2 = operation.var("o"), operation.var("o2")

S, W, G = Site.SCHEDULER, Site.WORKER, Site.GHOST

client_state = function(
    "client_state", r, result=client_states, site=S, init=client_states["away"], doc="lifecycle client"
)
record_state = function(
    "record_state", r, h, result=record_states, site=S, init=record_states["none"], doc="lifecycle record"
)
cpu_slot_state = function(
    "cpu_slot_state", c, result=cpu_slot_states, site=S, init=cpu_slot_states["absent"], doc="lifecycle cpu_slot"
)
slot_key = function(
    "slot_key",
    c,
    result=hash_,
    site=S,
    domain=cpu_slot_state(c).ne(cpu_slot_states["absent"]),
    doc="the key that c holds, or is to hold",
)
# The declared range has room for the fault (one pin dropped twice), so that a named property finds it.
slot_pins = counter("slot_pins", c, site=S, low=-2, doc="read locks on c")
entry_state = function(
    "entry_state", h, result=entry_states, site=S, init=entry_states["ready"],
    doc="lifecycle entry; the second tier outlives the engine, so it starts with every key",
)  # fmt: skip
operation_state = function(
    "operation_state", o, result=operation_states, site=S, init=operation_states["absent"], doc="lifecycle operation"
)
_there = operation_state(o).ne(operation_states["absent"])
operation_kind = function(
    "operation_kind",
    o,
    result=operation_kinds,
    site=S,
    init=operation_kinds["promotion"],
    doc="what o moves, and where; of one that is absent, what it last was",
)
operation_slot = function("operation_slot", o, result=chunk, site=S, domain=_there, doc="the slot o reads or writes")
operation_key = function("operation_key", o, result=hash_, site=S, domain=_there, doc="the key o is about")
operation_for = relation("operation_for", o, r, site=S, doc="o was planned for r (a cascade for none)")
cpu_used = counter("cpu_used", site=S, low=-1, high=chunk.size, doc="slots that are not free, by the books")
tier_used = StateVar(
    name="tier_used", result="int", site=S, init=hash_.size, low=Int(value=-2),
    high=hash_.size, doc="keys in the second tier, by the books",
)  # fmt: skip

unreadable = relation("unreadable", h, site=W, doc="the file of h has been removed or cannot be read, for good")
worker_down = relation("worker_down", site=W, doc="the worker process has died")
stalled = relation("stalled", o, site=W, doc="the copy of o hangs and will never report")

cpu_slot_value = function(
    "cpu_slot_value", c, result=tier_values, site=G, init=tier_values["none"], doc="what is in slot c"
)
file_value = function(
    "file_value", h, result=tier_values, site=G, init=tier_values["right"], doc="what is in the file of h"
)
before_reset = relation("before_reset", o, site=G, doc="o was in flight when the tiers were last reset")

VARIABLES = (
    client_state, record_state,
    cpu_slot_state, slot_key, slot_pins, entry_state,
    operation_state, operation_kind, operation_slot, operation_key, operation_for, cpu_used, tier_used,
    unreadable, worker_down, stalled,
    cpu_slot_value, file_value, before_reset,
)  # fmt: skip

_BAG = Discipline.BAG
read_order = channel("read_order", o, h, sender=S, receiver=W, discipline=_BAG, doc="read the file of h for o")
write_order = channel("write_order", o, h, sender=S, receiver=W, discipline=_BAG, doc="write the file of h for o")
copy_order = channel("copy_order", o, sender=S, receiver=W, discipline=_BAG, doc="copy between GPU and CPU for o")
succeeded = channel("succeeded", o, sender=W, receiver=S, discipline=_BAG, doc="o was done")
operation_broke = channel("operation_broke", o, sender=W, receiver=S, discipline=_BAG, doc="o failed")
CHANNELS = (read_order, write_order, copy_order, succeeded, operation_broke)
