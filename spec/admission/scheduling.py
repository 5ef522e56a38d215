"""Actions of schedule(): arrivals, the running loop, the waiting loop, and the metadata."""

from __future__ import annotations

from interlock.spec.admission.order import (
    arrives,
    at_the_back,
    at_the_front,
    behind_the_holders,
    behind_the_running,
)
from interlock.spec.admission.predicates import (
    blocks_the_engine,
    deferred,
    entry,
    frees_are_coming,
    has_work,
    is_fenced,
    is_victim,
    may_be_preempted,
    next_running,
    next_waiting,
    nothing_open,
    one_step_open,
    phase,
    reserved,
    rest,
    running_loop_is_over,
    sequence_fits,
    wants,
    without_blocks,
)
from interlock.spec.admission.steps import (
    ENGINE,
    HIT,
    MISS,
    NEXT_WAITING,
    SCHEDULER,
    at,
    built,
    exposes,
    goes_to,
    high,
    whole,
)
from interlock.spec.admission.vocabulary import (
    PART,
    WHOLE,
    engine_phase,
    engine_phases,
    free,
    in_newer,
    in_older,
    load_order,
    newer_step,
    older_step,
    own_store,
    owns,
    parked_newer,
    preempted_now,
    r,
    r2,
    scheduled_now,
    scheduling_policy,
    somebody_lost_blocks,
    store_order,
    store_report,
    storing_off,
    urgent,
    visited,
)
from interlock.spec.language.actions import (
    Action,
    Fairness,
    assign,
    assign_all,
    fire,
    need,
    send,
)
from interlock.spec.language.terms import FALSE, exists, forall, ite

add_request = Action(
    name="add_request", event="add_request", params=(r, high), site=SCHEDULER,
    guard=(at("idle", "flushing"), need("priorities-count", ~high | scheduling_policy.is_("priority"))),
    fires=(fire("admission", r),),
    updates=(at_the_back(r, high), arrives(r), assign(urgent(r), high)),
    source="contract Q1, Q22", doc="A request arrives, perhaps of the higher priority, and waits behind its equals.",
)  # fmt: skip

begin_step = Action(
    name="begin_step", event="begin_step", site=SCHEDULER, observed=False,
    guard=(
        at("idle"),
        need("nothing-in-flight", nothing_open()),
        need("has-work", has_work(), policy=True),
    ),
    updates=(goes_to("running_loop"),),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract section 1 engine loop, R-58", doc="schedule() begins: the running loop.",
)  # fmt: skip

begin_step_ahead = Action(
    name="begin_step_ahead", event="begin_step", site=SCHEDULER, observed=False,
    guard=(
        at("idle"),
        need("room-for-another", one_step_open()),
        need("has-work", has_work(), policy=True),
    ),
    updates=(goes_to("running_loop"),),
    source="contract section 1 engine loop, R-24: with a batch queue",
    doc="schedule() begins before the step in flight is processed (overlapping batches).",
)  # fmt: skip

schedule_running = Action(
    name="schedule_running", event="schedule_running", params=(r,), site=SCHEDULER, observed=False,
    guard=(need("its-turn", next_running(r)), need("has-its-blocks", ~wants(r))),
    updates=(assign(scheduled_now(r), True),),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract Q20", doc="The running loop schedules a request in the blocks that it has.",
)  # fmt: skip

grow = Action(
    name="grow", event="allocate", params=(r,), site=SCHEDULER, observed=False,
    guard=(
        need("its-turn", next_running(r)),
        need("needs-a-block", wants(r)),
        need("a-block-is-free", free() > 0),
    ),
    updates=(
        assign(owns(r), owns(r) + 1),
        assign(free(), free() - 1),
    ),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract Q20, G1", doc="The running loop gives a request the block that it has grown into.",
)  # fmt: skip

preempt = Action(
    name="preempt", event="preempt", params=(r,), site=SCHEDULER,
    fires=(fire("admission", r),),
    guard=(
        need("last-of-the-running", is_victim(r), policy=True),
        need("somebody-needs-a-block", exists(r2, next_running(r2) & wants(r2))),
        need("no-block-is-free", free().eq(0)),
        need("no-frees-are-coming", ~frees_are_coming()),
        need("yields-blocks-at-once", may_be_preempted(r)),
    ),
    updates=(
        at_the_front(r),
        assign(scheduled_now(r), False),
        assign(preempted_now(), True),
        assign(somebody_lost_blocks(), True),
        assign(free(), ite(is_fenced(r), free(), free() + owns(r))),
        # The step in flight is the older one, so the step that is being built will be the newer one.
        assign(parked_newer(), ite(is_fenced(r), parked_newer() + owns(r), parked_newer())),
        assign(owns(r), 0),
        *exposes(FALSE),
    ),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract Q21, Q22, R-59, G8; vLLM PR 49675",
    doc=(
        "The last running request, or the youngest of the lowest priority, loses its blocks to one that needs a block, "
        "or to itself, and what this pass has scheduled of it does not happen. If a step that may still write them is "
        "in flight, they are parked until the step that is being built is processed."
    ),
)  # fmt: skip

end_running_loop = Action(
    name="end_running_loop", event="end_running_loop", site=SCHEDULER, observed=False,
    guard=(at("running_loop"), need("loop-is-over", running_loop_is_over())),
    updates=(
        assign(
            engine_phase(),
            ite(preempted_now(), engine_phases["building"], engine_phases["waiting_loop"]),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract Q21, Q22: after a preemption the waiting loop is left out",
    doc="All running requests are scheduled, or the next one must wait for a block.",
)  # fmt: skip

skip_waiting = Action(
    name="skip_waiting", event="skip_waiting", params=(r,), site=SCHEDULER,
    guard=(NEXT_WAITING, need("is-to-ask-later", deferred(r))),
    updates=(assign(visited(r), True),),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract Q4, R-02",
    doc="Lookup answers None: r is skipped, gets nothing, and is asked again in the next pass.",
)  # fmt: skip

admit = Action(
    name="admit", event="admit", params=(r,), site=SCHEDULER,
    fires=(fire("admission", r),),
    guard=(NEXT_WAITING, MISS, need("fits", rest(r) <= free())),
    updates=(
        behind_the_running(r),
        assign(owns(r), owns(r) + rest(r)),
        assign(free(), free() - rest(r)),
        assign(scheduled_now(r), True),
    ),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract Q9, Q10", doc="r finds nothing in the tier, gets the blocks of its first step, and runs.",
)  # fmt: skip

loaded_blocks = ite(whole, WHOLE, PART)

admit_load = Action(
    name="admit_load", event="admit_load", params=(r, whole), site=SCHEDULER,
    fires=(fire("admission", r),),
    sends=(send(load_order, r),),
    guard=(
        NEXT_WAITING, HIT,
        need("fits-beside-the-reserve", loaded_blocks + reserved() <= free()),
        need("sequence-fits", sequence_fits(r)),
    ),
    updates=(
        behind_the_holders(r),
        assign(owns(r), owns(r) + loaded_blocks),
        assign(free(), free() - loaded_blocks),
    ),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract Q8, V-10; vLLM 0.32.0 v1/core/kv_cache_manager.py:522-539",
    doc="The tier has the whole prompt of r, or a part: r gets blocks for that, and a load fills them.",
)  # fmt: skip

admit_loaded = Action(
    name="admit_loaded", event="admit_loaded", params=(r,), site=SCHEDULER,
    fires=(fire("admission", r),),
    guard=(NEXT_WAITING, need("fits", rest(r) <= free())),
    updates=(
        behind_the_running(r),
        assign(owns(r), owns(r) + rest(r)),
        assign(free(), free() - rest(r)),
        assign(scheduled_now(r), True),
    ),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract Q13, Q11",
    doc="The visit after the load: r is promoted, gets what its first step needs besides, and runs.",
)  # fmt: skip

stop_scan = Action(
    name="stop_scan", event="stop_scan", params=(r,), site=SCHEDULER, observed=False,
    guard=(
        NEXT_WAITING,
        need("not-deferred", ~deferred(r)),
        need(
            "does-not-fit",
            ite(
                without_blocks(r) & entry(r, "ready"),
                (free() < reserved() + WHOLE) | ~sequence_fits(r),
                free() < rest(r),
            ),
        ),
    ),
    updates=(goes_to("building"),),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract Q7", doc="r could run and does not fit: whatever stands behind it waits too.",
)  # fmt: skip

end_waiting_loop = Action(
    name="end_waiting_loop", event="end_waiting_loop", site=SCHEDULER, observed=False,
    guard=(at("waiting_loop"), need("all-visited", ~exists(r2, next_waiting(r2)))),
    updates=(
        assign(
            engine_phase(),
            ite(blocks_the_engine(), engine_phases["flushing"], engine_phases["building"]),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="contract section 1, 5(c)", doc="Nobody is left to visit.",
)  # fmt: skip

plan_prefix_store = Action(
    name="plan_prefix_store", event="plan_prefix_store", params=(r,), site=SCHEDULER,
    fires=(fire("prefix_entry", r),),
    sends=(send(store_order, r),),
    guard=(
        at("building"),
        need("scheduled", scheduled_now(r)),
        need("storing-is-on", ~storing_off(), policy=True),
    ),
    updates=(assign(own_store(r), True),),
    source="contract J1, J4", doc="The metadata stores the prefix of a scheduled request.",
)  # fmt: skip

build_connector_meta = Action(
    name="build_connector_meta", event="build_connector_meta", site=SCHEDULER,
    guard=(
        at("building", "flushing"),
        need(
            "flushed",
            phase("building") | forall(r2, entry(r2, "pending") >> (store_report(r2) > 0)),
        ),
    ),
    updates=(
        goes_to("idle"),
        assign(older_step(), ite(nothing_open(), built(), older_step())),
        assign(newer_step(), ite(nothing_open(), newer_step(), built())),
        assign_all(r, to=in_older(r), value=scheduled_now(r), when=nothing_open()),
        assign_all(r, to=in_newer(r), value=scheduled_now(r), when=~nothing_open()),
        assign_all(r, to=scheduled_now(r), value=False),
        assign_all(r, to=visited(r), value=False),
        assign(preempted_now(), False),
        assign(somebody_lost_blocks(), False),
    ),
    fairness=Fairness.WEAK, fairness_why=ENGINE,
    source="R-22, R-23; contract section 1, 5(c)",
    doc="schedule() ends and the step is dispatched, an empty one too.",
)  # fmt: skip
