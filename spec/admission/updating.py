"""Actions around the steps: processed outputs, reports, ends, deadlines, the tier, and the workers' transfers."""

from __future__ import annotations

from interlock.spec.admission.predicates import (
    is_,
    keeps_blocks,
    nothing_open,
    outputs_are_due,
    without_blocks,
)
from interlock.spec.admission.steps import (
    ENGINE,
    SCHEDULER,
    WORKER,
    at,
    gives_back,
    gives_back_between_calls,
    goes_to,
    leaves,
)
from interlock.spec.admission.vocabulary import (
    crossed,
    exposed_newer,
    exposed_older,
    flush_order,
    flush_report,
    flushing,
    free,
    in_newer,
    in_older,
    load_order,
    load_report,
    lookup_deadline,
    newer_step,
    older_step,
    output_due,
    own_store,
    owns,
    parked_drain,
    parked_newer,
    parked_older,
    r,
    r2,
    stall_latch,
    stayed,
    step_slots,
    store_hold,
    store_order,
    store_report,
    storing_off,
)
from interlock.spec.language.actions import (
    Action,
    Fairness,
    assign,
    assign_all,
    fire,
    fire_all,
    need,
    receive,
    send,
)
from interlock.spec.language.terms import forall, ite

_drains = parked_drain.is_("every_step") | older_step().eq(step_slots["full"])

process_step = Action(
    name="process_step", event="process_step", site=SCHEDULER,
    guard=(at("idle"), need("a-step-is-in-flight", ~nothing_open())),
    updates=(
        goes_to("updating"),
        assign(free(), ite(_drains, free() + parked_older(), free())),
        assign(parked_older(), ite(_drains, parked_newer(), parked_older() + parked_newer())),
        assign(parked_newer(), 0),
        assign(exposed_older(), exposed_newer()),
        assign(exposed_newer(), False),
        assign_all(r, to=output_due(r), value=True, when=in_older(r) & is_(r, "running")),
        assign_all(r, to=in_older(r), value=in_newer(r)),
        assign_all(r, to=in_newer(r), value=False),
        assign(older_step(), newer_step()),
        assign(newer_step(), step_slots["none"]),
    ),
    fairness=Fairness.WEAK, fairness_why="workers run each step that they get",
    source="contract section 1 engine loop, G8, V-08",
    doc="update_from_output() of the oldest step begins: blocks that were parked behind it return.",
)  # fmt: skip

crosses_block = Action(
    name="crosses_block", event="crosses_block", params=(r,), site=SCHEDULER, observed=False,
    guard=(need("output-is-here", output_due(r)), need("not-yet", ~crossed(r))),
    updates=(assign(output_due(r), False), assign(crossed(r), True)),
    source="contract Q20", doc="The output of r does not end it, and its next token needs a new block.",
)  # fmt: skip

stays_in_its_block = Action(
    name="stays_in_its_block", event="stays_in_its_block", params=(r,), site=SCHEDULER, observed=False,
    guard=(need("output-is-here", output_due(r)), need("once", ~stayed(r))),
    updates=(assign(output_due(r), False), assign(stayed(r), True)),
    source="contract Q20, Q26",
    doc="The output of r does not end it, and its next token fits in the blocks that it has.",
)  # fmt: skip

finish = Action(
    name="finish", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("admission", r),),
    guard=(need("output-is-here", output_due(r)),),
    updates=(*leaves(), *gives_back(keeps_blocks(r))),
    fairness=Fairness.WEAK, fairness_why="outputs are bounded: a request that does not grow on ends",
    source="contract Q26, Q31, R-51", doc="The output of r ends it.",
)  # fmt: skip

abort = Action(
    name="abort", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("admission", r),),
    guard=(at("idle", "updating"),),
    updates=(*leaves(), *gives_back_between_calls(is_(r, "loading") | (is_(r, "running") & keeps_blocks(r)))),
    source="contract Q30, Q31, R-52", doc="A client gives up, in whatever state its request is.",
)  # fmt: skip

finished_recving = Action(
    name="finished_recving", event="finished_recving", params=(r,), site=SCHEDULER,
    fires=(fire("admission", r),),
    receives=(receive(load_report, r),),
    guard=(at("updating"),),
    updates=(
        assign(free(), ite(is_(r, "held_for_load"), free() + owns(r), free())),
        assign(owns(r), ite(is_(r, "held_for_load"), 0, owns(r))),
    ),
    fairness=Fairness.WEAK, fairness_why="update_from_output() takes every report that has come",
    source="contract Q12, Q32, R-20",
    doc="The load of r has ended: it waits for its visit, or (ended meanwhile) gives its blocks back.",
)  # fmt: skip

store_reported = Action(
    name="store_reported", event="store_reported", params=(r,), site=SCHEDULER,
    fires=(fire("prefix_entry", r), fire_all("admission", r2, when=r2.eq(r))),
    receives=(receive(store_report, r),),
    guard=(at("updating"),),
    updates=(*gives_back(~is_(r, "held_for_store")), assign(own_store(r), False)),
    fairness=Fairness.WEAK, fairness_why="update_from_output() takes every report that has come",
    source="contract J11, Q33",
    doc="The store of r's prefix has ended: lookup finds it, and what was held for it returns.",
)  # fmt: skip

end_update = Action(
    name="end_update", event="end_update", site=SCHEDULER, observed=False,
    guard=(
        at("updating"),
        need("outputs-are-handled", ~outputs_are_due()),
        need("reports-are-taken", forall(r2, load_report(r2).eq(0) & store_report(r2).eq(0))),
    ),
    updates=(goes_to("idle"),),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract section 6.1", doc="update_from_output() ends.",
)  # fmt: skip

stored_before = Action(
    name="stored_before", event="stored_before", params=(r,), site=SCHEDULER, observed=False,
    fires=(fire("prefix_entry", r),),
    guard=(need("not-yet-here", is_(r, "absent")),),
    source="contract 3.2", doc="The prefix of a request that is still to come is in the tier.",
)  # fmt: skip

store_for_another = Action(
    name="store_for_another", event="store_for_another", params=(r,), site=SCHEDULER, observed=False,
    fires=(fire("prefix_entry", r),),
    sends=(send(store_order, r),),
    guard=(at("idle"), need("not-yet-here", is_(r, "absent"))),
    source="contract 3.2, J4", doc="A request out of sight stores the prefix of one that is still to come.",
)  # fmt: skip

evict_prefix = Action(
    name="evict_prefix", event="evict_prefix", params=(r,), site=SCHEDULER, observed=False,
    fires=(fire("prefix_entry", r),),
    guard=(need("waits-without-blocks", without_blocks(r)),),
    source="contract 3.2, R-11", doc="The tier forgets a prefix that a request is waiting for: a hit becomes a miss.",
)  # fmt: skip

expire_lookup = Action(
    name="expire_lookup", event="expire_lookup", params=(r,), site=SCHEDULER,
    fires=(fire("prefix_entry", r),),
    guard=(need("has-a-deadline", lookup_deadline.is_("expires")),),
    updates=(assign(storing_off(), True),),
    fairness=Fairness.WEAK, fairness_why="a deadline passes",
    source="V-03; B-017 vllm #49829",
    doc="The deadline of a store passes: lookup answers with a miss, and its slot is not used again before its report.",
)  # fmt: skip

expire_hold = Action(
    name="expire_hold", event="expire_hold", params=(r,), site=SCHEDULER,
    sends=(send(flush_order, r),),
    guard=(
        need("has-a-deadline", store_hold.is_("until_deadline", "until_unread")),
        need("is-held", is_(r, "held_for_store")),
        need("once", ~flushing(r)),
    ),
    updates=(assign(flushing(r), True),),
    fairness=Fairness.WEAK, fairness_why="a deadline passes",
    source="B-178 ROCm/ATOM #2261; contract J9",
    doc="The deadline of a deferred free passes: the store, of which no report has come, is to be flushed.",
)  # fmt: skip

flush_reported = Action(
    name="flush_reported", event="flush_reported", params=(r,), site=SCHEDULER,
    fires=(fire_all("admission", r2, when=r2.eq(r)),),
    receives=(receive(flush_report, r),),
    updates=gives_back_between_calls(~is_(r, "held_for_store")),
    fairness=Fairness.WEAK, fairness_why="every answer is taken",
    source="B-178 ROCm/ATOM #2261, R-34; contract J9",
    doc="The flush of a held store has ended: its blocks return, unless the report has come meanwhile.",
)  # fmt: skip

resume_storing = Action(
    name="resume_storing", event="resume_storing", site=SCHEDULER,
    guard=(need("is-off", storing_off()), need("latch-has-an-exit", stall_latch.is_("until_probe"))),
    updates=(assign(storing_off(), False),),
    fairness=Fairness.WEAK, fairness_why="the tier is tried again after a while",
    source="B-182 ROCm/ATOM #2053", doc="After a store was given up, storing is tried again.",
)  # fmt: skip

load_copied = Action(
    name="load_copied", event="load_copied", params=(r,), site=WORKER, observed=False,
    receives=(receive(load_order, r),),
    sends=(send(load_report, r),),
    fairness=Fairness.WEAK, fairness_why="transfers terminate; R-20",
    source="contract 2.1 L2, L3, R-20", doc="The workers have loaded the prefix of r.",
)  # fmt: skip

store_copied = Action(
    name="store_copied", event="store_copied", params=(r,), site=WORKER, observed=False,
    receives=(receive(store_order, r),),
    sends=(send(store_report, r),),
    fairness=Fairness.WEAK, fairness_why="transfers terminate, unless the report is lost",
    source="contract J10, J11", doc="The workers have stored the prefix of r.",
)  # fmt: skip

lose_store_report = Action(
    name="lose_store_report", event="lose_store_report", params=(r,), site=WORKER, observed=False, fault=True,
    receives=(receive(store_order, r),),
    source="B-017 vllm #49829, B-178 ROCm/ATOM #2261, B-182 ROCm/ATOM #2053",
    doc="The report on a store of r's prefix never comes.",
)  # fmt: skip

flush_ends = Action(
    name="flush_ends", event="flush_ends", params=(r,), site=WORKER, observed=False,
    receives=(receive(flush_order, r),),
    sends=(send(flush_report, r),),
    guard=(need("is-copied", store_hold.is_("until_deadline") | store_order(r).eq(0)),),
    fairness=Fairness.WEAK, fairness_why="a flush ends, because copies do; R-20",
    source="contract J9: a barrier in the worker, not a cancel; R-34",
    doc="The workers have the store of r no longer: it is copied, or was given up. (Or nobody waits for that.)",
)  # fmt: skip
