"""Sorts, enumerations, switches and variables of delivery.

Delivery is what a request still owes or is owed when its own work is done elsewhere: KV that another engine
computed and this one loads (decode), KV that this engine computed and another one pulls (prefill), and
several connectors that do such things for one request at once. An *operation* is one transfer of one connector
for one request. A *hand-over* is the operation that a peer engine ends, or the lease if the peer does not.
"""

from __future__ import annotations

from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.variables import Discipline, Site, channel, counter, function, relation
from interlock.spec.shared.sorts import block, job, request, worker

connector = Sort(name="connector", doc="a sub-connector of a composite (MultiConnector)")
SORTS = (request, block, job, worker, connector)

delivery_states = Enumeration(
    name="delivery_states",
    members=("absent", "waiting", "loading", "loaded", "running", "held", "released"),
    doc=(
        "a request of this engine: loaded has all its loads and waits for the scheduler's visit; held has "
        "finished, but keeps its blocks for operations that are outstanding; released has given them back"
    ),
)
delivery_operation_states = Enumeration(
    name="delivery_operation_states", members=("unused", "open"), doc="an operation as the scheduler counts it"
)
delivery_transfer_states = Enumeration(
    name="delivery_transfer_states",
    members=("idle", "active", "stranded", "broken", "expired", "ended"),
    doc=(
        "an operation at one worker; stranded: the remote engine is gone and no word will come; broken: it failed; "
        "expired: the worker's own deadline passed"
    ),
)
registration_states = Enumeration(
    name="registration_states",
    members=("unknown", "registered", "settled"),
    doc="a handed-over request at one worker of the producer: registered waits for the peer or the lease",
)
peer_states = Enumeration(
    name="peer_states",
    members=("unaware", "waiting", "reading", "told", "accepted", "refused", "rejected", "let_go", "dead"),
    doc=(
        "the consumer's request: reading has read but not told the producer; told has sent its notice; accepted "
        "uses what it read, refused fails visibly; rejected ended before admission, let_go told the producer so"
    ),
)
part_states = Enumeration(
    name="part_states",
    members=("aside", "locked", "entered", "done"),
    doc="a request in one sub-connector: locked has a hit and read locks on it, entered waits for its own load",
)
answer_states = Enumeration(
    name="answer_states",
    members=("nothing", "empty", "real"),
    doc="a sub-connector's transfer parameters at the finish: none (so far), an empty dict, or parameters",
)
drain_states = Enumeration(
    name="drain_states",
    members=("calm", "writing", "over"),
    doc="the producer's push into the consumer's memory",
)
buffer_states = Enumeration(
    name="buffer_states",
    members=("unwanted", "awaited", "full", "placed", "freed"),
    doc="a received tensor of one request on its way through the receive store into the request's blocks",
)
ENUMS = (
    delivery_states, delivery_operation_states, delivery_transfer_states, registration_states, peer_states, part_states,
    answer_states, drain_states, buffer_states,
)  # fmt: skip

release_on = Switch(
    name="release_on",
    values=("any_signal", "last_operation"),
    doc="What gives a held request's blocks back: the first completion of any kind, or the last outstanding one.",
    source="B-053 vllm #46240; contract Q32, Q33, R-41 (0.32.0: any signal)",
)
load_counting = Switch(
    name="load_counting",
    values=("first_report", "per_connector"),
    doc="When a request with loads of several connectors is loaded: at the first report, or when each has reported.",
    source="B-072 vllm #51786; contract R-38, I-70",
)
finish_answer = Switch(
    name="finish_answer",
    values=("always_keep", "never_keep", "if_owed"),
    doc="What the connector answers at the finish: always 'I keep the blocks', never, or if something is outstanding.",
    source="B-121 LMCache #4826; B-073 vllm #53049; contract R-51",
)
cancel_frees = Switch(
    name="cancel_frees",
    values=("at_once", "after_any_load", "after_open_load"),
    doc="When a cancelled load's blocks are given back: now, after a completion in any case, or if one is still due.",
    source="B-055 vllm #32255; contract Q31, I-15",
)
abort_completion = Switch(
    name="abort_completion",
    values=("filtered", "forwarded"),
    doc="Whether a worker still reports the load of a request that was aborted meanwhile.",
    source="B-159 vllm-ascend #16662; contract R-20",
)
early_ack = Switch(
    name="early_ack",
    values=("drop", "remember"),
    doc="What a producer's worker does with a notice about a request that it has not registered yet.",
    source="B-084 vllm #43509",
)
lease_race = Switch(
    name="lease_race",
    values=("two_winners", "one_winner"),
    doc="Whether a notice that comes after the lease has ended the hand-over is reported as a second completion.",
    source="B-161 vllm-ascend #5726, #6570; contract R-39, R-41",
)
transfer_key = Switch(
    name="transfer_key",
    values=("own_id", "shared_id"),
    doc="Which id a side puts into keys and notices: its own request id, or the one that both were given.",
    source="B-090 vllm #36958; B-104 vllm #42839; contract R-57",
)
read_after_lease = Switch(
    name="read_after_lease",
    values=("unchecked", "fails_visibly"),
    doc="Whether a consumer uses what it read before the producer has confirmed that the lease still held.",
    source="B-087 vllm #21570; B-088 vllm #47021",
)
reaper = Switch(
    name="reaper",
    values=("head_only", "every_expired"),
    doc="Which leases a sweep looks at: from the oldest until one still lives, or all.",
    source="B-085 vllm #58222, PR 50789",
)
telemetry = Switch(
    name="telemetry",
    values=("decides", "is_ignored"),
    doc="What becomes of a transfer that has ended if reading its statistics raises: failed, or still ended.",
    source="B-091 vllm #58038",
)
notice_names = Switch(
    name="notice_names",
    values=("request_id", "hand_over"),
    doc="What a consumer's notice names: the request's id, which may come again, or this one hand-over.",
    source="contract R-57: ids are unique only while the front end makes them so",
)
multi_blocks = Switch(
    name="multi_blocks",
    values=("empty", "real"),
    doc="Which blocks a composite passes to a sub-connector that gets no tokens: none, or those of the request.",
    source="contract 8.1, section 10 MULTI_BLOCKS: empty up to 0.25, real from 0.28 on",
)
child_decides_by = Switch(
    name="child_decides_by",
    values=("blocks", "tokens"),
    doc="By what a sub-connector tells that it is to load: that it was passed blocks, or that it was given tokens.",
    source="contract R-15; B-074 vllm #47505",
)
SWITCHES = (
    release_on, load_counting, finish_answer, cancel_frees, abort_completion,
    early_ack, lease_race, transfer_key, read_after_lease, reaper, telemetry, notice_names,
    multi_blocks, child_decides_by,
)  # fmt: skip

r, r2, r3 = request.var("r"), request.var("r2"), request.var("r3")
b = block.var("b")
j = job.var("j")
w = worker.var("w")
k, k2 = connector.var("k"), connector.var("k2")
d = request.var("d")

S, W, E, G = Site.SCHEDULER, Site.WORKER, Site.ENVIRONMENT, Site.GHOST

delivery_state = function(
    "delivery_state", r, result=delivery_states, site=S, init=delivery_states["absent"], doc="lifecycle delivery"
)
has_block = relation("has_block", r, b, site=S, doc="b is in the table of r, or was when r was released")
cpu_copy = relation("cpu_copy", r, site=S, doc="r was preempted and its KV waits on the CPU")
truncated = relation("truncated", r, site=S, doc="r's prefill was cut short: its KV is incomplete")
cancelled = relation("cancelled", r, site=S, doc="the client's cancel of r was accepted")
loads_owed = counter("loads_owed", r, site=S, doc="loads of r that are to be reported")
sends_owed = counter("sends_owed", r, site=S, doc="sends of r that are to be reported, its hand-over among them")
load_failed = relation("load_failed", r, site=S, doc="a load of r was reported as failed")
acks_due = counter("acks_due", r, site=S, high=worker.size, doc="workers whose word on the hand-over is to come")

delivery_operation_state = function(
    "delivery_operation_state",
    j,
    result=delivery_operation_states,
    site=S,
    init=delivery_operation_states["unused"],
    doc="lifecycle delivery_operation",
)
_open = delivery_operation_state(j).eq(delivery_operation_states["open"])
operation_of = function("operation_of", j, result=request, site=S, domain=_open, doc="the request that j serves")
receives = relation("receives", j, site=S, doc="j is a load, otherwise a send")
reports_due = counter("reports_due", j, site=S, high=worker.size, doc="workers whose report on j is to come")

part_state = function("part_state", k, r, result=part_states, site=S, init=part_states["aside"], doc="lifecycle part")
granted = relation("granted", k, r, site=S, doc="the composite gave r's external tokens to k")
passed = relation("passed", k, r, site=S, doc="after the allocation the composite passed blocks of r to k")
answer = function(
    "answer", k, r, result=answer_states, site=S, init=answer_states["nothing"], doc="what k returned at r's finish"
)
produces = relation("produces", k, r, site=S, doc="the composite counts k as the producer of r's parameters")

delivery_transfer_state = function(
    "delivery_transfer_state",
    w,
    j,
    result=delivery_transfer_states,
    site=W,
    init=delivery_transfer_states["idle"],
    doc="lifecycle delivery_transfer",
)
registration_state = function(
    "registration_state", w, r, result=registration_states, site=W, init=registration_states["unknown"],
    doc="lifecycle registration",
)  # fmt: skip
early = relation("early", w, r, site=W, doc="a notice about r came before its registration")
overdue = relation("overdue", w, r, site=W, doc="the lease of r has run out and no sweep has seen it yet")
registered_before = relation(
    "registered_before", w, r2, r, site=W, doc="r2 was registered before r (kept only for a reaper that needs it)"
)
sub_finished = relation("sub_finished", k, r, site=W, doc="k reports a completion of r in this step")
sub_failed = relation("sub_failed", k, r, site=W, doc="k reports a failed load of r in this step")
merged_finished = relation("merged_finished", r, site=W, doc="the composite's report names r as finished")
merged_failed = relation("merged_failed", r, site=W, doc="the composite's report names r as failed")
drain_state = function("drain_state", r, result=drain_states, site=W, init=drain_states["calm"], doc="lifecycle drain")
drain_target = relation("drain_target", w, r, site=W, doc="rank w of the consumer is to be told when r is drained")
drain_heard = relation("drain_heard", r, site=W, doc="the consumer has aborted r: no write may start any more")
buffer_state = function(
    "buffer_state", r, result=buffer_states, site=W, init=buffer_states["unwanted"], doc="lifecycle buffer"
)
budget_taken = relation("budget_taken", r, site=W, doc="the receive budget is charged for r's tensor")

peer_state = function("peer_state", r, result=peer_states, site=E, init=peer_states["unaware"], doc="lifecycle peer")
peer_id = function(
    "peer_id", r, result=request, site=E, domain=peer_state(r).ne(peer_states["unaware"]),
    doc="the consumer's own id of the request that the producer calls r",
)  # fmt: skip
peer_told_short = relation("peer_told_short", r, site=E, doc="the hand-over of r says that the prefill is incomplete")
peer_uses = relation("peer_uses", r, site=E, doc="the consumer computes on what it read")
beaten = relation("beaten", r, site=E, doc="the consumer has sent its heartbeat")
repeated = relation("repeated", r, site=E, doc="the consumer's notice has been duplicated")
drain_waits = relation("drain_waits", w, r, site=E, doc="rank w of the consumer has asked for the end of writes")
drain_acks = counter("drain_acks", w, r, site=E, doc="answers that rank w got")

ended_in = function(
    "ended_in", r, result=delivery_states, site=G, init=delivery_states["absent"], doc="the state in which r finished"
)
releases = counter("releases", r, site=G, doc="how often r's blocks were given back")
block_kv = relation("block_kv", b, r, site=G, doc="b holds the KV of r (none: garbage)")
read_value = relation("read_value", r, r2, site=G, doc="what the consumer read for r was the KV of r2")
waited_for = relation("waited_for", w, r, site=G, doc="the consumer was heard since r's lease last began to run out")

VARIABLES = (
    delivery_state, has_block, cpu_copy, truncated, cancelled, loads_owed, sends_owed, load_failed, acks_due,
    delivery_operation_state, operation_of, receives, reports_due,
    part_state, granted, passed, answer, produces,
    delivery_transfer_state, registration_state, early, overdue, registered_before,
    sub_finished, sub_failed, merged_finished, merged_failed,
    drain_state, drain_target, drain_heard, buffer_state, budget_taken,
    peer_state, peer_id, peer_told_short, peer_uses, beaten, repeated, drain_waits, drain_acks,
    ended_in, releases, block_kv, read_value, waited_for,
)  # fmt: skip

BAG = Discipline.BAG
start_meta = channel("start_meta", w, j, sender=S, receiver=W, discipline=BAG, doc="metadata: start operation j")
unlist_meta = channel("unlist_meta", w, j, sender=S, receiver=W, discipline=BAG, doc="metadata: j's request is aborted")
finished = channel("finished", j, sender=W, receiver=S, discipline=BAG, doc="a worker reports the end of j")
failed = channel("failed", j, sender=W, receiver=S, discipline=BAG, doc="the same report: it did not succeed")
register_meta = channel(
    "register_meta", w, r, sender=S, receiver=W, discipline=BAG, doc="metadata: r is handed over, expect its peer"
)
sent = channel("sent", r, sender=W, receiver=S, discipline=BAG, doc="a worker reports finished_sending of r")
offer = channel("offer", r, sender=S, receiver=E, discipline=BAG, doc="transfer parameters of r reach the consumer")
offer_short = channel("offer_short", r, sender=S, receiver=E, discipline=BAG, doc="they state an incomplete prefill")
pulled = channel("pulled", w, r, sender=E, receiver=W, discipline=BAG, doc="the consumer's notice about r")
heartbeat = channel("heartbeat", w, r, sender=E, receiver=W, discipline=BAG, doc="the consumer still waits for r")
confirm = channel("confirm", w, r, sender=W, receiver=E, discipline=BAG, doc="when the notice came, the lease held")
deny = channel("deny", w, r, sender=W, receiver=E, discipline=BAG, doc="when the notice came, it did not")
part_meta = channel("part_meta", k, r, sender=S, receiver=W, discipline=BAG, doc="metadata: k loads r")
part_done = channel("part_done", k, r, sender=W, receiver=S, discipline=BAG, doc="k has loaded r")
drain_ask = channel("drain_ask", w, r, sender=E, receiver=W, discipline=BAG, doc="rank w: tell me when r is drained")
drained = channel("drained", w, r, sender=W, receiver=E, discipline=BAG, doc="to rank w: r is drained")
wanted = channel("wanted", r, sender=W, receiver=E, discipline=BAG, doc="the consumer asks for r's tensor")
tensor = channel("tensor", d, sender=E, receiver=W, discipline=BAG, doc="a tensor under key d")
CHANNELS = (
    start_meta, unlist_meta, finished, failed, register_meta, sent, offer, offer_short, pulled, heartbeat,
    confirm, deny, part_meta, part_done, drain_ask, drained, wanted, tensor,
)  # fmt: skip
