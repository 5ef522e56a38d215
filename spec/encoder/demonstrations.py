"""Publicly reported failures that this module shows."""

from __future__ import annotations

from interlock.spec.language.settings import Demonstration

DEMONSTRATIONS = (
    Demonstration(
        failure="B-112",
        set={"ec_free": "optimistic"},
        slice="ec_drafts",
        property="forward-reads-its-items",
        story=(
            "A step is scheduled that reads an item to its end, drafts included, and the scheduler frees the entry "
            "on that count. The first request is scheduled again before its drafts are settled, and reads the item "
            "still, because they may be rejected. Another request needs the slot, so the entry is evicted and the "
            "workers are told to drop it: the forward that was scheduled reads what they no longer have."
        ),
    ),
    Demonstration(
        failure="B-113",
        set={"ec_waiting_refs": "kept"},
        slice="ec_room",
        property="runner-gets-encoder-room",
        story=(
            "A preempted request is visited, takes its cached item again, finds no KV and waits, item in hand. "
            "The request that has the KV needs another item and there is no slot for it: the waiting request "
            "cannot run for want of KV, the running one not for want of a slot, and the engine steps for ever."
        ),
    ),
    Demonstration(
        failure="B-114",
        change="drop-conjunct:free_input:still-used",
        slice="ec_room",
        property="encoder-budget-adds-up",
        story=(
            "A request has computed all tokens of its input and the input is freed. The next step frees the same "
            "input again, as if it were still held: the count of slots exceeds the capacity, and admission that "
            "relies on it is unsound."
        ),
    ),
    Demonstration(
        failure="B-108",
        set={"ec_external": "assumed"},
        slice="ec_ask",
        property="forward-reads-its-items",
        story=(
            "The connector holds the item, so the scheduler skips the encoder, but nothing tells the workers to "
            "load it: the forward gathers it from a local encoder cache in which it never was."
        ),
    ),
)
