"""A request's own tasks: loads into and stores out of its GPU blocks, from creation to their last table.

This part of the module is about how many tables know a task and who lets go of a block; the tiers behind
it are left out.
"""

from __future__ import annotations

from interlock.spec.language.settings import Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.variables import Discipline, Site, channel, function, relation
from interlock.spec.shared.sorts import block
from interlock.spec.tiers.vocabulary import r

task = Sort(name="task", doc="a load or store of one block that a connector has created for a request")
TASK_SORTS = (block, task)

task_states = Enumeration(
    name="task_states",
    members=("absent", "created", "started", "given_up"),
    doc="created: planned or buffered; given_up: its deadline has passed, a late report is still welcome",
)

nothing_to_store = Switch(
    name="nothing_to_store",
    values=("task_forgotten", "task_cancelled"),
    doc="What becomes of a store task that turns out to have nothing to store.",
    source="B-189 FlexKV #176",
)
store_report = Switch(
    name="store_report",
    values=("at_finish", "at_once"),
    doc="Whether the worker keeps reports back until the request has finished.",
    source="B-179 ATOM #2146",
)
buffered_store = Switch(
    name="buffered_store",
    values=("holds_nothing", "holds_block"),
    doc="Whether a store that waits to be started keeps its block from reuse.",
    source="B-186 LMCache #4847",
)
TASK_SWITCHES = (nothing_to_store, store_report, buffered_store)

b, b2 = block.var("b"), block.var("b2")
t, t2 = task.var("t"), task.var("t2")
S, W = Site.SCHEDULER, Site.WORKER

task_state = function("task_state", t, result=task_states, site=S, init=task_states["absent"], doc="lifecycle task")
_there = task_state(t).ne(task_states["absent"])
task_loads = relation("task_loads", t, site=S, doc="t is a load")
task_block = function("task_block", t, result=block, site=S, domain=_there, doc="the block that t reads or writes")
task_of = relation("task_of", r, t, site=S, doc="the table from requests to tasks")
in_table = relation("in_table", r, b, site=S, doc="b is in the block table of r")
stored = relation("stored", b, site=S, doc="what b holds has been stored")
report_withheld = relation("report_withheld", t, r, site=W, doc="t, of r, is done, and the worker has not said so")
TASK_VARIABLES = (task_state, task_loads, task_block, task_of, in_table, stored, report_withheld)

_BAG = Discipline.BAG
task_order = channel("task_order", t, r, sender=S, receiver=W, discipline=_BAG, doc="do t, of r")
end_note = channel("end_note", r, sender=S, receiver=W, discipline=_BAG, doc="r has finished")
end_heard = channel("end_heard", r, sender=W, receiver=S, discipline=_BAG, doc="the worker knows that r has finished")
task_report = channel("task_report", t, sender=W, receiver=S, discipline=_BAG, doc="t is done")
TASK_CHANNELS = (task_order, end_note, end_heard, task_report)
