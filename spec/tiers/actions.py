"""The scheduler's actions: lookup, plans, the end of the step, the end of a request, eviction, reset."""

from __future__ import annotations

from interlock.spec.language.actions import (
    Action,
    Fairness,
    Fire,
    Update,
    assign,
    assign_all,
    fire,
    fire_all,
    need,
    send,
)
from interlock.spec.language.terms import Term, card, exists, forall, ite
from interlock.spec.language.variables import Site
from interlock.spec.tiers.predicates import (
    fills,
    has_backup,
    in_flight,
    is_cached,
    is_granted_on,
    is_kind,
    is_offered,
    is_unread,
    is_waiting,
    reads,
    waits_for,
)
from interlock.spec.tiers.tasks_vocabulary import end_note
from interlock.spec.tiers.vocabulary import (
    before_reset,
    c,
    cancelled_plan,
    claim_order,
    client_state,
    client_states,
    copy_order,
    cpu_slot_state,
    cpu_slot_states,
    cpu_slot_value,
    cpu_used,
    file_value,
    finish_lookup,
    h,
    o,
    operation_for,
    operation_key,
    operation_kind,
    operation_kinds,
    operation_slot,
    operation_state,
    operation_states,
    pending_wait,
    r,
    r2,
    read_order,
    repeated_match,
    slot_key,
    slot_pins,
    tier_reset,
    tier_used,
    tier_values,
    unused_locks,
    write_order,
)

SCHEDULER = Site.SCHEDULER


WAITING = need("waiting", is_waiting(r))
HOLDS_KEY = need("holds-the-key", slot_key(c).eq(h))


add_request = Action(
    name="add_request", event="add_request", params=(r,), site=SCHEDULER,
    fires=(fire("client", r),),
    source="contract Q1", doc="A request arrives.",
)  # fmt: skip

lookup_hit = Action(
    name="lookup_hit", event="lookup", params=(r, h, c), site=SCHEDULER,
    fires=(fire("record", r, h),),
    guard=(WAITING, need("ready", cpu_slot_state(c).eq(cpu_slot_states["ready"])), HOLDS_KEY),
    updates=(assign(slot_pins(c), slot_pins(c) + 1),),
    source="contract 2.2 PENDING_PIN, R-01",
    doc="r asks for key h, which is in the CPU tier: a hit, and a pin until the answer is used.",
)  # fmt: skip

lookup_again = Action(
    name="lookup_again", event="lookup", params=(r, h, c), site=SCHEDULER,
    fires=(fire("record", r, h),),
    guard=(WAITING, need("ready", cpu_slot_state(c).eq(cpu_slot_states["ready"])), HOLDS_KEY),
    updates=(assign(slot_pins(c), slot_pins(c) + ite(repeated_match.is_("drops_old_pin"), 0, 1)),),
    source="R-01: the match may be asked any number of times",
    doc="r asks again for a key on which it has a hit already: the old pin is dropped, a new one is taken.",
)  # fmt: skip

lookup_less = Action(
    name="lookup_less", event="lookup", params=(r, h, c), site=SCHEDULER,
    fires=(fire("record", r, h),),
    guard=(WAITING, need("ready", cpu_slot_state(c).eq(cpu_slot_states["ready"])), HOLDS_KEY),
    updates=(assign(slot_pins(c), slot_pins(c) - ite(repeated_match.is_("drops_old_pin"), 1, 0)),),
    source="R-01, R-11: v1/simple_kv_offload/manager.py:346, 352-376 of 0.32.0 drops the old pin before it looks",
    doc=(
        "r is asked about again, and the answer is shorter, or no: key h, on which it had a hit, is not in it (the GPU "
        "has more by now, or another key of the hit is gone). Nothing was allocated for the first answer, since an "
        "allocation follows in the same visit or not at all, so its pin is all that has to go."
    ),
)  # fmt: skip

lookup_wait = Action(
    name="lookup_wait", event="lookup", params=(r, h, c), site=SCHEDULER,
    fires=(fire("record", r, h),),
    guard=(WAITING, need("pending", cpu_slot_state(c).eq(cpu_slot_states["pending"])), HOLDS_KEY),
    source="contract 3.2 HIT_PENDING, R-02",
    doc="r asks for key h, which is being written: it is to ask later.",
)  # fmt: skip


def _plan(kind: str, *more: Update, key: Term = h) -> tuple[Update, ...]:
    """What any plan notes down of its operation."""
    return (
        assign(operation_kind(o), operation_kinds[kind]),
        assign(operation_slot(o), c),
        assign(operation_key(o), key),
        assign(before_reset(o), False),
        *more,
    )


_TAKE_SLOT = (
    assign(slot_key(c), h),
    assign(operation_for(o, r), True),
    assign(cpu_slot_value(c), tier_values["none"]),
    assign(cpu_used(), cpu_used() + 1),
)

plan_promotion = Action(
    name="plan_promotion", event="plan_promotion", params=(r, h, c, o), site=SCHEDULER,
    fires=(fire("record", r, h), fire("cpu_slot", c), fire("operation", o)),
    guard=(WAITING, need("offered", is_offered(r, h)), need("not-cached", ~is_cached(h))),
    updates=_plan("promotion", *_TAKE_SLOT),
    source="vLLM #49022; contract R-02",
    doc="r asks for key h, which the second tier has: a promotion is queued, and r is to ask later.",
)  # fmt: skip

plan_fill = Action(
    name="plan_fill", event="plan_store", params=(r, h, c, o), site=SCHEDULER,
    fires=(fire("cpu_slot", c), fire("operation", o)),
    guard=(
        need("running", client_state(r).eq(client_states["running"])),
        need("not-cached", ~is_cached(h)),
    ),
    updates=_plan("fill", *_TAKE_SLOT),
    source="contract J4, 3.2 prepare_store",
    doc="What r has computed under key h is to be stored in the CPU tier.",
)  # fmt: skip

plan_cascade = Action(
    name="plan_cascade", event="plan_cascade", params=(h, c, o), site=SCHEDULER,
    fires=(fire("cpu_slot", c), fire("entry", h), fire("operation", o)),
    guard=(HOLDS_KEY,),
    updates=_plan(
        "cascade",
        assign(slot_pins(c), slot_pins(c) + 1),
        assign(tier_used(), tier_used() + 1),
    ),
    source="vLLM #49022; contract 3.2 prepare_load",
    doc="Key h is to be written from its slot to the second tier: the slot is pinned meanwhile.",
)  # fmt: skip

retrieve = Action(
    name="retrieve", event="update_state_after_alloc", params=(r, h, c, o), site=SCHEDULER,
    fires=(fire("record", r, h), fire("cpu_slot", c), fire("operation", o)),
    guard=(HOLDS_KEY,),
    updates=_plan("retrieval", assign(operation_for(o, r), True)),
    source="contract 2.2 LOAD",
    doc="Allocation takes up r's hit on h: its slot is to be copied to the GPU, and keeps the pin meanwhile.",
)  # fmt: skip

admit = Action(
    name="admit", event="admit", params=(r,), site=SCHEDULER,
    fires=(fire("client", r), Fire(lifecycle="record", entity=(r, h), over=(h,))),
    guard=(need("nothing-to-ask-later", forall(h, ~waits_for(r, h))),),
    updates=(
        assign_all(
            c, to=slot_pins(c),
            value=slot_pins(c) - card(h, is_granted_on(r, h, c)),
            when=unused_locks.is_("released"),
        ),
    ),
    fairness=Fairness.STRONG,
    fairness_why="the scheduler visits every waiting request again and again; the answers come and go meanwhile",
    source="contract Q8 to Q10, R-11, R-17",
    doc="r is scheduled. Hits that allocation has not taken up (the GPU had the blocks) are given back.",
)  # fmt: skip

wait_expires = Action(
    name="wait_expires", event="wait_expires", params=(r, h), site=SCHEDULER,
    fires=(fire("record", r, h),),
    guard=(need("has-a-deadline", pending_wait.is_("deadline")),),
    fairness=Fairness.WEAK,
    fairness_why="a deadline passes",
    source="contract V-03; B-017 vllm #49829",
    doc="r has been told to ask later for too long: the answer is no, and r computes the block itself.",
)  # fmt: skip

_undoes = cancelled_plan.is_("undone")
cancel_plan = Action(
    name="cancel_plan", event="cancel_plan", params=(o,), site=SCHEDULER,
    fires=(
        fire("operation", o),
        fire("cpu_slot", operation_slot(o)),
        Fire(lifecycle="record", entity=(r, operation_key(o)), over=(r,), when=is_kind(o, "promotion", "fill")),
        Fire(lifecycle="entry", entity=(h,), over=(h,), when=is_kind(o, "cascade") & operation_key(o).eq(h)),
    ),
    updates=(
        assign(
            slot_pins(operation_slot(o)),
            slot_pins(operation_slot(o)) - ite(_undoes & is_kind(o, "cascade", "retrieval"), 1, 0),
        ),
        assign(cpu_used(), cpu_used() - ite(_undoes & is_kind(o, "promotion", "fill"), 1, 0)),
        assign(tier_used(), tier_used() - ite(_undoes & is_kind(o, "cascade"), 1, 0)),
        assign_all(r2, to=operation_for(o, r2), value=False),
    ),
    source="B-188 FlexKV #236",
    doc="A planned operation is cancelled before its launch (its request was not scheduled, or is gone).",
)  # fmt: skip


def _planned(kind: str) -> Term:
    return operation_state(o).eq(operation_states["planned"]) & is_kind(o, kind)


build_connector_meta = Action(
    name="build_connector_meta", event="build_connector_meta", site=SCHEDULER,
    fires=(fire_all("operation", o),),
    sends=(
        send(read_order, o, h, over=(o, h), when=_planned("promotion") & operation_key(o).eq(h)),
        send(write_order, o, h, over=(o, h), when=_planned("cascade") & operation_key(o).eq(h)),
        send(copy_order, o, over=(o,), when=_planned("fill") | _planned("retrieval")),
    ),
    fairness=Fairness.WEAK,
    fairness_why="the engine keeps stepping while an operation is open (contract V-15)",
    source="R-22; vLLM #49022",
    doc="The end of the step: what is planned is launched.",
)  # fmt: skip

finish = Action(
    name="finish", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("client", r), Fire(lifecycle="record", entity=(r, h), over=(h,))),
    sends=(send(end_note, r),),
    updates=(
        assign_all(
            c, to=slot_pins(c),
            value=slot_pins(c) - card(h, is_granted_on(r, h, c)),
            when=finish_lookup.is_("released"),
        ),
    ),
    source="contract Q26, Q30, R-11, R-52",
    doc="r finishes, in whatever state it is: its records go, and with them its pins.",
)  # fmt: skip

finalise = Action(
    name="finalise", event="finalise", params=(r,), site=SCHEDULER, observed=False,
    fires=(fire("client", r),),
    guard=(
        need(
            "nothing-queued",
            ~exists(o, operation_for(o, r) & operation_state(o).eq(operation_states["planned"])),
        ),
        need(
            "nothing-in-flight",
            ~exists(o, operation_for(o, r) & operation_state(o).eq(operation_states["in_flight"])),
        ),
    ),
    fairness=Fairness.WEAK,
    fairness_why="it is tried at every step",
    source="B-014 vllm #49022",
    doc="The tiers are told that r is over. After that nothing may be done in its name.",
)  # fmt: skip

evict_slot = Action(
    name="evict_slot", event="evict", params=(c,), site=SCHEDULER, observed=False,
    fires=(fire("cpu_slot", c),),
    guard=(need("not-pinned", is_unread(c)), need("backed-up", has_backup(c))),
    updates=(
        assign(cpu_used(), cpu_used() - ite(claim_order.is_("before_move"), 1, 0)),
        assign(tier_used(), tier_used() - ite(claim_order.is_("after_move"), 1, 0)),
    ),
    source="contract 3.2, I-40; write-through: B-143 sglang #39444",
    doc="The CPU tier evicts a slot that nobody reads and whose key the second tier has.",
)  # fmt: skip

evict_tier_entry = Action(
    name="evict_tier_entry", event="evict_tier_entry", params=(h,), site=SCHEDULER, observed=False,
    fires=(fire("entry", h),),
    guard=(
        need("not-being-read", ~exists(o, fills(o) & is_kind(o, "promotion") & operation_key(o).eq(h))),
    ),
    updates=(assign(tier_used(), tier_used() - 1), assign(file_value(h), tier_values["none"])),
    source="contract 3.2, I-40 for the second tier",
    doc="The second tier drops a key that nobody reads; its bytes may be anything from then on.",
)  # fmt: skip

_kept = tier_reset.is_("not_passed_on")
_fenced = tier_reset.is_("fences")
reset_tiers = Action(
    name="reset_tiers", event="reset_cache", site=SCHEDULER,
    fires=(
        fire_all("record", r, h), fire_all("cpu_slot", c), fire_all("entry", h), fire_all("operation", o),
    ),
    updates=(
        assign_all(
            c, to=slot_pins(c),
            value=card(o, reads(o) & (_kept | in_flight(o)) & operation_slot(o).eq(c)),
        ),
        assign_all(
            o, r, to=operation_for(o, r), value=operation_for(o, r) & (_kept | in_flight(o)),
        ),
        assign(
            cpu_used(),
            ite(
                _kept, cpu_used(),
                ite(_fenced, card(c, exists(o, (fills(o) | reads(o)) & in_flight(o) & operation_slot(o).eq(c))), 0),
            ),
        ),
        assign(
            tier_used(),
            ite(
                _kept, tier_used(),
                ite(_fenced, card(h, exists(o, in_flight(o) & is_kind(o, "cascade") & operation_key(o).eq(h))), 0),
            ),
        ),
        assign_all(o, to=before_reset(o), value=True, when=in_flight(o)),
        assign_all(
            c, to=cpu_slot_value(c), value=tier_values["outdated"],
            when=cpu_slot_value(c).eq(tier_values["right"]),
        ),
        assign_all(
            h, to=file_value(h), value=tier_values["outdated"],
            when=file_value(h).eq(tier_values["right"]),
        ),
    ),
    source="contract R-62, 3.2 reset_cache",
    doc="The prefix cache is reset (after a weight update, say): nothing that was stored may be served any more.",
)  # fmt: skip

SCHEDULER_ACTIONS = (
    add_request, lookup_hit, lookup_again, lookup_less, lookup_wait, plan_promotion, plan_fill, plan_cascade, retrieve,
    admit, wait_expires, cancel_plan, build_connector_meta, finish, finalise, evict_slot, evict_tier_entry, reset_tiers,
)  # fmt: skip
