"""The lifecycle tables: request, lookup record, CPU slot, second-tier entry, operation."""

from __future__ import annotations

from interlock.spec.language.lifecycles import Lifecycle, row
from interlock.spec.language.terms import exists
from interlock.spec.tiers.predicates import fills, in_flight, is_kind, is_last_user, may_collect, reads
from interlock.spec.tiers.vocabulary import (
    c,
    cancelled_plan,
    failed_read,
    failed_write,
    finish_lookup,
    h,
    o,
    o2,
    operation_key,
    operation_slot,
    r,
    tier_reset,
)

VISIT = Lifecycle(
    name="client",
    entity=(r,),
    variable="client_state",
    initial="away",
    doc="A request as the connector knows it, until its tiers have been told of its end.",
    rows=(
        row("away", "add_request", "waiting", source="contract Q1"),
        row("waiting", "admit", "running", source="contract Q8 to Q10: update_state_after_alloc"),
        row("waiting", "finish", "ended", source="contract Q30, R-52"),
        row("running", "finish", "ended", source="contract Q26, Q30"),
        row("ended", "forget_request", "away", source="contract I-51"),
        row("ended", "finalise", "away", source="B-014 vllm #49022: the finish hook goes to the tier"),
    ),
)

_undone = cancelled_plan.is_("undone")
_RESET = "contract R-62; R-01: the match is asked again"
RECORD = Lifecycle(
    name="record",
    entity=(r, h),
    variable="record_state",
    initial="none",
    doc="What lookup keeps for a request and a key, from the answer until its use or the request's end.",
    rows=(
        row("none", "lookup_hit", "granted", source="contract 2.2 PENDING_PIN"),
        row("granted", "lookup_again", "granted", source="R-01"),
        row("granted", "lookup_less", "none", source="R-01, R-11: another answer takes its place"),
        row("none", "lookup_wait", "recorded", source="contract 3.2 HIT_PENDING, R-02"),
        row("none", "plan_promotion", "recorded", source="contract R-02; vLLM #49022"),
        row("recorded", "plan_promotion", "recorded", source="B-016 vllm #49176: a retry"),
        row("recorded", "fill_done", "granted", source="contract V-03; the pin is taken with the arrival"),
        row(
            "recorded", "promotion_failed", "settled", guard=~failed_read.is_("verdict_kept"),
            source="contract R-10; B-016 vllm #49176",
        ),
        row("recorded", "cancel_plan", "none", guard=_undone, source="B-188 FlexKV #236"),
        row("recorded", "wait_expires", "settled", source="contract V-03; B-017 vllm #49829"),
        row("granted", "retrieve", "settled", source="contract 2.2 LOAD"),
        row("granted", "admit", "none", source="contract R-11, I-56"),
        row("settled", "admit", "none", source="contract I-56"),
        *(
            row(state, "finish", "none", guard=finish_lookup.is_("released"), source="contract R-11, I-56")
            for state in ("recorded", "granted", "settled")
        ),
        *(row(state, "reset_tiers", "none", source=_RESET) for state in ("recorded", "granted", "settled")),
    ),
)  # fmt: skip

_used_in_flight = exists(o, in_flight(o) & (fills(o) | reads(o)) & operation_slot(o).eq(c))
_fences = tier_reset.is_("fences")
_FAILED_SOURCE = "contract 3.2 complete_store(success=False)"
_STALE_SOURCE = "contract R-62, I-58: what a reset found in use is free when its transfer has ended"
SLOT = Lifecycle(
    name="cpu_slot",
    entity=(c,),
    variable="cpu_slot_state",
    initial="absent",
    doc="A slot of the CPU tier: lookup sees ready ones, waits for pending ones, and never sees a stale one.",
    rows=(
        row("absent", "plan_promotion", "pending", source="contract 3.2 prepare_store"),
        row("absent", "plan_fill", "pending", source="contract 3.2 prepare_store"),
        row("ready", "plan_cascade", "ready", source="contract 3.2 prepare_load"),
        row("ready", "retrieve", "ready", source="contract 3.2 prepare_load"),
        row("pending", "cancel_plan", "absent", guard=_undone, source="B-188 FlexKV #236"),
        row("pending", "cancel_plan", "pending", guard=~_undone, source="B-188 FlexKV #236"),
        row("ready", "cancel_plan", "ready", source="contract 3.2 complete_load"),
        row("pending", "fill_done", "ready", guard=may_collect(o2), source="contract 3.2 complete_store, I-43"),
        row("pending", "fill_done", "pending", guard=~may_collect(o2), source="B-132 sglang #9874"),
        row("stale", "fill_done", "absent", source=_STALE_SOURCE),
        row("absent", "fill_done", "absent", source="contract 3.2 reset_cache: everything absent, whatever its refs"),
        row("pending", "promotion_failed", "absent", source=_FAILED_SOURCE),
        row("stale", "promotion_failed", "absent", source=_STALE_SOURCE),
        row("absent", "promotion_failed", "absent", source="contract 3.2 reset_cache"),
        *(
            row_
            for event in ("cascade_done", "cascade_failed", "retrieval_done")
            for row_ in (
                row("ready", event, "ready", source="contract 3.2 complete_load"),
                row("stale", event, "absent", guard=is_last_user(o), source=_STALE_SOURCE),
                row("stale", event, "stale", source=_STALE_SOURCE),
                row("absent", event, "absent", source="contract 3.2 reset_cache; B-143 sglang #39444"),
                row("pending", event, "pending", source="contract 3.2 reset_cache; B-143 sglang #39444"),
            )
        ),
        row("ready", "evict_slot", "absent", source="contract 3.2, I-40"),
        *(
            row_
            for state in ("pending", "ready")
            for row_ in (
                row(state, "reset_tiers", "stale", guard=_fences & _used_in_flight, source=_STALE_SOURCE),
                row(
                    state, "reset_tiers", "absent",
                    guard=~tier_reset.is_("not_passed_on"),
                    source="contract 3.2 reset_cache, R-62",
                ),
            )
        ),
    ),
)  # fmt: skip

_written_in_flight = exists(o, in_flight(o) & is_kind(o, "cascade") & operation_key(o).eq(h))

_keeps = failed_write.is_("entry_kept")
ENTRY = Lifecycle(
    name="entry",
    entity=(h,),
    variable="entry_state",
    initial="ready",
    doc="A key in the index of the second tier. It is offered when ready.",
    rows=(
        row("absent", "plan_cascade", "pending", source="vLLM PR 49022: tiering manager; contract I-43"),
        row("pending", "cancel_plan", "absent", guard=_undone, source="B-188 FlexKV #236"),
        row("pending", "cascade_done", "ready", source="contract I-43"),
        row("stale", "cascade_done", "absent", source=_STALE_SOURCE),
        row("absent", "cascade_done", "absent", source="contract 3.2 reset_cache"),
        row("ready", "cascade_done", "ready", source="contract 3.2 reset_cache"),
        row("pending", "cascade_failed", "ready", guard=_keeps, source="B-124 LMCache #4991"),
        row("pending", "cascade_failed", "absent", guard=~_keeps, source=_FAILED_SOURCE),
        row("stale", "cascade_failed", "absent", source=_STALE_SOURCE),
        row("absent", "cascade_failed", "absent", source="contract 3.2 reset_cache"),
        row("ready", "cascade_failed", "ready", source="contract 3.2 reset_cache"),
        row("ready", "promotion_failed", "absent", source="B-016 vllm #49176: the file is removed"),
        row("absent", "promotion_failed", "absent", source="B-016 vllm #49176"),
        row("pending", "promotion_failed", "pending", source="the key was dropped and is written again"),
        row("stale", "promotion_failed", "stale", source=_STALE_SOURCE),
        row("ready", "evict_tier_entry", "absent", source="contract 3.2: the second tier evicts, too"),
        row("ready", "reset_tiers", "absent", guard=~tier_reset.is_("not_passed_on"), source="contract R-62"),
        row("pending", "reset_tiers", "stale", guard=_fences & _written_in_flight, source=_STALE_SOURCE),
        row(
            "pending", "reset_tiers", "absent",
            guard=~tier_reset.is_("not_passed_on"),
            source="B-043 vllm #44541; contract R-62",
        ),
    ),
)  # fmt: skip

OPERATION = Lifecycle(
    name="operation",
    entity=(o,),
    variable="operation_state",
    initial="absent",
    doc=(
        "One round of a transfer. It ends done, failed or cancelled, by the event that says so; its id is then free, "
        "and so is the record."
    ),
    rows=(
        row("absent", "plan_promotion", "planned", source="vLLM #49022: queued for the end of the step"),
        row("absent", "plan_fill", "planned", source="contract J4"),
        row("absent", "plan_cascade", "planned", source="vLLM #49022"),
        row("absent", "retrieve", "planned", source="contract 2.2 LOAD"),
        row("planned", "build_connector_meta", "in_flight", source="contract J6, R-22"),
        row("planned", "cancel_plan", "absent", source="B-188 FlexKV #236"),
        row("planned", "reset_tiers", "absent", guard=~tier_reset.is_("not_passed_on"), source="contract R-62"),
        row("in_flight", "fill_done", "absent", source="contract J11"),
        row("in_flight", "promotion_failed", "absent", source="contract J11"),
        row("in_flight", "cascade_done", "absent", source="contract J11"),
        row("in_flight", "cascade_failed", "absent", source="contract J11"),
        row("in_flight", "retrieval_done", "retrieved", source="contract 2.2: finished_recving"),
        row("retrieved", "save_ends", "absent", source="B-117 LMCache #2954: wait_for_save"),
    ),
)

LIFECYCLES = (VISIT, RECORD, SLOT, ENTRY, OPERATION)
