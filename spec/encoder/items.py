"""What happens to items: entries taken and freed, orders to the workers, the connector's pool and its transfers."""

from __future__ import annotations

from interlock.spec.encoder.lifecycles import last_load_report
from interlock.spec.encoder.predicates import (
    has_external,
    in_pool,
    is_,
    is_consumed,
    is_loading,
    may_not_hold,
    needed_elsewhere,
    somebody_needs_room,
    stands,
    used_by_another,
)
from interlock.spec.encoder.visits import (
    AFTER_UPDATE,
    BEFORE_TAKING,
    BETWEEN_STEPS,
    ENCODER_READY,
    IN_ITS_TURN,
    NOT_VISITED,
    NOTHING_COMPUTED,
    ONE_VISIT,
    RUNNERS_FIRST,
    SCAN_GOES_ON,
    SCHEDULING,
    VISIT_ENDS,
    VISIT_OPENS,
)
from interlock.spec.encoder.vocabulary import (
    arrived,
    broken,
    ec_external,
    embedding,
    encode_order,
    encoder_entry,
    encoder_entry_states,
    feature_item,
    free_order,
    free_slots,
    freeable_slots,
    i,
    i2,
    in_queue,
    j,
    load_done,
    load_item,
    load_order,
    load_reports,
    output,
    p,
    phase,
    phases,
    pool_evictable,
    pool_free,
    pool_pins,
    pool_value,
    r,
    read_due,
    room_ran_out,
    scan_stopped,
    step,
    transit,
    uses,
    visited,
    visiting,
    w,
    worker,
)
from interlock.spec.language.actions import (
    Action,
    Conjunct,
    Fairness,
    Update,
    assign,
    assign_all,
    fire,
    fire_all,
    need,
    receive,
    receive_all,
    receive_each,
    send,
)
from interlock.spec.language.terms import exists, forall, ite
from interlock.spec.language.variables import Site

SCHEDULER, WORKER, ENVIRONMENT = Site.SCHEDULER, Site.WORKER, Site.ENVIRONMENT

_FREEABLE = encoder_entry(i).eq(encoder_entry_states["freeable"])
_EVICTED = encoder_entry(i).eq(encoder_entry_states["evicted"])
STANDS_AT_P = need("stands-at-p", feature_item(r, p).eq(i))
# An open visit is between steps, and nothing interrupts it.
IN_VISIT = need("in-its-visit", visiting(r) & is_(r, "running"))
SLOT_FREE = need("slot-free", free_slots() > 0)
_TAKEN_SLOT: tuple[Update, ...] = (
    assign(free_slots(), free_slots() - 1),
    assign(freeable_slots(), freeable_slots() - 1),
)


def _reach(*more: Conjunct) -> tuple[Conjunct, ...]:
    """In the open visit to a running request its chunk reaches the feature at p, which holds i: nobody asks again."""
    return (STANDS_AT_P, IN_VISIT, *more)


_READS: tuple[Update, ...] = (assign(uses(r, i), True), assign(read_due(i), True))
_REACH_WHY = "schedule() visits running requests; room and answers come and go"

claim_cached = Action(
    name="claim_cached", event="claim_cached", params=(r, p, i), site=SCHEDULER, observed=False,
    fires=(fire("visit", r), fire("encoder_entry", i)),
    guard=(
        BETWEEN_STEPS, NOT_VISITED, SCAN_GOES_ON, RUNNERS_FIRST, IN_ITS_TURN, ONE_VISIT,
        NOTHING_COMPUTED,
        need("stands-ahead", stands(r, p, "ahead")),
        STANDS_AT_P,
        ENCODER_READY,
    ),
    updates=(
        assign(uses(r, i), True),
        VISIT_OPENS,
        assign(freeable_slots(), ite(_FREEABLE, freeable_slots() - 1, freeable_slots())),
        SCHEDULING,
    ),
    source="contract N2, Q7; vLLM PR 31857",
    doc="In the visit to a waiting request a cached item is taken for it, before it is known whether it gets KV.",
)  # fmt: skip

use_cached = Action(
    name="use_cached", event="use_cached", params=(r, p, i), site=SCHEDULER, observed=False,
    fires=(fire("feature", r, p), fire("encoder_entry", i)),
    guard=_reach(),
    updates=(*_READS, assign(freeable_slots(), ite(_FREEABLE, freeable_slots() - 1, freeable_slots()))),
    fairness=Fairness.STRONG, fairness_why=_REACH_WHY,
    source="contract N2, I-67",
    doc="The tokens of a running request reach a feature whose item is in the encoder cache.",
)  # fmt: skip

encode = Action(
    name="encode", event="encode", params=(r, p, i), site=SCHEDULER,
    fires=(fire("feature", r, p), fire("encoder_entry", i)),
    sends=(send(encode_order, w, i, over=(w,)),),
    guard=_reach(SLOT_FREE, need("not-external", ~has_external(r, i))),
    updates=(*_READS, *_TAKEN_SLOT),
    fairness=Fairness.STRONG, fairness_why=_REACH_WHY,
    source="contract N1, N5, R-67",
    doc="They reach a feature whose item is nowhere: this step encodes it.",
)  # fmt: skip

take_external = Action(
    name="take_external", event="take_external", params=(r, p, i, j), site=SCHEDULER,
    fires=(fire("feature", r, p), fire("encoder_entry", i), fire("pool_entry", i), fire("pool_load", j)),
    sends=(send(load_order, w, j, over=(w,), when=ec_external.is_("loaded")),),
    guard=_reach(SLOT_FREE, need("has-cache-item", has_external(r, i))),
    updates=(
        *_READS,
        *_TAKEN_SLOT,
        assign(pool_pins(i), pool_pins(i) + 1),
        assign(pool_evictable(i), False),
        assign(load_item(j), i),
        assign(load_reports(j), worker.size),
    ),
    fairness=Fairness.STRONG, fairness_why=_REACH_WHY,
    source="contract 4.2, 4.3, R-67, R-70",
    doc="They reach a feature whose item the connector holds: it is pinned, and this step's metadata loads it.",
)  # fmt: skip

advance = Action(
    name="advance", event="advance", params=(r, p, i), site=SCHEDULER, observed=False,
    fires=(fire("feature", r, p),),
    guard=_reach(),
    updates=(assign(read_due(i), True),),
    fairness=Fairness.STRONG, fairness_why=_REACH_WHY,
    source="contract Q20; vLLM PR 45347",
    doc="The step being built reads the feature to its end: computed tokens count beyond it, drafts included.",
)  # fmt: skip

speculate = Action(
    name="speculate", event="speculate", params=(r, p, i), site=SCHEDULER, observed=False,
    fires=(fire("feature", r, p),),
    guard=_reach(),
    updates=(assign(read_due(i), True),),
    source="vLLM PR 45347, issue 38551: asynchronous scheduling with speculation",
    doc=(
        "r is scheduled again before it is settled that it is beyond its feature at p: if drafts were "
        "rejected, this step's forward still reads the item."
    ),
)  # fmt: skip

settle = Action(
    name="settle", event="settle", params=(r, p), site=SCHEDULER, observed=False,
    fires=(fire("feature", r, p),),
    guard=(AFTER_UPDATE,),
    fairness=Fairness.STRONG, fairness_why="every output is processed; drafts are not rejected for ever",
    source="vLLM PR 45347",
    doc="The output shows that the tokens of the feature are computed.",
)  # fmt: skip

reject = Action(
    name="reject", event="reject", params=(r, p), site=SCHEDULER, observed=False, fault=True,
    fires=(fire("feature", r, p),),
    guard=(AFTER_UPDATE,),
    source="vLLM PR 45347",
    doc="The output shows that drafts were rejected: computed tokens fall back into the feature.",
)  # fmt: skip


def _let_go() -> tuple[Update, ...]:
    """r no longer uses i; if nobody else does, its slot can be freed."""
    return (
        assign(uses(r, i), False),
        assign(freeable_slots(), ite(used_by_another(r, i), freeable_slots(), freeable_slots() + 1)),
    )


free_input = Action(
    name="free_input", event="free_input", params=(r, p, i), site=SCHEDULER, observed=False,
    # Fired for all entries that are i: one that is freeable already stays so.
    fires=(fire_all("encoder_entry", i2, when=i2.eq(i)),),
    guard=(
        AFTER_UPDATE,
        need("consumed", is_consumed(r, p)),
        STANDS_AT_P,
        need("still-used", uses(r, i)),
        need("last-occurrence", ~needed_elsewhere(r, p)),
    ),
    updates=_let_go(),
    fairness=Fairness.STRONG, fairness_why="every update frees what it can",
    source="contract N3, 4.1",
    doc="The scheduler drops an input whose tokens are computed, with the last place that has taken it.",
)  # fmt: skip

drop_reference = Action(
    name="drop_reference", event="drop_reference", params=(r, i), site=SCHEDULER, observed=False,
    fires=(fire("encoder_entry", i),),
    guard=(
        need("used", uses(r, i)),
        need("cannot-run", may_not_hold(r)),
    ),
    updates=_let_go(),
    fairness=Fairness.WEAK, fairness_why="part of the event that ended, preempted or turned away the request",
    source="contract Q7, Q22, Q31; vLLM PR 31857",
    doc="What a request had taken is given up: it has ended, is preempted, or was turned away for want of KV.",
)  # fmt: skip

evict_entry = Action(
    name="evict_entry", event="evict_entry", params=(i,), site=SCHEDULER, observed=False,
    fires=(fire("encoder_entry", i),),
    guard=(BETWEEN_STEPS, need("room-is-needed", free_slots().eq(0) & somebody_needs_room(), policy=True)),
    updates=(assign(free_slots(), free_slots() + 1), SCHEDULING),
    fairness=Fairness.STRONG, fairness_why="allocation evicts what nobody uses when it needs room",
    source="contract N4",
    doc="The encoder cache makes room: an entry that no request uses is evicted.",
)  # fmt: skip

build_connector_meta = Action(
    name="build_connector_meta", event="build_connector_meta", site=SCHEDULER,
    fires=(fire_all("encoder_entry", i),),
    sends=(send(step, w, over=(w,)), send(free_order, w, i, over=(w, i), when=_EVICTED)),
    guard=(
        BETWEEN_STEPS,
        need(
            "scan-is-over",
            forall(
                r,
                (in_queue(r) >> (visited(r) | scan_stopped())) & (is_(r, "running", "stalled") >> visited(r)),
            ),
        ),
        need("references-returned", forall(r, i, uses(r, i) >> ~may_not_hold(r))),
    ),
    updates=(
        assign(phase(), phases["executing"]),
        assign_all(r, to=visited(r), value=False),
        VISIT_ENDS,
        assign(scan_stopped(), False),
        assign(room_ran_out(), False),
    ),
    fairness=Fairness.WEAK, fairness_why="schedule() ends, and the engine keeps stepping",
    source="contract 4.3, 6.1",
    doc="schedule() ends: the workers get the step, with what to encode, load and drop.",
)  # fmt: skip

run_step = Action(
    name="run_step", event="run_step", params=(w,), site=WORKER, observed=False,
    receives=(
        receive(step, w),
        receive_all(encode_order, w, i, over=(i,)),
        receive_all(free_order, w, i, over=(i,)),
        receive_all(load_order, w, j, over=(j,)),
    ),
    sends=(send(output, w), send(load_done, j, over=(j,), when=load_order(w, j) > 0)),
    updates=(
        # No step drops what it brings (a-step-drops-nothing-that-it-brings), so the order of the two is not told.
        # A load takes what the pool holds at this moment.
        assign_all(
            i, to=embedding(w, i),
            value=(encode_order(w, i) > 0)
            | exists(j, is_loading(j) & (load_order(w, j) > 0) & load_item(j).eq(i) & pool_value(i))
            | (embedding(w, i) & ~(free_order(w, i) > 0)),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why="workers run the steps that they are given",
    source="contract 4.3 worker, 6.1",
    doc="A worker runs a step: drops, encodes and loads items, then the forward reads them.",
)  # fmt: skip

update_from_output = Action(
    name="update_from_output", event="update_from_output", site=SCHEDULER,
    receives=(receive_each(output, w),),
    guard=(need("executing", phase().eq(phases["executing"])),),
    updates=(assign(phase(), phases["updated"]), assign_all(i, to=read_due(i), value=False)),
    fairness=Fairness.WEAK, fairness_why="the engine processes the output of a step that has run",
    source="contract 6.1 update_from_output",
    doc="The outputs of all workers are there: the step is over.",
)  # fmt: skip

load_reported = Action(
    name="load_reported", event="load_reported", params=(j,), site=SCHEDULER,
    receives=(receive(load_done, j),),
    fires=(fire("pool_load", j), fire_all("pool_entry", i, when=load_item(j).eq(i))),
    guard=(AFTER_UPDATE,),
    updates=(
        assign(load_reports(j), load_reports(j) - 1),
        assign_all(i, to=pool_pins(i), value=pool_pins(i) - 1, when=load_item(j).eq(i) & last_load_report()),
        assign_all(
            i, to=pool_evictable(i), value=True,
            when=load_item(j).eq(i) & last_load_report() & in_pool(i, "pinned") & pool_pins(i).eq(1),
        ),
    ),
    fairness=Fairness.STRONG, fairness_why="reports come with the output of a step",
    source="contract 4.2, I-65",
    doc="The connector counts one worker's report on a load; with the last one the pin is released.",
)  # fmt: skip

transfer_arrives = Action(
    name="transfer_arrives", event="transfer_arrives", params=(i,), site=ENVIRONMENT, observed=False,
    receives=(receive(transit, i),),
    sends=(send(arrived, i),),
    updates=(assign(pool_value(i), True),),
    source="contract 4.2", doc="The transfer of i into the pool is done. It need never be: the other side may hang.",
)  # fmt: skip

transfer_fails = Action(
    name="transfer_fails", event="transfer_fails", params=(i,), site=ENVIRONMENT, observed=False, fault=True,
    receives=(receive(transit, i),),
    sends=(send(broken, i),),
    source="contract 4.2", doc="The transfer of i into the pool fails.",
)  # fmt: skip

_TOMBSTONE = in_pool(i, "unavailable")

fetch_settles = Action(
    name="fetch_settles", event="fetch_settles", params=(i,), site=SCHEDULER, observed=False,
    receives=(receive(arrived, i),),
    fires=(fire("pool_entry", i),),
    guard=(AFTER_UPDATE,),
    updates=(
        assign(pool_free(), ite(_TOMBSTONE, pool_free() + 1, pool_free())),
        assign(pool_evictable(i), ~_TOMBSTONE & pool_pins(i).eq(0)),
        assign(pool_value(i), pool_value(i) & ~_TOMBSTONE),
    ),
    fairness=Fairness.STRONG, fairness_why="completions come with the output of steps",
    source="contract 4.2 mark_ready",
    doc="The connector sees that the transfer has ended: the entry is ready, or, given up meanwhile, discarded.",
)  # fmt: skip

fetch_breaks = Action(
    name="fetch_breaks", event="fetch_breaks", params=(i,), site=SCHEDULER, observed=False,
    receives=(receive(broken, i),),
    fires=(fire("pool_entry", i),),
    guard=(AFTER_UPDATE,),
    updates=(assign(pool_free(), pool_free() + 1),),
    fairness=Fairness.STRONG, fairness_why="completions come with the output of steps",
    source="contract 4.2",
    doc="The connector sees that the transfer has failed: the entry is discarded, and may be fetched again.",
)  # fmt: skip

evict_pool = Action(
    name="evict_pool", event="evict_pool", params=(i,), site=SCHEDULER, observed=False,
    # Fired for all entries that are i: what is on the list is evicted, whatever its state.
    fires=(fire_all("pool_entry", i2, when=i2.eq(i)),),
    guard=(
        BETWEEN_STEPS, BEFORE_TAKING,
        need("on-the-list", pool_evictable(i)),
        need("pool-is-full", pool_free().eq(0), policy=True),
    ),
    updates=(
        assign(pool_free(), pool_free() + 1),
        assign(pool_evictable(i), False),
        assign(pool_value(i), False),
        VISIT_ENDS, SCHEDULING,
    ),
    source="contract 4.2 _evict_until, I-64, R-67",
    doc="The pool makes room: an entry on its list is evicted.",
)  # fmt: skip

ITEMS = (
    claim_cached, use_cached, encode, take_external, advance, speculate, settle, reject, free_input, drop_reference,
    evict_entry, build_connector_meta, run_step, update_from_output, load_reported,
    transfer_arrives, transfer_fails, fetch_settles, fetch_breaks, evict_pool,
)  # fmt: skip
