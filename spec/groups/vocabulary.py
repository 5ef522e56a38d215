"""Sorts, enumerations, switches and variables of KV cache groups in offloading.

Granularity: one prompt, cut into chunks at ``position``s, shared by all requests; a slot of the CPU
tier holds one chunk of one group (OffloadKey: hash and group). A hit is named by the position with
which it ends. What a windowed group needs of a hit is its last window, a full one needs all of it.
"""

from __future__ import annotations

from interlock.spec.language.orders import Order
from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration
from interlock.spec.language.terms import Int, Term
from interlock.spec.language.variables import Discipline, Site, channel, counter, function, relation
from interlock.spec.shared.sorts import block, chunk, group, position, request

SORTS = (request, group, position, chunk, block)

prompt_states = Enumeration(
    name="prompt_states",
    members=("absent", "waiting", "matched", "loading", "running", "held"),
    doc="a request, as far as lookups and stores of its prompt are concerned; held: ended while it was loading",
)
slot_states = Enumeration(
    name="slot_states",
    members=("absent", "pending", "ready"),
    doc="a slot of the CPU tier: pending: a store writes it; ready: visible to lookup",
)
duty_states = Enumeration(
    name="duty_states",
    members=("idle", "queued", "copied"),
    doc="the store of a slot, as its worker sees it",
)
ENUMS = (prompt_states, slot_states, duty_states)

groups_known = Switch(
    name="groups",
    values=("single", "windowed"),
    doc=(
        "What a lookup knows of groups: single (one group, all of whose chunks it asks about; on a model with "
        "more an assertion stops the engine) or windowed (each group is asked about its own window)."
    ),
    source="vLLM PR 41228; contract 5(d): up to 0.20.2 one group is asserted, and windows are not known",
)
touch_order = Switch(
    name="touch_order",
    values=("windowed", "full", "reversed"),
    doc=(
        "What a hit makes recent, and in what order: windowed (all of full groups, of windowed ones the last "
        "window, the head last), full (all of all groups), reversed (the head first)."
    ),
    source="seeds 003; contract 5(d) _touch",
)
group_fences = Switch(
    name="group_fences",
    values=("proper", "swapped"),
    doc=(
        "When the source of a store is fenced: proper (of a windowed group when the store is planned, of a "
        "full one when its request ends) or swapped."
    ),
    source="seeds 003; contract J4",
)
stale_zero = Switch(
    name="stale_zero",
    values=("no", "yes"),
    doc=(
        "Whether the connector forgets the id of a block that has left its request's table, and is not yet "
        "stored, when that block is allocated again."
    ),
    source="contract 5(d): since 0.23.0; 0.21 and 0.22 lack it",
)
hit_pin = Switch(
    name="hit_pin",
    values=("lookup", "visit", "none"),
    doc=(
        "What keeps a hit loadable from its lookup to its load: lookup (it is pinned), visit (lookup and "
        "allocation are one visit, nothing comes between) or none."
    ),
    source="contract R-11, 2.2 (pending pin), Q8 (one visit); B-045 vllm #39702",
)
coverage = Switch(
    name="coverage",
    values=("equal", "load_wider", "store_narrower", "lookup_empty"),
    doc=(
        "Whether stores, lookups and loads speak of the same chunks of a windowed group: equal; load_wider "
        "(loads restore one more than lookups check), store_narrower (stores keep one less than lookups want), "
        "lookup_empty (all groups are taken for a drafter's: a window of one less one is none)."
    ),
    source="B-029 vllm #56701, B-031 vllm #53951, B-033 vllm #52735",
)
chunk_key = Switch(
    name="chunk_key",
    values=("slot", "hash"),
    doc="Whether several slots may hold one key, or the pool has one slot per key.",
    source="seeds 004; contract 3.2 (OffloadingConnector: hash)",
)
window = Switch(
    name="window",
    values=("one", "two"),
    doc="The window of a windowed group, in chunks: one (Mamba: a state) or two (a sliding window).",
    source="seeds 003; contract 5(d)",
)
prompt_end = Switch(
    name="prompt_end",
    values=("inside", "dropped", "kept"),
    doc=(
        "Where the prompt ends, and what a hit may then cover: inside (a further chunk: any hit leaves a token), "
        "or with its last chunk, which a hit leaves out (dropped) or takes in (kept)."
    ),
    source="seeds 004 (a hit is capped at num_tokens - 1); contract 5(d), R-05; B-037 vllm #51102",
)
reuse_count = Switch(
    name="reuse_count",
    values=("off", "all", "before_miss"),
    doc=(
        "Which chunks a lookup counts as seen, so that only what is seen again is stored: none is needed (off), "
        "all of the prompt, or only those up to the first miss."
    ),
    source="B-041 vllm #52022",
)
unknown_job = Switch(
    name="unknown_job",
    values=("raise", "contain", "discard"),
    doc=(
        "What the scheduler does with a report about a store that is not in its table of pending jobs: raise (the "
        "engine stops), contain (it is counted, and the store fails: nobody is served what it wrote), or discard."
    ),
    source=(
        "seeds 003: the review chose to fail loudly, and containment is opt-in; contract R-49, released code raises "
        "KeyError; discard is no release's: the review turned it down"
    ),
)
hit_count = Switch(
    name="hit_count",
    values=("first", "last", "unused"),
    doc=(
        "What num_hit_blocks is, from whose window on a lookup makes a windowed group recent: the hit with which "
        "the request first started, the one with which it started last, or it is not used: only this lookup's hit."
    ),
    source=(
        "seeds 003; first: OffloadingConnector 0.22.1, update_num_hit_blocks for new requests only, read by _touch; "
        "last: 0.32.0, update_num_hit_chunks at every lookup, though said to be of the first start; unused: 0.20.2"
    ),
)
hybrid_hits = Switch(
    name="hybrid_hits",
    values=("handled", "asserted"),
    doc="Whether an external hit on a model with a windowed group is loaded, or meets an assertion that there is none.",
    source="B-038 vllm #41515: the scheduler asserts that aligned Mamba models have no external tokens",
)
SWITCHES = (
    groups_known, touch_order, group_fences, stale_zero, hit_pin, coverage, chunk_key, window, prompt_end,
    reuse_count, unknown_job, hit_count, hybrid_hits,
)  # fmt: skip

r, r2 = request.var("r"), request.var("r2")
g, g2 = group.var("g"), group.var("g2")
p, p2 = position.var("p"), position.var("p2")
q, q2 = position.var("q"), position.var("q2")
c, c2 = chunk.var("c"), chunk.var("c2")
b = block.var("b")

S, W, G = Site.SCHEDULER, Site.WORKER, Site.GHOST

# The model and the prompt: laid out before the first request, constant from then on.
windowed = relation("windowed", g, site=S, doc="g is a sliding-window or Mamba group; otherwise full attention")
sequence = Order(name="precedes", member=position, site=S, doc="p comes before p2 in the prompt")
precedes = sequence.before

prompt_state = function(
    "prompt_state", r, result=prompt_states, site=S, init=prompt_states["absent"], doc="lifecycle prompt"
)
_with_hit = prompt_states.one_of(prompt_state(r), "matched", "loading", "held")
_running = prompt_state(r).eq(prompt_states["running"])
hit_end = function(
    "hit_end", r, result=position, site=S, domain=_with_hit, doc="the position with which the external hit of r ends"
)
pinned = relation("pinned", r, c, site=S, doc="slot c is kept for the hit of r")
hit_counted = relation("hit_counted", r, site=S, doc="r has started once: its num_hit_blocks are set")
first_hit = function(
    "first_hit",
    r,
    result=position,
    site=S,
    domain=hit_counted(r),
    doc="num_hit_blocks: the end of the hit with which r first started (the first chunk, if it had none)",
)
began_with = function(
    "began_with", r, result=position, site=G, domain=hit_counted(r), doc="the end of the hit with which r first started"
)
cursor = function("cursor", r, result=position, site=S, domain=_running, doc="next_stored_chunk_idx: what r stores now")
passed = relation("passed", r, g, site=S, doc="at its cursor, the store scan of r is done with group g")
seen = relation("seen", g, p, site=S, doc="some lookup has counted the chunk: it is in demand")

slot_state = function("slot_state", c, result=slot_states, site=S, init=slot_states["absent"], doc="lifecycle slot")
_occupied = slot_state(c).ne(slot_states["absent"])
slot_group = function("slot_group", c, result=group, site=S, domain=_occupied, doc="the group of c's key")
slot_position = function("slot_position", c, result=position, site=S, domain=_occupied, doc="the position of c's key")
used_slots = counter("used_slots", site=S, high=chunk.size, doc="slots in use, as the pool counts them")


def occupied(x: Term) -> Term:
    """Slot x has a key: a store writes it, or lookups see it."""
    return slot_state(x).ne(slot_states["absent"])


recency = Order(
    name="older", member=chunk, site=S, among=occupied, doc="slot x is less recently used than y, and evicted before it"
)
wanted = relation("wanted", c, site=G, doc="the last hit, or store, needs c, or c came after it")
owed = relation("owed", g, p, site=G, doc="a store scan has passed the chunk, and it was not evicted since")

# Blocks, where sources are looked at.
table = relation("table", r, g, p, b, site=S, doc="r's block table of group g has b at position p (else null)")
reached = relation("reached", r, g, p, site=S, doc="r's block table of group g has come to position p")
recorded = relation("recorded", r, g, p, b, site=S, doc="the connector's copy of that table has b there")
due_block = relation("due_block", b, site=S, doc="the forward of the step being built, or running, computes b")
sourced = relation("sourced", c, site=S, doc="the pending store of c has a source block that is looked at")
source = relation("source", c, b, site=S, doc="the open store of c reads block b")
stored_for = relation("stored_for", c, r, site=S, doc="the open store of c is of request r")
listed_now = relation("listed_now", c, site=S, doc="the store of c is in the metadata being built")
fenced = relation("fenced", c, site=S, doc="if the source of the store of c is allocated again, it is flushed")
to_flush = relation("to_flush", c, site=S, doc="this step's metadata must order the flush of the store of c")
in_step = relation("in_step", site=S, doc="a step is with the worker")
raised = relation("raised", site=S, doc="the engine has stopped: a report named a store that nobody knows")
contained = counter("contained", site=S, high=Int(value=3), doc="reports about stores that nobody knows, as counted")
awaited = relation("awaited", c, site=S, doc="the table of pending jobs has the store of c: a report is to come")
mislaid = relation("mislaid", site=S, doc="the table of pending jobs has lost an entry, which it does once at most")

duty_state = function("duty_state", c, result=duty_states, site=W, init=duty_states["idle"], doc="lifecycle duty")
reported = relation("reported", c, site=W, doc="the worker has reported the store of c")
strayed = relation("strayed", site=W, doc="the worker has reported a store again, which it does once at most")
block_value = relation("block_value", b, g, p, site=G, doc="b is the KV of the chunk at p in group g (none: garbage)")
will_hold = relation("will_hold", b, g, p, site=G, doc="what the forward makes of b")
slot_value = relation("slot_value", c, g, p, site=G, doc="c is the KV of that chunk (none: garbage)")

VARIABLES = (
    windowed, *sequence.variables,
    prompt_state, hit_end, pinned, hit_counted, first_hit, began_with, cursor, passed, seen,
    slot_state, slot_group, slot_position, used_slots, *recency.variables, wanted, owed,
    table, reached, recorded, due_block, sourced, source, stored_for, listed_now, fenced, to_flush,
    in_step, raised, contained, awaited, mislaid, duty_state, reported, strayed, block_value, will_hold, slot_value,
)  # fmt: skip

group_step = channel("group_step", sender=S, receiver=W, discipline=Discipline.WITH_STEP, doc="a step's output")
store_order = channel("store_order", c, sender=S, receiver=W, discipline=Discipline.WITH_STEP, doc="metadata: store c")
flush_order = channel(
    "flush_order", c, sender=S, receiver=W, discipline=Discipline.WITH_STEP, doc="metadata: finish the store of c"
)
group_output = channel("group_output", sender=W, receiver=S, discipline=Discipline.BAG, doc="the step has run")
store_report = channel("store_report", c, sender=W, receiver=S, discipline=Discipline.BAG, doc="c has been stored")
CHANNELS = (group_step, store_order, flush_order, group_output, store_report)
