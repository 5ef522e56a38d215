"""The one mixed slice, what is checked in it, and what is expected."""

from __future__ import annotations

from interlock.spec.language.settings import Slice, expect

# Nothing rests (the encoder knows no such phase); KV loads neither fail nor reset; a request ends by finish.
_NEVER = (
    "rest", "reset_cache", "copy_fails", "load_fails", "report_failure", "acknowledge_failure", "kv_load_fails",
    "fail_unavailable", "complete", "free_id", "evict", "speculate", "reject", "transfer_fails", "fetch_breaks",
    "evict_pool", "claim_cached", "slide_out", "admit_loaded",
)  # fmt: skip

SLICES = (
    Slice(
        name="kv_and_encoder",
        remove=_NEVER,
        scope={
            "request": 1, "block": 1, "chunk": 1, "job": 1, "worker": 1, "hash": 1,
            "item": 1, "position": 1, "slot": 1, "cell": 1,
        },
        doc="One request with one encoder item, one block and its store or load: all that the modules do to it.",
    ),
    Slice(
        name="open_store",
        # No encoder transfers, no guesses and no end: a request is preempted, and comes back.
        remove=(
            *_NEVER,
            "plan_lazy_store", "start_fetch", "fetch_settles", "transfer_arrives", "defer", "stall", "resume",
            "take_external", "load_reported", "look_up_anew", "no_kv", "expire", "skip_store",
            "finish", "plan_finish_store", "order_flush_of_load", "evict_entry",
        ),
        scope={
            "request": 1, "block": 2, "chunk": 2, "job": 2, "worker": 1, "hash": 1,
            "item": 1, "position": 1, "slot": 1, "cell": 1,
        },
        doc="A request that was preempted comes back while a store of it is open, beside a ready chunk.",
    ),
)  # fmt: skip

COVERED = {
    "kv_and_encoder": (
        "store-source-stable", "pending-chunk-has-one-store", "pinned-chunk-is-never-evicted", "held-block-is-used",
        "used-block-has-a-user", "forward-reads-own-prefix", "ready-chunk-holds-its-prefix",
        "hashed-block-holds-its-prefix", "deferred-holds-nothing", "encoder-item-never-read-in-transit",
        "forward-reads-its-items", "goes-on-only-with-its-items-there", "open-visit-has-a-yes",
    ),
    "open_store": ("ready-chunk-holds-its-prefix", "held-block-is-used"),
}  # fmt: skip

EXPECTATIONS = (
    expect(
        "fails", "kv_and_encoder", "encoder-item-never-read-in-transit",
        "nobody asks, whatever KV transfers do meanwhile", ec_gate="none",
    ),
    expect(
        "holds", "kv_and_encoder", "deferred-by-encoder-holds-no-block", "the gate comes before the allocation",
        ec_gate="all",
    ),
)  # fmt: skip
