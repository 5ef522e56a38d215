"""The worker's actions and the reports on them: transfers are done, fail, find nothing, hang or die in clean-up."""

from __future__ import annotations

from interlock.spec.language.actions import (
    Action,
    Fairness,
    Fire,
    Update,
    assign,
    assign_all,
    fire,
    need,
    receive,
    send,
)
from interlock.spec.language.terms import TRUE, Term, card, ite
from interlock.spec.language.variables import Site
from interlock.spec.tiers.predicates import fills, is_kind, live, may_collect, names, reads, waits_for
from interlock.spec.tiers.vocabulary import (
    before_reset,
    c,
    cleanup_error,
    copy_order,
    cpu_slot_state,
    cpu_slot_states,
    cpu_slot_value,
    cpu_used,
    entry_state,
    entry_states,
    failed_read,
    failed_write,
    failure_reach,
    file_value,
    h,
    o,
    o2,
    operation_broke,
    operation_for,
    operation_key,
    operation_slot,
    r,
    r2,
    read_order,
    retrieval_unpins,
    slot_key,
    slot_pins,
    stalled,
    succeeded,
    tier_used,
    tier_values,
    unreadable,
    worker_down,
    write_order,
)

SCHEDULER, WORKER = Site.SCHEDULER, Site.WORKER
UP = need("worker-is-up", ~worker_down())
DIES = assign(worker_down(), failure_reach.is_("worker"))
_reported = ~failed_read.is_("counted_as_loaded")
_TRANSFERS_END = "a transfer that does not fail is done in the end"


def _kept_under(key: Term, value: Term) -> Term:
    """What arrives in slot c when ``value`` of ``key`` is written to it: garbage, if c is for another key by then."""
    return ite(cpu_slot_state(c).ne(cpu_slot_states["absent"]) & slot_key(c).eq(key), value, tier_values["garbage"])


def _written(value: Term, *, when: Term = TRUE) -> Update:
    """Operation o writes ``value`` to its slot, whatever has become of the slot."""
    return assign_all(
        c,
        to=cpu_slot_value(c),
        value=_kept_under(operation_key(o), value),
        when=when & live(o) & operation_slot(o).eq(c),
    )


tier_read = Action(
    name="tier_read", event="tier_read", params=(o, h), site=WORKER, observed=False,
    receives=(receive(read_order, o, h),),
    sends=(
        send(succeeded, o, when=~unreadable(h) | ~_reported),
        send(operation_broke, o, when=unreadable(h) & _reported),
    ),
    guard=(UP,),
    updates=(
        _written(file_value(h), when=~unreadable(h)),
        assign(worker_down(), unreadable(h) & failure_reach.is_("worker")),
    ),
    fairness=Fairness.WEAK, fairness_why=_TRANSFERS_END,
    source="contract L3; B-016 vllm #49176, B-162 llm-d-kv-cache #514",
    doc="The worker reads the file of h into the slot of o, or finds no file and reports a failure.",
)  # fmt: skip

tier_read_raises = Action(
    name="tier_read_raises", event="tier_read_raises", params=(o, h), site=WORKER, observed=False, fault=True,
    receives=(receive(read_order, o, h),),
    sends=(send(succeeded, o, when=cleanup_error.is_("result_published")),),
    guard=(UP, need("file-is-there", ~unreadable(h))),
    updates=(_written(file_value(h)),),
    source="B-020 vllm #49947", doc="The read is done, and then releasing its handle raises.",
)  # fmt: skip

tier_read_fails = Action(
    name="tier_read_fails", event="tier_read_fails", params=(o, h), site=WORKER, observed=False, fault=True,
    receives=(receive(read_order, o, h),),
    sends=(send(operation_broke, o, when=_reported), send(succeeded, o, when=~_reported)),
    guard=(UP,),
    updates=(DIES,),
    source="B-146 dynamo #15079", doc="A read breaks off: nothing of use is in the slot.",
)  # fmt: skip

file_vanishes = Action(
    name="file_vanishes", event="file_vanishes", params=(h,), site=WORKER, observed=False, fault=True,
    updates=(assign(unreadable(h), True),),
    source="B-016 vllm #49176, B-162 llm-d-kv-cache #514", doc="The file of h is removed behind the connector's back.",
)  # fmt: skip

tier_write = Action(
    name="tier_write", event="tier_write", params=(o, h), site=WORKER, observed=False,
    receives=(receive(write_order, o, h),),
    sends=(send(succeeded, o),),
    guard=(UP,),
    updates=(
        assign(
            file_value(h),
            ite(
                live(o)
                & cpu_slot_state(operation_slot(o)).ne(cpu_slot_states["absent"])
                & slot_key(operation_slot(o)).eq(h),
                cpu_slot_value(operation_slot(o)),
                tier_values["garbage"],
            ),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why=_TRANSFERS_END,
    source="contract J8", doc="The worker writes the slot of o to the file of h.",
)  # fmt: skip

tier_write_fails = Action(
    name="tier_write_fails", event="tier_write_fails", params=(o, h), site=WORKER, observed=False, fault=True,
    receives=(receive(write_order, o, h),),
    sends=(send(operation_broke, o),),
    guard=(UP,),
    updates=(DIES,),
    source="B-124 LMCache #4991, B-134 sglang #27108", doc="A write breaks off: the file does not hold the key.",
)  # fmt: skip

gpu_copy = Action(
    name="gpu_copy", event="gpu_copy", params=(o,), site=WORKER, observed=False,
    receives=(receive(copy_order, o),),
    sends=(send(succeeded, o),),
    guard=(UP,),
    updates=(
        assign_all(
            c, to=cpu_slot_value(c),
            value=_kept_under(operation_key(o), ite(before_reset(o), tier_values["outdated"], tier_values["right"])),
            when=fills(o) & operation_slot(o).eq(c),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why=_TRANSFERS_END,
    source="contract J8, L3", doc="The worker copies between the GPU and the slot of o, one way or the other.",
)  # fmt: skip

copy_stalls = Action(
    name="copy_stalls", event="copy_stalls", params=(o,), site=WORKER, observed=False, fault=True,
    receives=(receive(copy_order, o),),
    updates=(assign(stalled(o), True),),
    source="B-017 vllm #49829", doc="The copy of o hangs; no report on it will ever come.",
)  # fmt: skip

_FORGET = assign_all(r2, to=operation_for(o, r2), value=False)
_slot_is = {s: cpu_slot_state(operation_slot(o2)).eq(cpu_slot_states[s]) for s in cpu_slot_states.members}
_taken = _slot_is["pending"] & may_collect(o2)
_REPORTS = "a report that is there is read at the next step"

fill_done = Action(
    name="fill_done", event="finished_storing", params=(o, o2), site=SCHEDULER,
    receives=(receive(succeeded, o),),
    fires=(
        fire("operation", o2), fire("cpu_slot", operation_slot(o2)),
        Fire(lifecycle="record", entity=(r, operation_key(o2)), over=(r,), when=_taken),
    ),
    guard=(need("is-a-fill", fills(o2)), need("named-by-the-report", names(o, o2))),
    updates=(
        assign(
            slot_pins(operation_slot(o2)),
            slot_pins(operation_slot(o2)) + ite(_taken, card(r, waits_for(r, operation_key(o2))), 0),
        ),
        assign(cpu_used(), cpu_used() - ite(_slot_is["stale"], 1, 0)),
        assign_all(r2, to=operation_for(o2, r2), value=False),
    ),
    fairness=Fairness.WEAK, fairness_why=_REPORTS,
    source="contract 3.2 complete_store, I-43; B-019 vllm #49820",
    doc="The report of o comes in, and o2 ends (they are one): its slot is ready, and whoever waits for it has a hit.",
)  # fmt: skip

promotion_failed = Action(
    name="promotion_failed", event="failed_storing", params=(o,), site=SCHEDULER,
    receives=(receive(operation_broke, o),),
    fires=(
        fire("operation", o), fire("cpu_slot", operation_slot(o)), fire("entry", operation_key(o)),
        Fire(
            lifecycle="record", entity=(r, operation_key(o)), over=(r,),
            when=cpu_slot_state(operation_slot(o)).eq(cpu_slot_states["pending"]),
        ),
    ),
    guard=(need("is-a-promotion", live(o) & is_kind(o, "promotion")),),
    updates=(
        assign(cpu_used(), cpu_used() - ite(cpu_slot_state(operation_slot(o)).eq(cpu_slot_states["absent"]), 0, 1)),
        assign(tier_used(), tier_used() - ite(entry_state(operation_key(o)).eq(entry_states["ready"]), 1, 0)),
        _FORGET,
    ),
    fairness=Fairness.WEAK, fairness_why=_REPORTS,
    source="B-016 vllm #49176; contract R-10",
    doc="A promotion has failed: its slot is free again, the second tier no longer offers the key, the answer is no.",
)  # fmt: skip


def _unpin(count: Term | int) -> tuple[Update, ...]:
    """A reader of the slot of o ends; what a reset found in use is free with its last reader."""
    cpu_slot = operation_slot(o)
    return (
        assign(slot_pins(cpu_slot), slot_pins(cpu_slot) - count),
        assign(
            cpu_used(),
            cpu_used() - ite(cpu_slot_state(cpu_slot).eq(cpu_slot_states["stale"]) & slot_pins(cpu_slot).eq(1), 1, 0),
        ),
    )


_entry_goes = entry_state(operation_key(o)).eq(entry_states["stale"])
cascade_done = Action(
    name="cascade_done", event="finished_cascading", params=(o,), site=SCHEDULER,
    receives=(receive(succeeded, o),),
    fires=(fire("operation", o), fire("cpu_slot", operation_slot(o)), fire("entry", operation_key(o))),
    guard=(need("is-a-cascade", reads(o) & is_kind(o, "cascade")),),
    updates=(*_unpin(1), assign(tier_used(), tier_used() - ite(_entry_goes, 1, 0))),
    fairness=Fairness.WEAK, fairness_why=_REPORTS,
    source="contract 3.2 complete_load", doc="A cascade is done: the second tier has the key, the slot loses a pin.",
)  # fmt: skip

cascade_failed = Action(
    name="cascade_failed", event="failed_cascading", params=(o,), site=SCHEDULER,
    receives=(receive(operation_broke, o),),
    fires=(fire("operation", o), fire("cpu_slot", operation_slot(o)), fire("entry", operation_key(o))),
    guard=(need("is-a-cascade", reads(o) & is_kind(o, "cascade")),),
    updates=(
        *_unpin(1),
        assign(
            tier_used(),
            tier_used()
            - ite(
                _entry_goes
                | (entry_state(operation_key(o)).eq(entry_states["pending"]) & ~failed_write.is_("entry_kept")),
                1,
                0,
            ),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why=_REPORTS,
    source="B-124 LMCache #4991", doc="A cascade has failed: the second tier does not have the key.",
)  # fmt: skip

retrieval_done = Action(
    name="retrieval_done", event="finished_recving", params=(o,), site=SCHEDULER,
    receives=(receive(succeeded, o),),
    fires=(fire("operation", o), fire("cpu_slot", operation_slot(o))),
    guard=(need("is-a-retrieval", reads(o) & is_kind(o, "retrieval")),),
    updates=(*_unpin(1), _FORGET),
    fairness=Fairness.WEAK, fairness_why=_REPORTS,
    source="contract 3.2 complete_load, R-20", doc="A load to the GPU is done: the slot loses a pin.",
)  # fmt: skip

save_ends = Action(
    name="save_ends", event="wait_for_save", params=(o,), site=SCHEDULER,
    fires=(fire("operation", o),),
    updates=(
        assign(
            slot_pins(operation_slot(o)),
            slot_pins(operation_slot(o)) - ite(retrieval_unpins.is_("again_at_save"), 1, 0),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why="a forward that has loaded also ends",
    source="B-117 LMCache #2954",
    doc="The save of the step that used a loaded block has ended: the load is forgotten.",
)  # fmt: skip

TRANSFER_ACTIONS = (
    tier_read, tier_read_raises, tier_read_fails, file_vanishes, tier_write,
    tier_write_fails, gpu_copy, copy_stalls,
    fill_done, promotion_failed, cascade_done, cascade_failed, retrieval_done, save_ends,
)  # fmt: skip
