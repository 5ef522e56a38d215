"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.kv.beside import BESIDE
from interlock.spec.language.settings import Preset, Slice, expect


def _preset(name: str, doc: str, **values: str) -> Preset:
    return Preset(name=name, values={"store_mode": "eager", "store_choice": "every_block", **values}, doc=doc)


PRESETS = (
    _preset(
        "interlock", "Interlock's own connector; the default.",
        store_dedup="in_flight", source_hold="fence", idle="flush", finish_store="yes", match_busy="none",
        kv_reset="flush", stale_work="included",
    ),
    _preset(
        "seed", "The five changes in vLLM from which this specification grows, as they were made.",
        store_dedup="in_flight", source_hold="fence", idle="flush_before_plan", finish_store="no",
        match_busy="proceed", kv_reset="flush", stale_work="left_out",
    ),
    _preset(
        "vllm-0.20.2/SimpleCPUOffloadConnector",
        "Also 0.19.0 to 0.21.0: a set local to the step, and a reference on every source; reset_cache() raises.",
        store_dedup="per_step", source_hold="pin", idle="none", finish_store="no", match_busy="proceed",
        kv_reset="unsupported", stale_work="left_out",
    ),
    _preset(
        "vllm-0.20.2/OffloadingConnector",
        "Also 0.19.0 to 0.21.0: nothing steps the engine once the last request has gone; there is no reset_cache(). "
        "(Up to 0.20.2 an ended request keeps its blocks while they are stored, which is left out.)",
        store_dedup="in_flight", source_hold="fence", idle="none", finish_store="no", match_busy="proceed",
        kv_reset="ignored", stale_work="left_out",
    ),
    _preset(
        "vllm-0.22.1/SimpleCPUOffloadConnector",
        "From 0.22.0 on: the set of block ids in flight lives across steps; nothing steps an idle engine; "
        "reset_cache() raises.",
        store_dedup="in_flight", source_hold="pin", idle="none", finish_store="no", match_busy="proceed",
        kv_reset="unsupported", stale_work="left_out",
    ),
    _preset(
        "vllm-0.22.1/OffloadingConnector",
        "Also 0.23.0: when all requests have finished, the metadata orders the flush of every open job.",
        store_dedup="in_flight", source_hold="fence", idle="flush_before_plan", finish_store="no",
        match_busy="proceed", kv_reset="flush", stale_work="left_out",
    ),
    _preset(
        "vllm-0.32.0/SimpleCPUOffloadConnector",
        "References on every source; it reports pending work, so the engine steps until all is acknowledged. (A store "
        "at the finish takes its reference and its chunk there, which is left out: here the next metadata does.)",
        store_dedup="in_flight", source_hold="pin", idle="drain", finish_store="yes", match_busy="proceed",
        kv_reset="hold", stale_work="included",
    ),
    _preset(
        "vllm-0.32.0/OffloadingConnector",
        "Fences and flushes; one slot per key makes a second store of a hash impossible. Jobs that a reset has "
        "cleared are no pending work.",
        store_dedup="in_flight", source_hold="fence", idle="drain", finish_store="yes", match_busy="none",
        kv_reset="flush", stale_work="left_out",
    ),
)  # fmt: skip

_LOADS = ("plan_load", "loaded", "publish_loaded", "copy_load", "order_flush_of_load")

_FAILURES = ("copy_fails", "load_fails", "report_failure", "acknowledge_failure", "look_up_anew")
_RESETS = ("reset_cache",)
_GROUPS = ("slide_out", "admit_loaded")
_ENDS = ("finish", "rest", "plan_finish_store")
_CONTENT = ("gpu_value", "cpu_value", "due", "due_value", "expects")

SLICES = (
    Slice(
        name="tiny",
        scope={"request": 1, "block": 1, "chunk": 1, "job": 1, "worker": 1, "hash": 1},
        remove=_GROUPS,
        quick=True,
        doc="One of each, and everything that can happen with one KV cache group: the inner loop.",
    ),
    Slice(
        name="last_step",
        remove=(*_RESETS, *_GROUPS, *_LOADS, *_FAILURES, "evict", "preempt", "hit", "skip_store"),
        drop=(*_CONTENT, "scan_result"),
        scope={"request": 1, "block": 2, "chunk": 2, "job": 2, "worker": 1, "hash": 1},
        doc="The last request ends: two of its stores, in flight or planned at its finish; no content.",
    ),
    Slice(
        name="busy",
        remove=(*_RESETS, *_GROUPS, *_FAILURES, "plan_finish_store", "evict"),
        drop=(*_CONTENT, "kept", "scan_result"),
        scope={"request": 1, "block": 1, "chunk": 2, "job": 2, "worker": 1, "hash": 2},
        doc="A preempted request that comes back while a store of its own is open; no content.",
    ),
    Slice(
        name="loaded_waits",
        remove=(*_RESETS, *_GROUPS, *_FAILURES, "plan_finish_store", "evict", "hit", "skip_store", "preempt"),
        drop=(*_CONTENT, "kept", "scan_result"),
        scope={"request": 2, "block": 2, "chunk": 1, "job": 2, "worker": 1, "hash": 1},
        doc="A request that has loaded, and waits to go on, beside one that ended while it was loading; no content.",
    ),
    Slice(
        name="busy_running",
        remove=(*_RESETS, *_GROUPS, *_FAILURES, "plan_finish_store", "evict", "hit", "skip_store", "preempt", "finish"),
        drop=(*_CONTENT, "kept"),
        scope={"request": 1, "block": 3, "chunk": 2, "job": 3, "worker": 1, "hash": 2},
        default=False,
        doc="A running request that would load while a store of its own is open: the shortest way to mix them.",
    ),
    Slice(
        name="reset",
        remove=(*_GROUPS, *_LOADS, *_FAILURES, "evict", "preempt"),
        drop=("scan_result",),
        scope={"request": 1, "block": 1, "chunk": 1, "job": 2, "worker": 1, "hash": 1},
        doc="The cache is reset while stores are open, with content that a reset makes worthless.",
    ),
    Slice(
        name="reset_prefixes",
        remove=(*_GROUPS, *_LOADS, *_FAILURES, "evict", "preempt", "hit", "skip_store"),
        drop=("scan_result",),
        scope={"request": 1, "block": 2, "chunk": 1, "job": 2, "worker": 1, "hash": 2},
        doc="The cache is reset while a store is open, and another prefix is stored into its chunk, with content.",
    ),
    Slice(
        name="reset_load",
        remove=(*_GROUPS, *_FAILURES, *_ENDS, "evict", "preempt", "hit", "skip_store"),
        drop=("kept", "scan_result"),
        scope={"request": 2, "block": 2, "chunk": 2, "job": 2, "worker": 1, "hash": 1},
        doc="The cache is reset while a load is open, and its chunk, or one beside it, is stored into, with content.",
    ),
    Slice(
        name="dedup",
        remove=(*_RESETS, *_GROUPS, *_LOADS, *_FAILURES, "plan_finish_store", "evict"),
        drop=(*_CONTENT, "kept", "scan_result"),
        scope={"request": 2, "block": 1, "chunk": 2, "job": 2, "worker": 1, "hash": 1},
        doc="Two requests that share a prefix, two stores of it; no content. (Two workers: --scope worker=2.)",
    ),
    Slice(
        name="store",
        remove=(*_RESETS, *_GROUPS, *_LOADS, "plan_finish_store"),
        drop=(*_CONTENT, "kept"),
        scope={"request": 1, "block": 2, "chunk": 1, "job": 1, "worker": 1, "hash": 1},
        doc="Two blocks of one prefix, failing stores, a full tier, eviction; no content.",
    ),
    Slice(
        name="at_finish",
        remove=(*_RESETS, *_GROUPS, *_LOADS),
        scope={"request": 2, "block": 1, "chunk": 1, "job": 1, "worker": 1, "hash": 2},
        doc="Stores at the finish, reallocation of their source, fences and flushes, with content.",
    ),
    Slice(
        name="lazy_store",
        remove=(*_RESETS, *_GROUPS, *_LOADS, *_FAILURES, "evict"),
        drop=("scan_result",),
        scope={"request": 1, "block": 2, "chunk": 2, "job": 2, "worker": 1, "hash": 2},
        default=False,
        doc="Blocks that the prefix cache may lose are stored, and hit or given away meanwhile, with two prefixes.",
    ),
    Slice(
        name="finish_twice",
        remove=(*_RESETS, *_GROUPS, *_LOADS, *_FAILURES, "evict"),
        drop=_CONTENT,
        scope={"request": 2, "block": 1, "chunk": 2, "job": 2, "worker": 1, "hash": 1},
        doc="Two stores of one block around a finish, in its allocation or the one before; no content.",
    ),
    Slice(
        name="partial_failure",
        remove=(*_GROUPS, *_LOADS, "plan_finish_store", "preempt"),
        drop=("kept",),
        scope={"request": 1, "block": 1, "chunk": 1, "job": 1, "worker": 2, "hash": 1},
        doc="A store that fails on one worker and not on the other, and resets meanwhile, with content.",
    ),
    Slice(
        name="failing_load",
        remove=(*_GROUPS, "plan_finish_store", "preempt", "skip_store", "hit"),
        drop=("kept",),
        scope={"request": 1, "block": 1, "chunk": 1, "job": 1, "worker": 2, "hash": 1},
        doc="A load that fails on one worker, or on both, and what is stored of its block afterwards, with content.",
    ),
    Slice(
        name="three_workers",
        remove=(*_RESETS, *_GROUPS, "plan_finish_store", "evict", "preempt", "hit", "skip_store"),
        drop=(*_CONTENT, "kept", "scan_result"),
        scope={"request": 1, "block": 1, "chunk": 1, "job": 1, "worker": 3, "hash": 1},
        doc="A store, which may fail, or a load, acknowledged by three workers; no content.",
    ),
    Slice(
        name="load",
        remove=(*_RESETS, *_GROUPS, *_FAILURES, "plan_finish_store"),
        drop=("kept", "scan_result"),
        scope={"request": 1, "block": 2, "chunk": 1, "job": 1, "worker": 1, "hash": 2},
        doc="Loads beside stores: pins, promotion, requests that end meanwhile, with content of two prefixes.",
    ),
    Slice(
        name="windowed",
        remove=(*_RESETS, *_FAILURES, "plan_finish_store", "preempt", "evict"),
        drop=("kept",),
        scope={"request": 2, "block": 1, "chunk": 1, "job": 1, "worker": 1, "hash": 2},
        doc="Blocks slide out of windows, read by a store or filled by a load, and are given away again, with content.",
    ),
    Slice(
        name="load_ack",
        remove=(*_RESETS, *_GROUPS, *_FAILURES, "plan_finish_store", "evict"),
        drop=(*_CONTENT, "kept", "scan_result"),
        scope={"request": 1, "block": 2, "chunk": 1, "job": 2, "worker": 2, "hash": 1},
        doc="Two loads of one request, acknowledged by two workers; no content.",
    ),
    *BESIDE,
)


_DOUBLE, _SERVED, _LOST = (
    "no-block-stored-twice-in-flight", "computed-and-kept-is-served", "passed-over-is-not-lost",
)  # fmt: skip
_COMPLETE, _FLUSHES, _MIXED = (
    "issued-jobs-complete", "last-step-flushes-every-job", "loads-and-stores-never-mixed",
)  # fmt: skip
_LAZY = "lazy_store"
_RESTS = "transfers-rest-with-nothing-owed"
_AT_REST, _RESET_AT_REST = "engine-rests-with-nothing-pending", "a-reset-succeeds-once-the-engine-rests"
_FORGOTTEN, _STALE, _REFUSED = (
    "after-reset-nothing-old-is-served", "stale-job-touches-nothing", "a-refused-reset-leaves-what-is-ready",
)  # fmt: skip
_SIMPLE_OLD, _SIMPLE_NEW = "vllm-0.20.2/SimpleCPUOffloadConnector", "vllm-0.32.0/SimpleCPUOffloadConnector"

EXPECTATIONS = (
    expect("holds", "dedup", _DOUBLE, "PR 41289", store_dedup="in_flight"),
    expect(
        "fails", "dedup", _DOUBLE,
        "the set is forgotten with the step, a second request shares the prefix in a later one",
        store_dedup="per_step",
    ),
    expect("fails", "finish_twice", _DOUBLE, "the same, by a finish-time store", store_dedup="per_step"),
    expect("holds", "dedup", _DOUBLE, "by hash is stricter for this property", store_dedup="in_flight_by_hash"),
    expect("holds", "store", _SERVED, "PR 41289", store_dedup="in_flight"),
    expect(
        "fails", "store", _SERVED,
        "a block is passed over for the sake of another block with its hash", store_dedup="in_flight_by_hash",
    ),
    expect(
        "fails", "store", _LOST,
        "b1 and b2 share a hash, b2 was skipped, the store of b1 fails", store_dedup="in_flight_by_hash",
    ),
    expect("holds", "at_finish", "store-source-stable", "fences and flushes", source_hold="fence"),
    expect("holds", "at_finish", "store-source-stable", "references", source_hold="pin"),
    *(
        expect("holds", "windowed", property_, why, source_hold=hold)
        for property_ in ("store-source-stable", "ready-chunk-holds-its-prefix")
        for hold, why in (("fence", "whoever gets the block has the store flushed"), ("pin", "references"))
    ),
    expect("fails", "dedup", _DOUBLE, "seen on 0.19.1 and 0.20.2 by the gate", _SIMPLE_OLD),
    # seeds 004: lazy mode is unaffected
    *(
        expect(
            "holds", _LAZY, _DOUBLE, "the reference keeps the block out of the free queue; nobody asks the set",
            _SIMPLE_NEW, store_mode="lazy", store_dedup=value,
        )
        for value in ("per_step", "in_flight", "in_flight_by_hash")
    ),
    expect("holds", _LAZY, _DOUBLE, "the same before PR 41289", _SIMPLE_OLD, store_mode="lazy"),
    expect("fails", _LAZY, _DOUBLE, "a fence keeps no block out of the free queue", store_mode="lazy"),
    expect(
        "fails", _LAZY, _DOUBLE, "without a reference the block stays in the free queue, and the next walk comes to it",
        _SIMPLE_OLD, store_mode="lazy", source_hold="fence",
    ),
    *(
        expect("holds", _LAZY, property_, "references on what is stored", _SIMPLE_NEW, store_mode="lazy")
        for property_ in (
            "lazy-stores-are-in-no-dedup-set", "lazy-store-reads-what-the-cache-may-lose", "pinned-source-is-in-use",
            "pinned-source-keeps-its-hash", "used-block-has-a-user", "store-source-stable",
            "ready-chunk-holds-its-prefix", "pending-chunk-has-one-store", "hashed-block-holds-its-prefix", _COMPLETE,
            "a-lazily-stored-block-is-hit", "a-block-is-lost-before-it-is-stored",
        )
    ),
    expect("fails", _LAZY, _COMPLETE, "nothing steps an idle engine", "vllm-0.22.1/SimpleCPUOffloadConnector",
           store_mode="lazy"),
    expect("holds", "load", "forward-reads-own-prefix", "loads beside lazy stores", _SIMPLE_NEW, store_mode="lazy"),
    expect("holds", "reset", _FORGOTTEN, "chunks of open jobs stay reserved", _SIMPLE_NEW, store_mode="lazy"),
    # contract J3: what a connector chooses not to store
    *(
        expect("holds", slice_, property_, "what is left by choice nobody is owed", store_choice="some_blocks")
        for slice_, property_ in (
            *(
                (s, p)
                for s in ("tiny", "store")
                for p in ("cursor-moves-by-a-scan", "scans-pass-what-they-plan", "a-scan-leaves-a-block-by-choice")
            ),
            ("store", _SERVED), ("dedup", _DOUBLE), ("last_step", _COMPLETE),
            ("store", "a-skip-is-excused-only-for-want-of-room-or-by-choice"),
        )
    ),
    # seeds 002: the last step
    expect("holds", "last_step", _RESTS, "PR 42611, and pending work is reported", idle="flush"),
    expect("fails", "last_step", _RESTS, "the engine rests, and jobs stay open", idle="none"),
    expect(
        "fails", "last_step", _RESTS, "and so do those that the last metadata plans",
        idle="flush_before_plan", finish_store="yes",
    ),
    *(
        expect("fails", slice_, _COMPLETE, "the last request has gone, and nothing steps the engine", idle="none")
        for slice_ in ("tiny", "load_ack")
    ),
    expect(
        "fails", "last_step", _COMPLETE, "what the last metadata plans it does not flush",
        idle="flush_before_plan", finish_store="yes",
    ),
    expect(
        "fails", "last_step", _FLUSHES, "the set is computed before this step's stores are planned",
        idle="flush_before_plan", finish_store="yes",
    ),
    *(
        expect(
            "holds", slice_, property_, "the seed as it was made plans nothing at a finish",
            idle="flush_before_plan", finish_store="no",
        )
        for slice_, property_ in (("last_step", _COMPLETE), ("last_step", _FLUSHES), ("load_ack", _COMPLETE))
    ),
    *(
        expect("holds", slice_, property_, "PR 42611, of the jobs planned in the same metadata too", idle="flush")
        for slice_, property_ in (("last_step", _COMPLETE), ("last_step", _FLUSHES), ("load_ack", _COMPLETE))
    ),
    *(
        expect("holds", slice_, _COMPLETE, "PR 45595: pending work keeps the engine stepping", idle="drain")
        for slice_ in ("last_step", "load_ack")
    ),
    expect("holds", "last_step", _COMPLETE, "with stores at the finish", finish_store="yes"),
    *(
        expect(
            "holds", slice_, property_, "pending work keeps the engine stepping, past a reset too",
            idle=idle_, kv_reset=reset, source_hold=hold,
        )
        for property_ in (_RESTS, _AT_REST, _RESET_AT_REST)
        for slice_, idle_, reset, hold in (
            *((s, "drain", "flush", "fence") for s in ("tiny", "last_step", "reset", "partial_failure")),
            *((s, "flush", "hold", "fence") for s in ("tiny", "reset", "partial_failure")),
            ("tiny", "drain", "hold", "pin"),
        )
    ),
    *(
        expect(
            "fails", "reset", property_, "the engine rests before the flush has gone out",
            idle="drain", stale_work="left_out",
        )
        for property_ in (_RESTS, _AT_REST)
    ),
    expect(
        "fails", "reset", _RESET_AT_REST, "a job that the reset forgot still has its reference",
        source_hold="pin", kv_reset="hold", idle="drain", stale_work="left_out",
    ),
    expect("fails", "reset", _AT_REST, "the reset has cleared the jobs", "vllm-0.32.0/OffloadingConnector"),
    #
    expect("holds", "busy", _MIXED, "the match answers None while a store is open", match_busy="none"),
    expect("fails", "busy", _MIXED, "vLLM #46014: a preempted request comes back and loads", match_busy="proceed"),
    # resets
    expect("holds", "reset", _FORGOTTEN, "every open job is flushed before anything new", kv_reset="flush"),
    expect("holds", "reset", _FORGOTTEN, "chunks of open jobs stay reserved", kv_reset="hold"),
    *(
        expect("holds", slice_, property_, "what loads read stays ready until their last report", kv_reset="hold")
        for slice_ in ("reset_load", "failing_load")
        for property_ in (_FORGOTTEN, _STALE, _REFUSED, "pinned-chunk-is-never-evicted", "ready-chunk-holds-its-prefix")
    ),
    *(
        expect("fails", slice_, _RESET_AT_REST, "reset_cache() raises NotImplementedError, also at rest", preset)
        for slice_, preset in (("reset", _SIMPLE_OLD), ("tiny", "vllm-0.22.1/SimpleCPUOffloadConnector"))
    ),
    expect("fails", "tiny", _RESET_AT_REST, "nothing is ever reset", kv_reset="unsupported"),
    expect("holds", "reset", _REFUSED, "nothing is done, and the caller is told so", _SIMPLE_OLD),
    expect("holds", "reset", _FORGOTTEN, "no reset succeeds, so nothing becomes worthless", _SIMPLE_OLD),
    expect(
        "fails", "reset", _FORGOTTEN, "there is no reset_cache(), and None is taken for success",
        "vllm-0.20.2/OffloadingConnector",
    ),
    *(
        expect("holds", slice_, property_, "refused while copies run, and done once they are over", _SIMPLE_NEW)
        for slice_ in ("reset", "reset_load", "partial_failure", "failing_load")
        for property_ in (_FORGOTTEN, _STALE, _REFUSED)
    ),
    expect("holds", "reset_load", _STALE, "the flush of a stale load comes first", kv_reset="flush"),
    expect("fails", "reset", _FORGOTTEN, "vLLM #57727: the tier goes on serving what it had", kv_reset="ignored"),
    expect("fails", "reset", _FORGOTTEN, "a late copy overwrites what was stored since", kv_reset="forget"),
    expect("fails", "reset", _STALE, "the chunk is taken while the old copy runs", kv_reset="forget"),
    expect("fails", "tiny", _COMPLETE, "0.20.2: nothing steps an idle engine", "vllm-0.20.2/OffloadingConnector"),
    expect("fails", "tiny", _COMPLETE, "0.22.1: nor does it here", "vllm-0.22.1/SimpleCPUOffloadConnector"),
    expect("holds", "dedup", _DOUBLE, "the set lives across steps", "vllm-0.22.1/SimpleCPUOffloadConnector"),
    expect("holds", "last_step", _COMPLETE, "flush on the last step", "vllm-0.22.1/OffloadingConnector"),
    expect("holds", "last_step", _COMPLETE, "pending work is reported", "vllm-0.32.0/OffloadingConnector"),
    expect("holds", "last_step", _COMPLETE, "flush on the last step", "seed"),
    *(
        expect("holds", slice_, property_, "references instead of fences", _SIMPLE_NEW)
        for slice_, property_ in (
            ("dedup", _DOUBLE), ("finish_twice", _DOUBLE), ("store", _SERVED), ("finish_twice", _SERVED),
            ("dedup", "used-block-has-a-user"), ("at_finish", "used-block-has-a-user"),
            ("at_finish", "ready-chunk-holds-its-prefix"), ("partial_failure", "ready-chunk-holds-its-prefix"),
            ("load", "forward-reads-own-prefix"), ("load", "hashed-block-holds-its-prefix"),
            ("load_ack", "issued-jobs-complete"),
            ("dedup", "pinned-source-is-in-use"), ("partial_failure", "pinned-source-is-in-use"),
            ("at_finish", "pinned-source-keeps-its-hash"), ("reset", "pinned-source-keeps-its-hash"),
            ("reset", "refused-reset-keeps-hashes"), ("partial_failure", "refused-reset-keeps-hashes"),
            ("reset", _RESTS), ("tiny", _RESTS), ("reset", _RESET_AT_REST),
        )
    ),
)  # fmt: skip
