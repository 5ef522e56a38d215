"""What must hold: pins, records, transfers and their reports, what is offered and served, the books, progress."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Invariant, LeadsTo, Witness
from interlock.spec.language.terms import TRUE, Primed, Term, card, exists, forall, ite
from interlock.spec.tiers.predicates import fills, is_granted_on, is_kind, is_waiting, live, reads, waits_for
from interlock.spec.tiers.vocabulary import (
    before_reset,
    c,
    cleanup_error,
    client_state,
    client_states,
    copy_order,
    cpu_slot_state,
    cpu_slot_states,
    cpu_slot_value,
    cpu_used,
    entry_state,
    entry_states,
    file_value,
    h,
    o,
    operation_broke,
    operation_for,
    operation_key,
    operation_slot,
    operation_state,
    operation_states,
    r,
    read_order,
    record_state,
    record_states,
    slot_key,
    slot_pins,
    stalled,
    succeeded,
    tier_used,
    tier_values,
    write_order,
)

EVERY = (
    "tier_lookup", "tier_promote", "tier_rounds", "tier_missing_file", "tier_stall", "tier_retrieve",
    "tier_retrieve_two", "tier_backup", "tier_backup_two", "tier_reset_read", "tier_reset_write",
    "tier_reset_fail", "tier_mixed",
)  # fmt: skip
HITS = tuple(s for s in EVERY if s != "tier_backup_two")
WAITING_FOR = tuple(s for s in EVERY if s not in ("tier_reset_write", "tier_backup_two"))
DEFERRING = ("tier_lookup", "tier_promote", "tier_missing_file", "tier_stall")
ENDING = ("tier_promote", "tier_missing_file", "tier_retrieve", "tier_reset_write", "tier_reset_fail")
PROMOTING = ("tier_lookup", "tier_promote", "tier_rounds", "tier_missing_file", "tier_reset_read", "tier_mixed")
RESETTING = ("tier_reset_read", "tier_reset_write", "tier_mixed")
BACKING_UP = ("tier_backup", "tier_backup_two", "tier_reset_write", "tier_mixed")
CANCELLING = ("tier_lookup", "tier_promote", "tier_retrieve", "tier_backup", "tier_mixed")

_in_flight = operation_state(o).eq(operation_states["in_flight"])
_pending = cpu_slot_state(c).eq(cpu_slot_states["pending"])
_ready = cpu_slot_state(c).eq(cpu_slot_states["ready"])


def _value(value: Term, *allowed: str) -> Term:
    return value.one_of(*(tier_values[a] for a in allowed))


PINS = Invariant(
    id="pins-equal-outstanding-users",
    source="contract I-41, I-56; B-102 vllm #35931, B-117 LMCache #2954",
    doc="A slot has exactly one pin for each hit that is still to be used and each operation that reads it.",
    slices=EVERY,
    formula=forall(
        c,
        slot_pins(c).eq(card(r, h, is_granted_on(r, h, c)) + card(o, reads(o) & operation_slot(o).eq(c))),
    ),
    premise=exists(c, slot_pins(c) > 0),
)
RECORD_REMOVED = Invariant(
    id="record-is-removed-on-every-exit",
    source="contract I-56, R-11; B-181 ATOM #2175",
    doc="Lookup keeps a record for a request only as long as that waits to be scheduled.",
    slices=HITS,
    formula=forall(r, h, record_state(r, h).ne(record_states["none"]) >> is_waiting(r)),
    premise=exists(r, h, record_state(r, h).ne(record_states["none"])),
)
GRANT_IS_READY = Invariant(
    id="granted-key-is-in-a-ready-slot",
    source="contract I-40, I-56",
    doc="A hit is in a slot that is still there.",
    slices=HITS,
    formula=forall(r, h, record_state(r, h).eq(record_states["granted"]) >> exists(c, is_granted_on(r, h, c))),
    premise=exists(r, h, record_state(r, h).eq(record_states["granted"])),
)
WAIT_HAS_A_TRANSFER = Invariant(
    id="deferral-has-a-transfer-behind-it",
    source="contract V-03, V-15; B-017 vllm #49829, B-188 FlexKV #236",
    doc="A request is told to ask later only while an operation is to bring the key.",
    slices=WAITING_FOR,
    formula=forall(r, h, waits_for(r, h) >> exists(o, fills(o) & operation_key(o).eq(h))),
    premise=exists(r, h, waits_for(r, h)),
)
ONE_RESULT = Invariant(
    id="each-transfer-has-one-result",
    source="contract R-20; B-019 vllm #49820, B-020 vllm #49947",
    doc=(
        "An operation is in flight if and only if its order, or its result, is on its way, once. A report "
        "that is lost, or taken for another round's, breaks it."
    ),
    slices=EVERY,
    formula=forall(
        o,
        (
            card(h, read_order(o, h) > 0)
            + card(h, write_order(o, h) > 0)
            + copy_order(o)
            + succeeded(o)
            + operation_broke(o)
            + ite(stalled(o), 1, 0)
        ).eq(ite(_in_flight, 1, 0)),
    ),
    premise=exists(o, _in_flight),
)
ONE_REQUESTER = Invariant(
    id="operation-has-its-requester",
    source="contract R-20, I-51",
    doc="Every live operation but a cascade is known under exactly one request, a cascade under none.",
    slices=EVERY,
    formula=forall(o, live(o) >> card(r, operation_for(o, r)).eq(ite(is_kind(o, "cascade"), 0, 1))),
    premise=exists(o, live(o)),
    lemma=True,
)
NONE_OUTLIVES = Invariant(
    id="no-operation-outlives-its-request",
    source="B-014 vllm #49022",
    doc="When the tiers are told that a request is over, nothing is queued or in flight in its name.",
    slices=tuple(s for s in EVERY if s not in ("tier_retrieve_two", "tier_backup_two")),
    formula=forall(o, r, (live(o) & operation_for(o, r)) >> client_state(r).ne(client_states["away"])),
    premise=exists(o, r, live(o) & operation_for(o, r) & client_state(r).eq(client_states["ended"])),
)
PENDING_IS_FILLED = Invariant(
    id="pending-slot-has-one-writer",
    source="contract I-42; B-132 sglang #9874, B-188 FlexKV #236",
    doc="A slot is reserved exactly while one live operation is to fill it.",
    slices=EVERY,
    formula=forall(c, _pending >> card(o, fills(o) & operation_slot(o).eq(c)).eq(1)),
    premise=exists(c, _pending),
)
PENDING_ENTRY_IS_WRITTEN = Invariant(
    id="pending-entry-has-one-writer",
    source="contract I-42, for the second tier; B-188 FlexKV #236",
    doc="A key of the second tier is pending exactly while one live cascade is to write it.",
    slices=BACKING_UP,
    formula=forall(
        h,
        entry_state(h).one_of(entry_states["pending"], entry_states["stale"])
        >> card(o, live(o) & is_kind(o, "cascade") & operation_key(o).eq(h)).eq(1),
    ),
    premise=exists(h, entry_state(h).eq(entry_states["pending"])),
)
STALE_IS_USED = Invariant(
    id="stale-slot-has-a-user",
    source="contract R-62, I-58",
    doc="A slot is kept from use after a reset only while a transfer that began before it uses the slot.",
    slices=RESETTING,
    formula=forall(
        c,
        cpu_slot_state(c).eq(cpu_slot_states["stale"])
        >> exists(o, (fills(o) | reads(o)) & operation_slot(o).eq(c) & before_reset(o)),
    ),
    premise=exists(c, cpu_slot_state(c).eq(cpu_slot_states["stale"])),
)
FENCED_IS_STALE = Invariant(
    id="what-a-reset-found-in-flight-is-out-of-sight",
    source="contract R-62, I-58; B-043 vllm #44541",
    doc="The slot of an operation that a reset found in flight is stale until the operation has ended.",
    slices=RESETTING,
    formula=forall(o, (live(o) & before_reset(o)) >> cpu_slot_state(operation_slot(o)).eq(cpu_slot_states["stale"])),
    premise=exists(o, live(o) & before_reset(o)),
)
STALE_IS_OLD = Invariant(
    id="stale-slot-holds-nothing-new",
    source="B-042 vllm #57727",
    doc="In a slot that a reset has put out of sight is nothing, or what was right before it: its transfer goes on.",
    slices=("tier_reset_read", "tier_reset_write"),
    formula=forall(c, cpu_slot_state(c).eq(cpu_slot_states["stale"]) >> _value(cpu_slot_value(c), "none", "outdated")),
    premise=exists(c, cpu_slot_state(c).eq(cpu_slot_states["stale"])),
    lemma=True,
)
DROPPED_IS_OLD = Invariant(
    id="dropped-file-is-not-current",
    source="B-042 vllm #57727; contract I-43",
    doc="What the second tier does not offer, no read having failed, is no file, or one from before a reset.",
    slices=("tier_backup", "tier_backup_two", "tier_reset_read", "tier_reset_write"),
    formula=forall(
        h,
        entry_state(h).one_of(entry_states["absent"], entry_states["stale"])
        >> _value(file_value(h), "none", "outdated"),
    ),
    premise=exists(h, entry_state(h).eq(entry_states["absent"])),
    lemma=True,
)
UNWRITTEN = Invariant(
    id="nothing-is-written-before-launch",
    source="B-136 sglang #35769; contract R-62",
    doc="A slot that is reserved for an operation holds nothing until the operation is launched.",
    slices=EVERY,
    formula=forall(
        o,
        (fills(o) & operation_state(o).eq(operation_states["planned"]))
        >> cpu_slot_value(operation_slot(o)).eq(tier_values["none"]),
    ),
    premise=exists(o, fills(o) & operation_state(o).eq(operation_states["planned"])),
)
USED_SLOT_STAYS = Invariant(
    id="slot-of-a-live-operation-is-not-free",
    source="contract R-62, I-40; B-043 vllm #44541",
    doc="The slot of an operation is kept for it, under its key, until it has ended.",
    slices=EVERY,
    formula=forall(
        o,
        live(o)
        >> (
            cpu_slot_state(operation_slot(o)).ne(cpu_slot_states["absent"])
            & slot_key(operation_slot(o)).eq(operation_key(o))
        ),
    ),
    premise=exists(o, live(o)),
)
ONE_SLOT_PER_KEY = Invariant(
    id="one-visible-slot-per-key",
    source="contract 3.2: keyed by offload key",
    doc="At most one slot that lookup sees holds a key.",
    slices=("tier_rounds", "tier_reset_read", "tier_mixed"),
    formula=forall(
        h,
        card(c, cpu_slot_state(c).one_of(cpu_slot_states["pending"], cpu_slot_states["ready"]) & slot_key(c).eq(h))
        <= 1,
    ),
    premise=exists(c, _ready),
)
READY_IS_TRUE = Invariant(
    id="ready-slot-holds-its-key",
    source="contract I-43; B-146 dynamo #15079, B-043 vllm #44541; the content oracle",
    doc="A slot that lookup sees as a hit holds the value of its key, never garbage and never nothing.",
    slices=EVERY,
    formula=forall(c, _ready >> _value(cpu_slot_value(c), "right", "outdated")),
    premise=exists(c, _ready),
)
ONLY_COMPLETED = Invariant(
    id="only-completed-stores-are-visible",
    source="contract I-43; B-124 LMCache #4991; the content oracle",
    doc="A key that the second tier offers was written whole.",
    slices=EVERY,
    formula=forall(h, entry_state(h).eq(entry_states["ready"]) >> _value(file_value(h), "right", "outdated")),
    premise=exists(h, entry_state(h).eq(entry_states["ready"])),
)
NOT_BEFORE_RESET = Invariant(
    id="nothing-stored-before-reset-is-served",
    source="B-042 vllm #57727; contract R-62",
    doc="After a reset no request has a hit on anything that was stored before it.",
    slices=RESETTING,
    formula=forall(r, h, c, is_granted_on(r, h, c) >> cpu_slot_value(c).ne(tier_values["outdated"])),
    premise=exists(r, h, c, is_granted_on(r, h, c) & exists(o, before_reset(o))),
)
BOOKS = Invariant(
    id="tier-accounting",
    source="contract I-44; B-153 TensorRT-LLM #12834",
    doc="By the books of each tier, what is used is what is there: free + used = total.",
    slices=EVERY,
    formula=cpu_used().eq(card(c, cpu_slot_state(c).ne(cpu_slot_states["absent"])))
    & tier_used().eq(card(h, entry_state(h).ne(entry_states["absent"]))),
    premise=cpu_used() > 0,
)

CANCEL_UNDOES = ActionProperty(
    id="cancel-undoes-the-plan",
    source="B-188 FlexKV #236",
    doc="Cancelling a plan gives back its slot or its pin, its entry, and sends nobody on waiting for it.",
    slices=CANCELLING,
    actions=("cancel_plan",),
    formula=ite(
        is_kind(o, "promotion", "fill"),
        forall(c, operation_slot(o).eq(c) >> Primed(body=cpu_slot_state(c)).eq(cpu_slot_states["absent"]))
        & forall(r, h, operation_key(o).eq(h) >> ~Primed(body=waits_for(r, h))),
        forall(c, operation_slot(o).eq(c) >> Primed(body=slot_pins(c)).eq(slot_pins(c) - 1))
        & forall(
            h,
            (is_kind(o, "cascade") & operation_key(o).eq(h)) >> Primed(body=entry_state(h)).eq(entry_states["absent"]),
        ),
    ),
)
EVICTED_AFTER_BACKUP = ActionProperty(
    id="evicted-only-after-backup",
    source="B-134 sglang #27108, B-143 sglang #39444",
    doc="A slot is evicted only when the second tier has all of its key.",
    slices=("tier_backup", "tier_backup_two", "tier_mixed"),
    actions=("evict_slot",),
    formula=_value(file_value(slot_key(c)), "right"),
)
EVICTED_UNREAD = ActionProperty(
    id="evicted-only-when-nobody-reads",
    source="contract I-40",
    doc="A slot is evicted only when it has no user.",
    slices=CANCELLING,
    actions=("evict_slot",),
    formula=~exists(r, h, is_granted_on(r, h, c)) & ~exists(o, reads(o) & operation_slot(o).eq(c)),
)
NOT_OFFERED_AGAIN = ActionProperty(
    id="failed-read-is-not-offered-again",
    source="B-016 vllm #49176; contract R-10",
    doc="A promotion is planned only of a key that the second tier has in its index, whatever was said before.",
    slices=PROMOTING,
    actions=("plan_promotion",),
    formula=entry_state(h).eq(entry_states["ready"]),
)
LOAD_READS_KEY = ActionProperty(
    id="retrieval-reads-its-key",
    source="contract I-43, R-62; the content oracle",
    doc="What is copied to the GPU is the value of the key, from before a reset only if the load was, too.",
    slices=("tier_retrieve", "tier_retrieve_two", "tier_reset_write", "tier_mixed"),
    actions=("gpu_copy",),
    formula=(live(o) & is_kind(o, "retrieval"))
    >> forall(
        c,
        operation_slot(o).eq(c)
        >> (_value(cpu_slot_value(c), "right") | (before_reset(o) & _value(cpu_slot_value(c), "outdated"))),
    ),
)
PIN_PER_HIT = ActionProperty(
    id="unused-hits-are-given-back",
    source="B-102 vllm #35931; contract R-11, R-17",
    doc="Once a request is scheduled, lookup has no pin for it: its hits are loaded or given back.",
    slices=("tier_lookup", "tier_promote", "tier_retrieve", "tier_retrieve_two", "tier_mixed"),
    actions=("admit",),
    formula=forall(
        c,
        Primed(body=slot_pins(c)).eq(slot_pins(c) - card(h, is_granted_on(r, h, c))),
    ),
)

DEFERRAL_ENDS = LeadsTo(
    id="deferral-ends",
    source="contract V-03, V-15; B-016 vllm #49176, B-017 vllm #49829",
    doc="A request that waits is scheduled or ended, whatever becomes of the transfers that it waits for.",
    slices=DEFERRING,
    vars=(r,),
    premise=is_waiting(r),
    conclusion=~is_waiting(r),
)
TRANSFERS_END = LeadsTo(
    id="failed-transfer-affects-its-request-only",
    source="contract V-07, R-20; B-162 llm-d-kv-cache #514, B-019 vllm #49820, B-020 vllm #49947",
    doc="Every operation that is launched ends, done or failed, whatever becomes of others.",
    slices=ENDING,
    vars=(o,),
    premise=_in_flight,
    conclusion=~_in_flight,
)
RETRIEVED_GO = LeadsTo(
    id="retrieved-load-is-forgotten",
    source="B-117 LMCache #2954; contract I-51",
    doc="A load that has ended is forgotten with the end of the save.",
    slices=("tier_retrieve",),
    vars=(o,),
    premise=operation_state(o).eq(operation_states["retrieved"]),
    conclusion=operation_state(o).ne(operation_states["retrieved"]),
)
RESET_ASKS_AGAIN = ActionProperty(
    id="reset-takes-back-every-answer",
    source="contract R-01, R-62",
    doc="After a reset no request has an answer from before: each asks again.",
    slices=RESETTING,
    actions=("reset_tiers",),
    formula=forall(r, h, Primed(body=record_state(r, h)).eq(record_states["none"])),
)
FAILED_IS_NO = ActionProperty(
    id="failed-read-is-answered-no",
    source="contract R-10; B-016 vllm #49176",
    doc="Whoever waits for a promotion that fails is told no, and is not asked to try the key again.",
    slices=("tier_promote", "tier_missing_file"),
    actions=("promotion_failed",),
    formula=forall(
        r,
        h,
        (waits_for(r, h) & operation_key(o).eq(h)) >> Primed(body=record_state(r, h)).eq(record_states["settled"]),
    ),
)
FINALISED_IS_AWAY = ActionProperty(
    id="finalised-request-is-away",
    source="B-014 vllm #49022; contract I-51",
    doc="A request of whose end the tiers have been told is gone, and does not wait again by itself.",
    slices=("tier_promote", "tier_retrieve"),
    actions=("finalise",),
    formula=Primed(body=client_state(r)).eq(client_states["away"]),
)
ENDED_GO = LeadsTo(
    id="ended-requests-are-finalised",
    source="B-014 vllm #49022, B-132 sglang #9874; contract V-01",
    doc="The tiers are told, in the end, of every request that is over.",
    slices=("tier_promote", "tier_retrieve"),
    vars=(r,),
    premise=client_state(r).eq(client_states["ended"]),
    conclusion=client_state(r).ne(client_states["ended"]),
)

ENTRIES_SETTLE = LeadsTo(
    id="pending-entry-settles",
    source="contract V-07, for the second tier",
    doc="A key that is being written to the second tier is there in the end, or is not.",
    slices=("tier_backup",),
    vars=(h,),
    premise=entry_state(h).eq(entry_states["pending"]),
    conclusion=entry_state(h).ne(entry_states["pending"]),
)


def _witness(
    id_: str, formula: Term, doc: str, *slices: str, applies: Term = TRUE, actions: tuple[str, ...] = (),
    source: str = "vacuity guard",
) -> Witness:  # fmt: skip
    return Witness(
        id=f"tiers-{id_}", formula=formula, doc=doc, slices=slices, source=source, applies=applies, actions=actions
    )


WITNESSES = (
    _witness(
        "some-load-retrieved",
        exists(o, operation_state(o).eq(operation_states["retrieved"])),
        "A load has ended, the save has not.",
        "tier_retrieve",
    ),
    _witness(
        "some-read-fails", exists(o, fills(o) & (operation_broke(o) > 0)), "A read has failed.",
    "tier_mixed", "tier_reset_fail",
    ),
    _witness(
        "read-is-published-although-cleaning-up-raised",
        is_kind(o, "promotion") & Primed(body=(succeeded(o) > 0)),
        "A read is done, its handle cannot be released, and the result is published.",
        "tier_promote",
        actions=("tier_read_raises",),
        applies=cleanup_error.is_("result_published"),
        source="B-020 vllm #49947",
    ),
    _witness("some-write-fails", exists(o, reads(o) & (operation_broke(o) > 0)), "A write has failed.", "tier_backup"),
    _witness(
        "some-entry-pending", exists(h, entry_state(h).eq(entry_states["pending"])), "A backup is under way.",
        "tier_backup",
    ),
    _witness("some-request-waits", exists(r, is_waiting(r)), "A request waits.", *DEFERRING),
    _witness("some-operation-in-flight", exists(o, _in_flight), "A transfer is under way.", *ENDING),
    _witness(
        "some-request-ended",
        exists(r, client_state(r).eq(client_states["ended"])),
        "A request is over.",
        "tier_promote", "tier_retrieve",
    ),
    _witness(
        "two-rounds-of-one-request",
        exists(r, card(o, _in_flight & is_kind(o, "promotion") & operation_for(o, r)).eq(2)),
        "Two rounds of one request overlap.",
        "tier_rounds",
    ),
    _witness(
        "hit-of-two-requests",
        exists(c, slot_pins(c).eq(2)),
        "Two requests have a hit on one slot.",
        "tier_lookup", "tier_promote",
    ),
    _witness(
        "request-waits-for-a-hanging-copy",
        exists(r, h, o, stalled(o) & waits_for(r, h) & fills(o) & operation_key(o).eq(h)),
        "A request waits for a key whose write hangs.",
        "tier_stall",
    ),
    _witness(
        "retry-after-a-failed-read",
        exists(h, entry_state(h).eq(entry_states["absent"]) & exists(c, _ready & slot_key(c).eq(h))),
        "A key whose file was lost has been stored again.",
        "tier_missing_file",
    ),
    _witness(
        "evicted-after-backup",
        forall(c, cpu_slot_state(c).eq(cpu_slot_states["absent"])) & exists(h, _value(file_value(h), "right"))
        & exists(r, client_state(r).eq(client_states["running"])),
        "A slot was evicted while its key is in the second tier.",
        "tier_backup",
    ),
    _witness(
        "load-that-began-before-a-reset",
        exists(o, before_reset(o) & reads(o) & is_kind(o, "retrieval")),
        "A load is in flight when the tiers are reset.",
        "tier_reset_write",
    ),
)  # fmt: skip

PROPERTIES = (
    PINS, RECORD_REMOVED, GRANT_IS_READY, WAIT_HAS_A_TRANSFER, ONE_RESULT, NONE_OUTLIVES, PENDING_IS_FILLED,
    PENDING_ENTRY_IS_WRITTEN, STALE_IS_USED, USED_SLOT_STAYS, ONE_SLOT_PER_KEY, READY_IS_TRUE, ONLY_COMPLETED,
    NOT_BEFORE_RESET, BOOKS, CANCEL_UNDOES, EVICTED_AFTER_BACKUP, EVICTED_UNREAD, NOT_OFFERED_AGAIN, LOAD_READS_KEY,
    PIN_PER_HIT, DEFERRAL_ENDS, TRANSFERS_END, ENDED_GO,
    ONE_REQUESTER, FENCED_IS_STALE, STALE_IS_OLD,
    DROPPED_IS_OLD, UNWRITTEN, ENTRIES_SETTLE,
    RETRIEVED_GO, RESET_ASKS_AGAIN, FAILED_IS_NO, FINALISED_IS_AWAY,
    *WITNESSES,
)  # fmt: skip
