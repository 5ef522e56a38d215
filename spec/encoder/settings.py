"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.language.settings import Preset, Slice, expect

_SOUND = {
    "ec_gate": "all",
    "ec_transit": "possible",
    "ec_future": "future_only",
    "ec_defer": "skipped",
    "ec_deadline": "expires",
    "ec_free": "settled",
    "ec_waiting_refs": "released",
    "ec_external": "loaded",
    "ec_finish_delay": "never",
}
_V22, _V28, _V32 = "vllm-0.22.1", "vllm-0.28.0", "vllm-0.32.0"

PRESETS = (
    Preset(name="interlock", values=_SOUND, doc="What Interlock's own encoder scheduler and connector do."),
    Preset(name="seed", values=_SOUND, doc="vLLM PR 41627 as it became: everybody is asked, about future features."),
    Preset(
        name=_V22,
        values={**_SOUND, "ec_gate": "none", "ec_deadline": "none", "ec_free": "optimistic"},
        doc=(
            "Up to 0.22.1: nobody is asked; inputs are freed on counted tokens, placeholders included. Not modelled: "
            "workers are told also of an eviction that the same schedule() takes back, and drop before they encode."
        ),
    ),
    Preset(
        name=_V28,
        values={**_SOUND, "ec_gate": "waiting_only", "ec_finish_delay": "asked"},
        doc="0.23 to 0.28: waiting requests with nothing computed are asked (request_finished is called from 0.28).",
    ),
    Preset(
        name=_V32,
        values={**_SOUND, "ec_finish_delay": "asked"},
        doc="Everybody is asked; a connector whose request_finished answers True leaks KV (D4).",
    ),
)

_SIZES = ("request", "item", "position", "worker", "job", "block", "slot", "cell")


def _scope(**sizes: int) -> dict[str, int]:
    """One of everything, but for ``sizes``."""
    return {**dict.fromkeys(_SIZES, 1), **sizes}


# Requests that come again for ever, and who came first, are looked at in one slice.
_RETURNS, _ARRIVALS = ("complete", "free_id"), ("came_before",)
_KV_LOADS = ("match_prefix", "start_kv_load", "loaded", "kv_load_fails")
_DRAFTS = ("speculate", "reject")
_FAILS = ("transfer_fails", "fetch_breaks", "expire", "fail_unavailable")
_POOL = (
    "start_fetch", "transfer_arrives", "fetch_settles", "take_external", "evict_pool", "load_reported",
    "defer", "stall", "resume", *_FAILS,
)  # fmt: skip

_ITEMS = (
    "claim_cached", "use_cached", "encode", "take_external", "advance", "settle", "free_input", "drop_reference",
    "evict_entry", "evict_pool", "load_reported", "stall", "resume",
)  # fmt: skip
"""What happens to items in the encoder cache and for their sake."""

SLICES = (
    Slice(
        name="ec_ask",
        quick=True,
        remove=("complete", *_DRAFTS),
        drop=_ARRIVALS,
        scope=_scope(),
        doc="One request and one item: asked in every state; KV loads, transfers that hang or fail, preemption; again.",
    ),
    Slice(
        name="ec_room",
        quick=True,
        remove=(*_RETURNS, *_KV_LOADS, *_POOL),
        drop=_ARRIVALS,
        scope=_scope(request=2, item=2),
        doc="Two requests and two items, one slot and KV for one of them: who gives up what; no connector.",
    ),
    Slice(
        name="ec_drafts",
        remove=(*_RETURNS, *_KV_LOADS, *_POOL),
        drop=_ARRIVALS,
        scope=_scope(request=2, item=2, block=2),
        doc="The same with KV for both, so that both run: tokens counted, settled or rejected; no connector.",
    ),
    Slice(
        name="ec_twice",
        remove=("free_id",),
        drop=_ARRIVALS,
        scope=_scope(position=2, item=2),
        doc="One request with two features, of one item or of two, some computed and some ahead, with drafts.",
    ),
    Slice(
        name="ec_pool",
        remove=(*_RETURNS, *_KV_LOADS, *_DRAFTS, "preempt", "claim_cached"),
        drop=_ARRIVALS,
        scope=_scope(request=2),
        doc="Two requests, with or without a feature, and KV for one: who waits for whom.",
    ),
    Slice(
        name="ec_queue",
        remove=(
            *_RETURNS,
            *_KV_LOADS,
            *_DRAFTS,
            *_FAILS,
            "preempt",
            *_ITEMS,
            "go_on",
        ),
        drop=_ARRIVALS,
        scope=_scope(request=3),
        doc="Three requests and KV for one: who is visited after a no, and after KV ran out; no encoder cache.",
    ),
    Slice(
        name="ec_running",
        remove=(*_RETURNS, *_DRAFTS),
        drop=_ARRIVALS,
        scope=_scope(request=2, block=2),
        doc="Two requests that may both run, one item: what one fetches or drops, the other needs.",
    ),
    Slice(
        name="ec_tight",
        remove=(*_RETURNS, *_DRAFTS),
        drop=_ARRIVALS,
        scope=_scope(request=2),
        doc="The same with KV for one of them: who is turned away, with what in hand.",
    ),
    Slice(
        name="ec_loads",
        remove=(*_RETURNS, *_KV_LOADS, *_DRAFTS, *_FAILS, "claim_cached"),
        drop=_ARRIVALS,
        scope=_scope(position=2, item=2, worker=2, job=2),
        doc="Loads from the pool to two workers, reported late, and loads of one item that overlap.",
    ),
    Slice(
        name="ec_arrivals",
        remove=(
            *_KV_LOADS,
            *_DRAFTS,
            *_FAILS,
            "preempt",
            *_ITEMS,
        ),
        scope=_scope(request=3),
        doc="Requests arrive for ever, or are aborted; KV for one: who is put off keeps its place. No encoder cache.",
    ),
)


_TRANSIT, _READS = "encoder-item-never-read-in-transit", "forward-reads-its-items"
_NOTHING, _NOBODY, _AGAIN = "deferred-holds-nothing", "deferred-blocks-nobody", "deferred-is-asked-again"
_PLACE = "deferred-keeps-its-place"
_KV_BACK, _ENTRY = "ended-requests-give-kv-back", "entered-feature-has-its-entry"
_NO_TRANSIT = "without ensure_cache_available, and nothing is ever in transit (R-73)"

EXPECTATIONS = (
    expect("fails", "ec_ask", _TRANSIT, "nobody asks: the item is loaded while it is being fetched", ec_gate="none"),
    expect("fails", "ec_ask", _READS, "and the forward reads what has not arrived", ec_gate="none"),
    expect("holds", "ec_ask", "encoder-pool-accounting", "a pin is counted, whatever it is of", ec_gate="none"),
    *(
        expect("holds", slice_, property_, _NO_TRANSIT, ec_gate="none", ec_transit="never")
        for slice_, property_ in (
            ("ec_ask", _TRANSIT), ("ec_ask", _READS), ("ec_ask", "nobody-is-put-off-unasked"),
            ("ec_ask", "goes-on-only-with-its-items-there"), ("ec_running", _TRANSIT), ("ec_loads", _READS),
        )
    ),
    expect("holds", "ec_running", _TRANSIT, "asked, it always says yes", ec_transit="never"),
    expect(
        "fails", "ec_ask", _TRANSIT,
        "a KV load fails and uncovers a feature; with KV in hand, the request is not asked again",
        ec_gate="waiting_only",
    ),
    expect(
        "fails", "ec_ask", "goes-on-only-with-its-items-there",
        "a waiting request with tokens computed is admitted unasked", ec_gate="waiting_only",
    ),
    expect("holds", "ec_running", "goes-on-only-with-its-items-there", "all are asked", ec_gate="all"),
    expect(
        "fails", "ec_running", _TRANSIT,
        "a running request reaches an item that another request has just had fetched", ec_gate="waiting_only",
    ),
    expect("holds", "ec_running", _TRANSIT, "running requests are asked too", ec_gate="all"),
    expect("holds", "ec_running", _READS, "running requests are asked too", ec_gate="all"),
    expect(
        "fails", "ec_ask", "answer-is-about-future-features",
        "put off for a feature that the KV match covers", ec_future="all_features",
    ),
    expect(
        "fails", "ec_ask", "fetch-is-for-a-future-feature",
        "fetched for a feature that the KV match covers", ec_future="all_features",
    ),
    expect("holds", "ec_twice", "answer-is-about-future-features", "R-65", ec_future="future_only"),
    expect("holds", "ec_twice", "fetch-is-for-a-future-feature", "R-65", ec_future="future_only"),
    expect("fails", "ec_pool", _NOBODY, "the scan ends at the deferred request", ec_defer="head_of_line"),
    expect(
        "fails", "ec_pool", "text-request-waits-for-no-item", "a request that needs no item waits for one",
        ec_defer="head_of_line",
    ),
    expect("holds", "ec_queue", "text-request-waits-for-no-item", "the scan goes on", ec_defer="skipped"),
    expect("fails", "ec_tight", _AGAIN, "one more is deferred before it, once preempted", ec_defer="head_of_line"),
    expect("fails", "ec_arrivals", _PLACE, "put behind those that came later", ec_defer="requeued"),
    expect(
        "fails", "ec_arrivals", "later-arrival-is-not-admitted-first",
        "the item has come meanwhile, but one that arrived later is visited first, and takes the KV",
        ec_defer="requeued",
    ),
    expect("holds", "ec_arrivals", _NOBODY, "the scan goes on all the same", ec_defer="requeued"),
    expect("holds", "ec_arrivals", _PLACE, "prepend_requests keeps the order", ec_defer="skipped"),
    expect("holds", "ec_arrivals", "later-arrival-is-not-admitted-first", "asked first again", ec_defer="skipped"),
    expect(
        "holds", "ec_arrivals", "deferred-is-scheduled-though-others-arrive", "its turn comes first",
        ec_defer="skipped",
    ),
    expect("holds", "ec_arrivals", _PLACE, "skipped_waiting is prepended too", _V28),
    expect("holds", "ec_ask", "nobody-is-put-off-unasked", "no ensure_cache_available", ec_gate="none"),
    expect("holds", "ec_running", "nobody-is-put-off-unasked", "only who waits is asked", ec_gate="waiting_only"),
    expect("holds", "ec_pool", _NOBODY, "it is skipped, not waited for", ec_defer="skipped"),
    expect("holds", "ec_pool", _AGAIN, "it is put back and visited by every schedule()", ec_defer="skipped"),
    expect(
        "fails", "ec_ask", "encoder-deferral-ends", "the transfer hangs, and so does the request", ec_deadline="none",
    ),
    expect("fails", "ec_ask", "encoder-stall-ends", "the same with its KV in hand", ec_deadline="none"),
    expect("holds", "ec_pool", "encoder-deferral-ends", "the budget runs out", ec_deadline="expires"),
    expect("fails", "ec_drafts", _READS, "freed and evicted, then read again by rejected drafts", ec_free="optimistic"),
    expect("fails", "ec_drafts", _ENTRY, "freed before it is settled", ec_free="optimistic"),
    expect("holds", "ec_drafts", _READS, "kept until the tokens are settled", ec_free="settled"),
    expect(
        "fails", "ec_room", "runner-gets-encoder-room",
        "turned away for want of KV, a request keeps the slot that the runner needs", ec_waiting_refs="kept",
    ),
    expect(
        "fails", "ec_tight", _NOTHING,
        "turned away for want of KV, item in hand, and deferred by the next schedule()",
        ec_waiting_refs="kept",
    ),
    expect("holds", "ec_room", "runner-gets-encoder-room", "what it took is given up", ec_waiting_refs="released"),
    expect("fails", "ec_ask", _READS, "not encoded, and not loaded either", ec_external="assumed"),
    expect("holds", "ec_loads", _READS, "loaded with the step", ec_external="loaded"),
    expect("fails", "ec_ask", _KV_BACK, "no event releases what request_finished kept", ec_finish_delay="asked"),
    expect("holds", "ec_ask", _KV_BACK, "only a KV load still to come keeps it", ec_finish_delay="never"),
    expect("fails", "ec_ask", _TRANSIT, "not asked", _V22),
    expect("fails", "ec_drafts", _READS, "freed on counted tokens", _V22),
    expect("holds", "ec_room", "runner-gets-encoder-room", "repaired before", _V22),
    expect("fails", "ec_running", _TRANSIT, "running requests are not asked", _V28),
    expect("holds", "ec_pool", "encoder-deferral-ends", "the connector's budget", _V28),
    expect("fails", "ec_ask", _KV_BACK, "D4", _V28),
    expect("holds", "ec_running", _TRANSIT, "all are asked", _V32),
    expect("holds", "ec_pool", _NOTHING, "PR 41627", _V32),
    expect("fails", "ec_ask", _KV_BACK, "D4", _V32),
)  # fmt: skip
