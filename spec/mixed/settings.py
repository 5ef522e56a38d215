"""The one mixed slice, what is checked in it, and what is expected."""

from __future__ import annotations

from interlock.spec.language.settings import Slice, expect

SLICES = (
    Slice(
        name="kv_and_encoder",
        # Nothing rests (the encoder knows no such phase); KV loads neither fail nor reset; a request ends by finish.
        remove=(
            "rest", "reset_cache", "copy_fails", "load_fails", "report_failure", "acknowledge_failure", "kv_load_fails",
            "fail_unavailable", "complete", "free_id", "evict", "speculate", "reject", "transfer_fails", "fetch_breaks",
            "evict_pool", "claim_cached", "slide_out", "admit_loaded",
        ),
        scope={
            "request": 1, "block": 1, "chunk": 1, "job": 1, "worker": 1, "hash": 1,
            "item": 1, "position": 1, "slot": 1, "cell": 1,
        },
        doc="One request with one encoder item, one block and its store or load: all that the modules do to it.",
    ),
)  # fmt: skip

COVERED = {
    "kv_and_encoder": (
        "store-source-stable", "pending-chunk-has-one-store", "pinned-chunk-is-never-evicted", "held-block-is-used",
        "used-block-has-a-user", "forward-reads-own-prefix", "ready-chunk-holds-its-prefix",
        "hashed-block-holds-its-prefix", "deferred-holds-nothing", "encoder-item-never-read-in-transit",
        "forward-reads-its-items", "goes-on-only-with-its-items-there", "open-visit-has-a-yes",
    ),
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
