"""Sorts, enumerations, switches and variables of the connector's own copy of the scheduler's state.

A block is two tokens; a prompt is one block, whose key is known from the start. The scheduler's table is what
it has allocated; the connector learns of it only through the rows that each metadata reports.
"""

from __future__ import annotations

from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.terms import Int
from interlock.spec.language.variables import Site, counter, function, relation
from interlock.spec.shared.sorts import block, request

save = Sort(name="save", doc="a store job of one block, under the handle that its completion names")
SORTS = (request, block, save)

seat_states = Enumeration(
    name="seat_states",
    members=("absent", "queued", "running", "preempted", "done"),
    doc="a request in the scheduler; done: finished, and the connector is told by the next metadata",
)
save_states = Enumeration(
    name="save_states", members=("absent", "planned", "in_flight"), doc="a store job of the connector"
)
answers = Enumeration(
    name="answers",
    members=("below_zero", "nothing", "some", "whole", "beyond"),
    doc="what a connector answers to the match, against a prompt of two tokens: -1, 0, 1, 2, 3",
)
ENUMS = (seat_states, save_states, answers)

resume_blocks = Switch(
    name="resume_blocks",
    values=("append", "replace"),
    doc="What the connector does with the blocks of a request that is resumed after a preemption.",
    source="B-094 vllm #46595; contract R-27",
)
cursor_at_resume = Switch(
    name="cursor_at_resume",
    values=("kept", "reset"),
    doc="Whether the store cursor goes back together with the block list.",
    source="B-166 vllm #52211; contract I-50",
)
decode_block = Switch(
    name="decode_block",
    values=("unreported", "reported"),
    doc="Whether a block that decoding needs is reported to the connector.",
    source="B-148 dynamo #8490, TRT-LLM #13320",
)
refused_store = Switch(
    name="refused_store",
    values=("ends_the_loop", "is_skipped"),
    doc="Whether the connector still looks at the rest of the batch when the tier refuses a store.",
    source="B-025 vllm #25856",
)
storable = Switch(
    name="storable",
    values=("with_placeholders", "computed"),
    doc="Which tokens a store scan counts: also those scheduled and not yet computed, or computed ones.",
    source="B-035 vllm #27648; contract R-25, R-54",
)
finish_range = Switch(
    name="finish_range",
    values=("all_keys", "rounded_up", "computed"),
    doc="What is stored at the finish: whatever has a key, every block begun, or every block computed.",
    source="B-001 vllm #49118; B-191 FlexKV #279; contract R-54",
)
hit_cap = Switch(
    name="hit_cap",
    values=("full", "leave_one"),
    doc="Whether the match of a fully cached prompt leaves a token to compute.",
    source="B-177 tpu-inference #860; contract R-05",
)
abort_asserts = Switch(
    name="abort_asserts",
    values=("worker_object", "nothing"),
    doc="Whether the cancel path at the scheduler insists on what exists only once a request was scheduled.",
    source="B-119 LMCache #3499; contract R-52",
)
save_table = Switch(
    name="save_table",
    values=("one_per_request", "one_per_save"),
    doc="Whether a second store of a request replaces the first in the connector's table.",
    source="B-126 LMCache #3640",
)
save_list = Switch(
    name="save_list",
    values=("as_listed", "as_set"),
    doc="Whether a block that two groups share is taken off the index once for each time the job lists it.",
    source="B-027 vllm #42761",
)
unlaunched_save = Switch(
    name="unlaunched_save",
    values=("kept", "cancelled"),
    doc="What becomes of a planned store when its request loses its blocks before the launch.",
    source="B-175 FlexKV #269; contract Q27",
)
SWITCHES = (
    resume_blocks, cursor_at_resume, decode_block, refused_store, storable, finish_range, hit_cap, abort_asserts,
    save_table, save_list, unlaunched_save,
)  # fmt: skip

r, r2 = request.var("r"), request.var("r2")
b, b2 = block.var("b"), block.var("b2")
k, k2 = save.var("k"), save.var("k2")
a = answers.var("a")
S = Site.SCHEDULER

seat_state = function("seat_state", r, result=seat_states, site=S, init=seat_states["absent"], doc="lifecycle seat")
table_row = relation("table_row", r, b, site=S, doc="the scheduler has b in the block table of r")
report_row = relation("report_row", r, b, site=S, doc="b is new in the table of r, and the next metadata says so")
resumed = relation("resumed", r, site=S, doc="r was resumed after a preemption; the next metadata says so")
whole_blocks = counter("whole_blocks", r, site=S, high=block.size, doc="blocks of r all of whose tokens are computed")
half_block = relation("half_block", r, site=S, doc="one token more of r is computed")
placeholder = relation("placeholder", r, site=S, doc="a token of r is scheduled and its output still to come")
executing = relation("executing", r, site=S, doc="the step with that token has been handed to the workers")
keys = counter("keys", r, site=S, high=block.size + 1, doc="blocks of r whose key is known")
cancel_asked = relation("cancel_asked", r, site=S, doc="the client has cancelled r")
# The declared range has room for a fault (a count bent upwards), so that a named property finds it.
hit = counter("hit", r, site=S, low=-1, high=Int(value=4), doc="tokens that the connector says it has of r's prompt")
answered = relation("answered", r, site=S, doc="the connector has answered the match of r")

mirror_row = relation("mirror_row", r, b, site=S, doc="the connector's copy of the block table of r")
known = relation("known", r, site=S, doc="r was in some metadata: the worker's object of r exists")
store_cursor = counter("store_cursor", r, site=S, high=block.size + 1, doc="blocks of r that the store scan has passed")
store_refused = relation("store_refused", r, site=S, doc="the tier has refused a store of r in this step")

save_state = function("save_state", k, result=save_states, site=S, init=save_states["absent"], doc="lifecycle save")
_there = save_state(k).ne(save_states["absent"])
save_block = function("save_block", k, result=block, site=S, domain=_there, doc="the block that k stores")
save_for = relation("save_for", k, r, site=S, doc="k stores a block of r")
listed_twice = relation("listed_twice", k, site=S, doc="two groups share the block of k, so k lists it twice")
tracked = relation("tracked", r, k, site=S, doc="the connector's table of r's stores has k")
# The declared range has room for the fault (one entry removed twice), so that a named property finds it.
index_entries = counter("index_entries", b, site=S, low=-1, doc="entries for b in the index of blocks being stored")

VARIABLES = (
    seat_state, table_row, report_row, resumed, whole_blocks, half_block, placeholder, executing, keys, cancel_asked,
    hit, answered,
    mirror_row, known, store_cursor, store_refused,
    save_state, save_block, save_for, listed_twice, tracked, index_entries,
)  # fmt: skip
CHANNELS = ()
