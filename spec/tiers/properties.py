"""What must hold of pins, records, transfers and their reports, and of the books of the tiers."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Invariant, Property
from interlock.spec.language.terms import Primed, card, exists, forall, ite
from interlock.spec.tiers.contents import (
    COPY_IS_AS_OLD,
    DROPPED_IS_OLD,
    EVICTED_AFTER_BACKUP,
    LOAD_READS_KEY,
    NOT_BEFORE_RESET,
    ONLY_COMPLETED,
    READ_INTO_ANOTHERS_SLOT,
    READY_IS_TRUE,
    STALE_IS_OLD,
    UNWRITTEN,
    WRITE_FROM_ANOTHERS_SLOT,
)
from interlock.spec.tiers.coverage import (
    BACKING_UP,
    BACKUP,
    BACKUP_TWO,
    CANCELLING,
    EVERY,
    HITS,
    LOOKUP,
    MISSING,
    MIXED,
    PROMOTE,
    PROMOTING,
    RESET_READ,
    RESET_WRITE,
    RESETTING,
    RETRIEVE,
    RETRIEVE_TWO,
    ROUNDS,
    WAITING_FOR,
)
from interlock.spec.tiers.judging import has_hit, has_pin, live, writes
from interlock.spec.tiers.predicates import in_flight, is_kind, is_ready, is_waiting, waits_for
from interlock.spec.tiers.progress import DEFERRAL_ENDS, ENDED_GO, ENTRIES_SETTLE, RETRIEVED_GO, TRANSFERS_END
from interlock.spec.tiers.vocabulary import (
    before_reset,
    c,
    client_state,
    client_states,
    copy_order,
    cpu_slot_state,
    cpu_slot_states,
    cpu_used,
    entry_state,
    entry_states,
    h,
    o,
    operation_broke,
    operation_for,
    operation_key,
    operation_kind,
    operation_kinds,
    operation_slot,
    r,
    read_order,
    record_state,
    record_states,
    slot_key,
    slot_pins,
    stalled,
    succeeded,
    tier_used,
    write_order,
)
from interlock.spec.tiers.witnesses import WITNESSES

_pending = cpu_slot_state(c).eq(cpu_slot_states["pending"])


PINS = Invariant(
    id="pins-equal-outstanding-users",
    source="contract I-41, I-56; B-102 vllm #35931, B-117 LMCache #2954",
    doc="A slot has exactly one pin for each hit that is still to be used and each operation that reads it.",
    slices=EVERY,
    formula=forall(
        c,
        slot_pins(c).eq(card(r, h, has_hit(r, h, c)) + card(o, has_pin(o) & operation_slot(o).eq(c))),
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
    formula=forall(r, h, record_state(r, h).eq(record_states["granted"]) >> exists(c, has_hit(r, h, c))),
    premise=exists(r, h, record_state(r, h).eq(record_states["granted"])),
)
WAIT_HAS_A_TRANSFER = Invariant(
    id="deferral-has-a-transfer-behind-it",
    source="contract V-03, V-15; B-017 vllm #49829, B-188 FlexKV #236",
    doc="A request is told to ask later only while an operation is to bring the key.",
    slices=WAITING_FOR,
    formula=forall(r, h, waits_for(r, h) >> exists(o, writes(o) & operation_key(o).eq(h))),
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
        ).eq(ite(in_flight(o), 1, 0)),
    ),
    premise=exists(o, in_flight(o)),
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
ENDED_IS_FORGOTTEN = Invariant(
    id="ended-operation-is-known-under-no-request",
    source="contract I-51; B-174 FlexKV #161: a finished job leaves every table",
    doc="An operation that has ended, or was cancelled, is known under no request: its id is free for anybody's next.",
    slices=EVERY,
    formula=forall(o, r, operation_for(o, r) >> live(o)),
    premise=exists(o, r, operation_for(o, r)),
)
NONE_OUTLIVES = Invariant(
    id="no-operation-outlives-its-request",
    source="B-014 vllm #49022",
    doc="When the tiers are told that a request is over, nothing is queued or in flight in its name.",
    slices=tuple(s for s in EVERY if s not in (RETRIEVE_TWO, BACKUP_TWO)),
    only_in_slices="forget_request, of the tasks, forgets a request whatever its operations do",
    formula=forall(o, r, (live(o) & operation_for(o, r)) >> client_state(r).ne(client_states["away"])),
    premise=exists(o, r, live(o) & operation_for(o, r) & client_state(r).eq(client_states["ended"])),
)
PENDING_IS_FILLED = Invariant(
    id="pending-slot-has-one-writer",
    source="contract I-42; B-132 sglang #9874, B-188 FlexKV #236",
    doc=(
        "A slot is pending exactly while one live operation is to fill it for use; one that a reset has made stale "
        "has one such operation at most, any other slot none."
    ),
    slices=EVERY,
    formula=forall(
        c,
        (card(o, writes(o) & operation_slot(o).eq(c)) <= 1)
        & (
            cpu_slot_state(c).eq(cpu_slot_states["stale"]) | _pending.eq(exists(o, writes(o) & operation_slot(o).eq(c)))
        ),
    ),
    premise=exists(c, _pending),
)
PENDING_ENTRY_IS_WRITTEN = Invariant(
    id="pending-entry-has-one-writer",
    source="contract I-42, for the second tier; B-188 FlexKV #236",
    doc="A key of the second tier is pending, or stale since a reset, exactly while one live cascade is to write it.",
    slices=BACKING_UP,
    formula=forall(
        h,
        card(o, live(o) & is_kind(o, "cascade") & operation_key(o).eq(h)).eq(
            ite(entry_states.one_of(entry_state(h), "pending", "stale"), 1, 0)
        ),
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
        >> exists(o, (writes(o) | has_pin(o)) & operation_slot(o).eq(c) & before_reset(o)),
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
    slices=(ROUNDS, RESET_READ, MIXED),
    formula=forall(
        h,
        card(c, cpu_slot_states.one_of(cpu_slot_state(c), "pending", "ready") & slot_key(c).eq(h)) <= 1,
    ),
    premise=exists(c, is_ready(c)),
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
PLANNED_AS_ASKED = tuple(
    ActionProperty(
        id=f"a-{kind}-is-planned-as-one",
        source="contract 3.2 prepare_store, prepare_load; vLLM #49022",
        doc=f"A {kind} that is planned is one, of that key and that slot, whatever its id was used for before.",
        slices=slices,
        actions=(action,),
        formula=Primed(body=operation_kind(o)).eq(operation_kinds[kind])
        & Primed(body=operation_slot(o)).eq(c)
        & Primed(body=operation_key(o)).eq(h),
    )
    for kind, action, slices in (
        ("promotion", "plan_promotion", (PROMOTE, MIXED)),
        ("fill", "plan_fill", (PROMOTE, BACKUP, MIXED)),
        ("cascade", "plan_cascade", (BACKUP, RESET_WRITE, MIXED)),
        ("retrieval", "retrieve", (RETRIEVE, RESET_WRITE, MIXED)),
    )
)
EVICTED_UNREAD = ActionProperty(
    id="evicted-only-when-nobody-reads",
    source="contract I-40",
    doc="A slot is evicted only when it has no user.",
    slices=CANCELLING,
    actions=("evict_slot",),
    formula=~exists(r, h, has_hit(r, h, c)) & ~exists(o, has_pin(o) & operation_slot(o).eq(c)),
)
NOT_OFFERED_AGAIN = ActionProperty(
    id="failed-read-is-not-offered-again",
    source="B-016 vllm #49176; contract R-10",
    doc="A promotion is planned only of a key that the second tier has in its index, whatever was said before.",
    slices=PROMOTING,
    actions=("plan_promotion",),
    formula=entry_state(h).eq(entry_states["ready"]),
)
PIN_PER_HIT = ActionProperty(
    id="unused-hits-are-given-back",
    source="B-102 vllm #35931; contract R-11, R-17",
    doc="Once a request is scheduled, lookup has no pin for it: its hits are loaded or given back.",
    slices=(LOOKUP, PROMOTE, RETRIEVE, RETRIEVE_TWO, MIXED),
    actions=("admit",),
    formula=forall(
        c,
        Primed(body=slot_pins(c)).eq(slot_pins(c) - card(h, has_hit(r, h, c))),
    ),
)

SAME_HIT = ActionProperty(
    id="a-repeated-match-is-of-the-same-hit",
    source="R-01",
    doc="Who asks again for a key on which it has a hit is told of that hit, and has one pin for it before and after.",
    slices=(LOOKUP, PROMOTE, ROUNDS, RETRIEVE),
    actions=("lookup_again",),
    formula=has_hit(r, h, c) & Primed(body=slot_pins(c)).eq(slot_pins(c)),
)
SHORTER_LETS_GO = ActionProperty(
    id="a-shorter-second-answer-keeps-no-pin",
    source="R-01, R-11, I-56",
    doc="What a second answer leaves out of the first has one pin less, and may be evicted if nobody else has it.",
    slices=(LOOKUP, PROMOTE, RETRIEVE),
    actions=("lookup_less",),
    formula=has_hit(r, h, c)
    & Primed(body=record_state(r, h)).eq(record_states["none"])
    & Primed(body=slot_pins(c)).eq(slot_pins(c) - 1),
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
    slices=(PROMOTE, MISSING),
    actions=("promotion_failed",),
    formula=forall(
        r,
        h,
        (waits_for(r, h) & operation_key(o).eq(h)) >> Primed(body=record_state(r, h)).eq(record_states["settled"]),
    ),
)
ARRIVES_ONCE = ActionProperty(
    id="tiers-hear-of-one-arrival",
    source="contract Q1, I-01, I-51",
    doc="A request arrives under an id that is free: of whoever had it the tiers have been told that it is over.",
    slices=EVERY,
    actions=("add_request",),
    formula=client_state(r).eq(client_states["away"]),
)
TOLD_HAS_ENDED = ActionProperty(
    id="tiers-are-told-of-who-has-ended",
    source="B-014 vllm #49022; contract R-50, I-11",
    doc="The tiers are told that a request is over when it has ended: not of one that waits or runs.",
    slices=tuple(s for s in EVERY if s not in (RETRIEVE_TWO, BACKUP_TWO)),
    actions=("finalise",),
    formula=client_state(r).eq(client_states["ended"]),
)
FINALISED_IS_AWAY = ActionProperty(
    id="finalised-request-is-away",
    source="B-014 vllm #49022; contract I-51",
    doc="A request of whose end the tiers have been told is gone, and does not wait again by itself.",
    slices=(PROMOTE, RETRIEVE),
    actions=("finalise",),
    formula=Primed(body=client_state(r)).eq(client_states["away"]),
)


PROPERTIES: tuple[Property, ...] = (
    PINS, RECORD_REMOVED, GRANT_IS_READY, WAIT_HAS_A_TRANSFER, ONE_RESULT, NONE_OUTLIVES, PENDING_IS_FILLED,
    PENDING_ENTRY_IS_WRITTEN, STALE_IS_USED, USED_SLOT_STAYS, ONE_SLOT_PER_KEY, READY_IS_TRUE, ONLY_COMPLETED,
    COPY_IS_AS_OLD, READ_INTO_ANOTHERS_SLOT, WRITE_FROM_ANOTHERS_SLOT,
    NOT_BEFORE_RESET, BOOKS, CANCEL_UNDOES, EVICTED_AFTER_BACKUP, EVICTED_UNREAD, NOT_OFFERED_AGAIN, LOAD_READS_KEY,
    PIN_PER_HIT, DEFERRAL_ENDS, TRANSFERS_END, ENDED_GO,
    ONE_REQUESTER, ENDED_IS_FORGOTTEN, *PLANNED_AS_ASKED, FENCED_IS_STALE, STALE_IS_OLD,
    DROPPED_IS_OLD, UNWRITTEN, ENTRIES_SETTLE,
    RETRIEVED_GO, SAME_HIT, SHORTER_LETS_GO, RESET_ASKS_AGAIN, FAILED_IS_NO, FINALISED_IS_AWAY,
    ARRIVES_ONCE, TOLD_HAS_ENDED,
    *WITNESSES,
)  # fmt: skip
