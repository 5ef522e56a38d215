"""Sorts, enumerations, switches and variables of KV-cache transfer.

Granularity: one job moves one block to or from one chunk. A connector's job of n blocks is n of
these, acknowledged together; the names follow vLLM.
"""

from __future__ import annotations

from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration
from interlock.spec.language.variables import Discipline, Site, channel, counter, function, relation
from interlock.spec.shared.sorts import block, chunk, hash_, job, request, worker
from interlock.spec.shared.step import output, phase, phases, step

SORTS = (request, block, chunk, job, worker, hash_)

request_states = Enumeration(
    name="request_states",
    members=("absent", "waiting", "preempted", "loading", "scheduled", "held", "finished"),
    doc="a request, as far as its blocks and transfers are concerned",
)
block_states = Enumeration(
    name="block_states",
    members=("free", "used"),
    doc="free: in the free queue, perhaps still addressable by hash; used: referenced",
)
chunk_states = Enumeration(
    name="chunk_states",
    members=("absent", "pending", "ready"),
    doc="pending: reserved, a store writes it; ready: visible to lookup",
)
job_states = Enumeration(
    name="job_states",
    members=(
        "absent", "planned", "store_in_flight", "load_in_flight", "flush_requested", "completed", "failed", "stale",
    ),
    doc="a job as the scheduler sees it; stale: a reset has forgotten it, and workers have yet to report on it",
)  # fmt: skip
copy_states = Enumeration(
    name="copy_states",
    members=("idle", "store_queued", "load_queued", "copied", "copy_failed"),
    doc="a job as one worker sees it",
)
scan_results = Enumeration(
    name="scan_results",
    members=("unscanned", "passed", "passed_again", "excused", "evicted"),
    doc=(
        "what is owed to a block that a store scan has passed over: to be served (passed; passed_again after "
        "an eviction), unless its store failed or found no room (excused) or its chunk was evicted since"
    ),
)
ENUMS = (request_states, block_states, chunk_states, job_states, copy_states, phases, scan_results)

store_dedup = Switch(
    name="store_dedup",
    values=("per_step", "in_flight", "in_flight_by_hash"),
    doc=(
        "Which blocks a store scan skips because a store of them is under way: those planned in this "
        "step, those whose id has an open store, or those whose hash has one."
    ),
    source="vLLM PR 41289; per_step: 0.19.0 to 0.21.0, in_flight: 0.22.0 on",
)
source_hold = Switch(
    name="source_hold",
    values=("fence", "pin"),
    doc=(
        "What keeps the source of a store intact: fence (the block may be freed and reallocated, but the "
        "metadata of that step orders a flush, a barrier before the forward) or pin (a reference is held)."
    ),
    source="contract 2.1 (OffloadingConnector: fence), 2.2 (SimpleCPUOffloadConnector: pin)",
)
idle = Switch(
    name="idle",
    values=("none", "flush_before_plan", "flush", "drain"),
    doc=(
        "What becomes of open jobs once all tracked requests have finished: none (they wait for the next request), "
        "flush_before_plan (the last metadata orders the flush of those planned before it), flush (of those "
        "planned in it too, and the connector reports pending work), drain (it reports pending work only)."
    ),
    source="vLLM PR 42611; none: up to 0.21.0, flush_before_plan: 0.22.0 to 0.23.0, drain: 0.24.0 on (PR 45595)",
)
finish_store = Switch(
    name="finish_store",
    values=("no", "yes"),
    doc="Whether the metadata after a finish stores what the request had left unstored.",
    source="contract 8.3, FINISH_STORE: yes from 0.28.0 on",
)
match_busy = Switch(
    name="match_busy",
    values=("proceed", "none"),
    doc="Whether a request may load while a store of its own is open, or is told to ask again later (None).",
    source="contract R-18, I-48, MATCH_BUSY: none from 0.24.0 on (vLLM #46014)",
)
store_mode = Switch(
    name="store_mode",
    values=("eager", "lazy"),
    doc=(
        "Which blocks are stored: eager (those of a request, once they are computed, by a scan of that request, and at "
        "its finish) or lazy (those that the GPU's prefix cache may lose: addressable, and in no request's table. The "
        "order of the free queue, how far a walk goes along it, and where the next one begins, are left open)."
    ),
    source="vLLM v1/simple_kv_offload/manager.py: lazy_offload, off by default, 586-640 in 0.32.0; seeds 004",
)
store_choice = Switch(
    name="store_choice",
    values=("every_block", "some_blocks"),
    doc=(
        "What a store scan stores: all that it comes to, or what the connector chooses (prompts only, so many blocks "
        "of a request, prefixes that were seen several times). What it does not choose, nobody is owed."
    ),
    source="contract J3: below threshold; B-041 vllm #52022",
)
kv_reset = Switch(
    name="kv_reset",
    values=("ignored", "unsupported", "forget", "flush", "hold"),
    doc=(
        "What a reset of the cache does to the CPU tier: ignored (nothing, which counts as success: it goes on "
        "serving), unsupported (nothing, and the caller is told so, each time), forget (jobs and chunks are forgotten, "
        "copies run on), flush (forgotten, and the next metadata orders the flush of every job) or hold (jobs are "
        "forgotten, and what they read and write stays reserved until the last report; until then the reset is "
        "refused: what was ready goes on being served, and the caller has to ask again)."
    ),
    source=(
        "contract J12, L6, R-62; ignored: OffloadingConnector up to 0.21.0 has no reset_cache, and None is taken for "
        "success (vLLM #57727); unsupported: SimpleCPUOffloadConnector up to 0.22.1 raises NotImplementedError; hold: "
        "v1/simple_kv_offload/manager.py:1387-1446 of 0.32.0 returns False before it clears what is ready"
    ),
)
stale_work = Switch(
    name="stale_work",
    values=("left_out", "included"),
    doc=(
        "Whether jobs that a reset has forgotten, and that workers have yet to report on, are pending work too (where "
        "the connector reports any). If not, the engine may rest with what they hold still held."
    ),
    source=(
        "contract R-58; 2.2 (abandoned events are pending stores); has_pending_push_work of OffloadingConnector 0.32.0 "
        "looks at the jobs that a reset has cleared"
    ),
)
SWITCHES = (store_dedup, source_hold, idle, finish_store, match_busy, store_mode, store_choice, kv_reset, stale_work)

r, r2 = request.var("r"), request.var("r2")
b, b2 = block.var("b"), block.var("b2")
c, c2 = chunk.var("c"), chunk.var("c2")
j, j2 = job.var("j"), job.var("j2")
w = worker.var("w")
h, h2 = hash_.var("h"), hash_.var("h2")

S, W, G = Site.SCHEDULER, Site.WORKER, Site.GHOST

request_state = function(
    "request_state", r, result=request_states, site=S, init=request_states["absent"], doc="lifecycle request"
)
holds = relation("holds", r, b, site=S, doc="b is in the block table of r")
scanned = relation("scanned", r, b, site=S, doc="the store cursor of r has passed b in its present allocation")
kept = relation(
    "kept", r, b, h, site=S, doc="r finished with b, which holds prefix h and may be stored by the next metadata"
)

block_state = function("block_state", b, result=block_states, site=S, init=block_states["free"], doc="lifecycle block")
hashed = relation("hashed", b, site=S, doc="b is addressable through the prefix cache")
block_hash = function(
    "block_hash", b, result=hash_, site=S, domain=hashed(b), doc="the hash under which b is addressable"
)
fresh = relation("fresh", b, site=S, doc="b was allocated in this schedule(), since the last metadata")
load_value = relation("load_value", b, h, site=S, doc="a load fills, or has filled, b with prefix h; not yet hashed")
in_flight = relation(
    "in_flight", b, site=S, doc="the dedup set: b has an open store, as the scheduler's bookkeeping has it"
)

chunk_state = function(
    "chunk_state", c, result=chunk_states, site=S, init=chunk_states["absent"], doc="lifecycle chunk"
)
chunk_hash = function(
    "chunk_hash",
    c,
    result=hash_,
    site=S,
    domain=chunk_state(c).ne(chunk_states["absent"]),
    doc="the prefix that c holds, or is to hold once its store completes",
)

job_state = function("job_state", j, result=job_states, site=S, init=job_states["absent"], doc="lifecycle job")
_under_way = job_states.one_of(job_state(j), "planned", "store_in_flight", "load_in_flight", "flush_requested", "stale")
job_loads = relation("job_loads", j, site=S, doc="j is a load (CPU to GPU), otherwise a store")
job_request = function(
    "job_request", j, result=request, site=S, domain=_under_way & (store_mode.is_("eager") | job_loads(j)),
    doc="the request that job j is of; a lazy store is nobody's",
)  # fmt: skip
job_block = function(
    "job_block", j, result=block, site=S, domain=_under_way, doc="the GPU block that j reads or writes"
)
job_chunk = function(
    "job_chunk", j, result=chunk, site=S, domain=_under_way, doc="the CPU chunk that j writes or reads"
)
pending_count = counter("pending_count", j, site=S, high=worker.size, doc="workers whose report on j is still to come")
must_flush = relation(
    "must_flush", j, site=S,
    doc=(
        "the next metadata has to order the flush of j: the source of this open store was allocated again in this "
        "schedule() (the fence), its request was preempted, or a reset has made it stale"
    ),
)  # fmt: skip
failure_seen = relation("failure_seen", j, site=S, doc="a worker has reported that j failed")

copy_state = function("copy_state", w, j, result=copy_states, site=W, init=copy_states["idle"], doc="lifecycle copy")

gpu_value = relation("gpu_value", w, b, h, site=G, doc="the shard of b on w is the KV of prefix h (none: garbage)")
cpu_value = relation("cpu_value", w, c, h, site=G, doc="the shard of c on w is the KV of prefix h (none: garbage)")
due = relation("due", b, site=G, doc="the forward of the step being built, or running, computes b")
due_value = relation("due_value", b, h, site=G, doc="what that forward makes of b (none: a block not yet full)")
expects = relation("expects", r, b, h, site=G, doc="r took b for the KV of prefix h")
reads_current = relation(
    "reads_current", j, site=G, doc="the source of store j has not been allocated again since its content was j's"
)
scan_result = function(
    "scan_result",
    b,
    result=scan_results,
    site=G,
    init=scan_results["unscanned"],
    doc="the last word of store scans on b in its present allocation",
)

VARIABLES = (
    request_state, holds, scanned, kept,
    block_state, hashed, block_hash, fresh, load_value, in_flight,
    chunk_state, chunk_hash,
    job_state, job_request, job_loads, job_block, job_chunk, pending_count, failure_seen, must_flush, phase,
    copy_state,
    gpu_value, cpu_value, due, due_value, expects, reads_current, scan_result,
)  # fmt: skip

store_meta = channel("store_meta", w, j, sender=S, receiver=W, discipline=Discipline.WITH_STEP, doc="metadata: store j")
load_meta = channel("load_meta", w, j, sender=S, receiver=W, discipline=Discipline.WITH_STEP, doc="metadata: load j")
flush_meta = channel(
    "flush_meta", w, j, sender=S, receiver=W, discipline=Discipline.WITH_STEP,
    doc="metadata: finish j before this step's forward",
)  # fmt: skip
done = channel("done", j, sender=W, receiver=S, discipline=Discipline.BAG, doc="a worker reports that j is done")
undone = channel("undone", j, sender=W, receiver=S, discipline=Discipline.BAG, doc="a worker reports that j failed")
CHANNELS = (step, store_meta, load_meta, flush_meta, output, done, undone)
