"""What must be able to happen: without it some property would hold because nothing happens."""

from __future__ import annotations

from interlock.spec.language.properties import witnesses_of
from interlock.spec.language.terms import Primed, card, exists, forall
from interlock.spec.tiers.coverage import (
    BACKUP,
    DEFERRING,
    ENDING,
    LOOKUP,
    MISSING,
    MIXED,
    PROMOTE,
    RESET_FAIL,
    RESET_WRITE,
    RETRIEVE,
    ROUNDS,
    STALL,
)
from interlock.spec.tiers.judging import has_pin, writes
from interlock.spec.tiers.predicates import in_flight, is_kind, is_ready, is_waiting, waits_for
from interlock.spec.tiers.vocabulary import (
    before_reset,
    c,
    cleanup_error,
    client_state,
    client_states,
    cpu_slot_state,
    cpu_slot_states,
    entry_state,
    entry_states,
    file_value,
    h,
    o,
    operation_broke,
    operation_for,
    operation_key,
    operation_state,
    operation_states,
    r,
    slot_key,
    slot_pins,
    stalled,
    succeeded,
    tier_values,
)

_witness = witnesses_of("tiers")

WITNESSES = (
    _witness(
        "some-load-retrieved", exists(o, operation_state(o).eq(operation_states["retrieved"])),
        "A load has ended, the save has not.", RETRIEVE,
    ),
    _witness(
        "some-read-fails", exists(o, writes(o) & (operation_broke(o) > 0)), "A read has failed.", MIXED, RESET_FAIL,
    ),
    _witness(
        "read-is-published-although-cleaning-up-raised", is_kind(o, "promotion") & Primed(body=(succeeded(o) > 0)),
        "A read is done, its handle cannot be released, and the result is published.", PROMOTE,
        actions=("tier_read_raises",), applies=cleanup_error.is_("result_published"), source="B-020 vllm #49947",
    ),
    _witness("some-write-fails", exists(o, has_pin(o) & (operation_broke(o) > 0)), "A write has failed.", BACKUP),
    _witness(
        "some-entry-pending", exists(h, entry_state(h).eq(entry_states["pending"])), "A backup is under way.", BACKUP,
    ),
    _witness("some-request-waits", exists(r, is_waiting(r)), "A request waits.", *DEFERRING),
    _witness("some-operation-in-flight", exists(o, in_flight(o)), "A transfer is under way.", *ENDING),
    _witness(
        "some-request-ended", exists(r, client_state(r).eq(client_states["ended"])), "A request is over.", PROMOTE,
        RETRIEVE,
    ),
    _witness(
        "two-rounds-of-one-request",
        exists(r, card(o, in_flight(o) & is_kind(o, "promotion") & operation_for(o, r)).eq(2)),
        "Two rounds of one request overlap.", ROUNDS,
    ),
    _witness(
        "hit-of-two-requests", exists(c, slot_pins(c).eq(2)), "Two requests have a hit on one slot.", LOOKUP, PROMOTE,
    ),
    _witness(
        "request-waits-for-a-hanging-copy",
        exists(r, h, o, stalled(o) & waits_for(r, h) & writes(o) & operation_key(o).eq(h)),
        "A request waits for a key whose write hangs.", STALL,
    ),
    _witness(
        "retry-after-a-failed-read",
        exists(h, entry_state(h).eq(entry_states["absent"]) & exists(c, is_ready(c) & slot_key(c).eq(h))),
        "A key whose file was lost has been stored again.", MISSING,
    ),
    _witness(
        "evicted-after-backup",
        forall(c, cpu_slot_state(c).eq(cpu_slot_states["absent"])) & exists(h, file_value(h).eq(tier_values["right"]))
        & exists(r, client_state(r).eq(client_states["running"])),
        "A slot was evicted while its key is in the second tier.", BACKUP,
    ),
    _witness(
        "load-that-began-before-a-reset", exists(o, before_reset(o) & has_pin(o) & is_kind(o, "retrieval")),
        "A load is in flight when the tiers are reset.", RESET_WRITE,
    ),
)  # fmt: skip
