"""Sorts, enumerations, switches and variables of a lookup over KV cache groups, ask by ask.

Granularity: one prompt, cut into chunks at ``position``s. What module ``groups`` calls one action, a
lookup's answer, is here the search for it: a bound, which every group in turn accepts or lowers. A group
is known by which chunks a hit of it needs, for each position with which the hit may end.
"""

from __future__ import annotations

from interlock.spec.language.orders import Order
from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration
from interlock.spec.language.variables import Site, function, relation
from interlock.spec.shared.sorts import group, position, request

SORTS = (request, group, position)

lookup_states = Enumeration(
    name="lookup_states",
    members=("absent", "waiting", "searching", "matched", "missed"),
    doc="a request, as far as its lookup is concerned; matched: it has a hit; missed: the lookup found none",
)
key_states = Enumeration(
    name="key_states",
    members=("miss", "unresolved", "pending", "ready"),
    doc=(
        "what the tier answers about a key (MISS, RETRY, HIT_PENDING, HIT); unresolved: the tier lacks the chunk, and "
        "a further, slower one has not said whether it has it"
    ),
)
ENUMS = (lookup_states, key_states)

lowered_bound = Switch(
    name="lowered_bound",
    values=("asked_again", "accepted"),
    doc=(
        "When a group has lowered the bound, whether the windowed groups that had accepted a higher one are asked "
        "again (the loop goes on until the bound is stable), or are taken to have accepted the lower one too."
    ),
    source="seeds 003; contract 5(d): since 0.21; 0.20.2 has several groups, and no loop",
)
lowered_defer = Switch(
    name="lowered_defer",
    values=("cleared", "kept"),
    doc=(
        "What becomes of 'ask later', because a chunk that a group needed is still being stored, when another group "
        "lowers the bound: it is cleared and all groups are asked again, or it stands."
    ),
    source="contract 5(d) fixpoint: cleared",
)
asking_order = Switch(
    name="asking_order",
    values=("decreasing", "as_listed"),
    doc=(
        "In what order groups are asked: full attention first, then windowed groups by decreasing window; or as the "
        "model lists them. Answers are the same; what is asked in vain is not."
    ),
    source="seeds 003: full-attention groups first, then windowed groups by decreasing window",
)
unresolved_chunk = Switch(
    name="unresolved_chunk",
    values=("counts", "sticky", "missing"),
    doc=(
        "What a lookup makes of RETRY. Counts: as it may be there, a hit is not the shorter for it, and waits for it "
        "if it needs it. Sticky: it does not count, and a group that comes across it says 'later', whatever it has "
        "further to the left. Missing: it is a miss until it is known."
    ),
    source="contract 5(d) _maximal_prefix_lookup, _sliding_window_lookup: RETRY is sticky",
)
pending_chunk = Switch(
    name="pending_chunk",
    values=("counts", "sticky", "missing"),
    doc="What a lookup makes of a chunk that is being stored, in the same words.",
    source="contract 8.3 (lookup: bool in 0.20, bool or None in 0.22, HIT_PENDING), 8.4 (pending in the window: 0.32)",
)
deferring_group = Switch(
    name="deferring_group",
    values=("lowers_bound", "keeps_bound"),
    doc=(
        "What becomes of the bound when a group says 'later': it is lowered to the hit that may come, or it stays, "
        "because the group's answer is None, which has no length."
    ),
    source="contract 5(d): None if any defers; vLLM 0.32.0 offloading/scheduler.py:877 (num_hit_chunks is None)",
)
check_deadline = Switch(
    name="check_deadline",
    values=("expires", "none"),
    doc="Whether a chunk of which the further tier says nothing counts as missing after a while.",
    source=(
        "contract V-03: RETRY may postpone arbitrarily; vLLM 0.32.0 v1/kv_offload/tiering/p2p/session/client.py:458: "
        "an unanswered probe stays RETRY; vLLM PR 45765"
    ),
)
promotion_room = Switch(
    name="promotion_room",
    values=("spares_asked", "evicts_any"),
    doc=(
        "What may be evicted to make room for a chunk of the further tier: what no request that is being looked up "
        "asks for, or any chunk that nobody loads, one that this very lookup has counted included."
    ),
    source=(
        "vLLM 0.32.0 v1/kv_offload/tiering/manager.py:483-540 (lookup promotes; only the promoted key is protected); "
        "vLLM #49902; B-030 vllm #54914"
    ),
)
SWITCHES = (
    lowered_bound, lowered_defer, asking_order,
    unresolved_chunk, pending_chunk, deferring_group, check_deadline, promotion_room,
)  # fmt: skip

r = request.var("r")
g, g2, g3 = group.var("g"), group.var("g2"), group.var("g3")
p, p2 = position.var("p"), position.var("p2")
q, q2 = position.var("q"), position.var("q2")

S, G = Site.SCHEDULER, Site.GHOST

# The model and the prompt: laid out before the first request, constant from then on.
windowed = relation("windowed", g, site=S, doc="g is no full-attention group (sliding window, chunked local, Mamba)")
prompt_order = Order(name="ahead", member=position, site=S, doc="p comes before p2 in the prompt")
ahead = prompt_order.before
settled = relation("settled", g, q, site=S, doc="what a hit of g that ends with q needs has been laid down")
covers = relation("covers", g, p, q, site=S, doc="a hit of g that ends with q needs the chunk at p")

key_state = function("key_state", g, p, result=key_states, site=S, init=key_states["miss"], doc="lifecycle key")
lookup_state = function(
    "lookup_state", r, result=lookup_states, site=S, init=lookup_states["absent"], doc="lifecycle lookup"
)
bound = function(
    "bound",
    r,
    result=position,
    site=S,
    domain=lookup_states.one_of(lookup_state(r), "searching", "matched"),
    doc="max_hit: the last position with which the hit of r may end; once it is matched, that with which it ends",
)
accepted = relation(
    "accepted", r, g, site=S, doc="asked in this lookup, g has what a hit needs that ends with the bound"
)
deferred = relation("deferred", r, site=S, doc="a group waits for a chunk: it is being stored, or looked for")
asked = relation("asked", r, g, q, site=G, doc="in this lookup g was asked about hits up to q")

VARIABLES = (
    windowed, *prompt_order.variables, settled, covers,
    key_state, lookup_state, bound, accepted, deferred, asked,
)  # fmt: skip
