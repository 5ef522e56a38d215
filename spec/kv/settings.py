"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from typing import Literal

from interlock.spec.language.settings import Expectation, Preset, Slice

PRESETS = (
    Preset(
        name="interlock",
        values={"store_dedup": "in_flight", "source_hold": "fence"},
        doc="Interlock's own connector; the default.",
    ),
    Preset(
        name="seed",
        values={"store_dedup": "in_flight", "source_hold": "fence"},
        doc="The five changes in vLLM from which this specification grows, as they were made.",
    ),
    Preset(
        name="vllm-0.20.2/SimpleCPUOffloadConnector",
        values={"store_dedup": "per_step", "source_hold": "pin"},
        doc="Also 0.19.0 to 0.21.0: a set local to the step, and a reference on every source.",
    ),
    Preset(
        name="vllm-0.32.0/SimpleCPUOffloadConnector",
        values={"store_dedup": "in_flight", "source_hold": "pin"},
        doc="From 0.22.0 on: the set of block ids in flight lives across steps.",
    ),
    Preset(
        name="vllm-0.32.0/OffloadingConnector",
        values={"store_dedup": "in_flight", "source_hold": "fence"},
        doc="Fences and flushes; one slot per key makes a second store of a hash impossible.",
    ),
)

_LOADS = ("plan_load", "loaded", "publish_loaded", "copy_load", "order_flush_of_load")

_FAILURES = ("copy_fails", "report_failure", "acknowledge_failure")
_CONTENT = ("gpu_value", "cpu_value", "due", "due_value", "expects")

SLICES = (
    Slice(
        name="dedup",
        remove=(*_LOADS, *_FAILURES, "plan_finish_store", "evict"),
        drop=(*_CONTENT, "kept"),
        scope={"request": 2, "block": 1, "chunk": 2, "job": 2, "worker": 2, "hash": 1},
        doc="Two requests that share a prefix, two stores of it, acknowledged by two workers; no content.",
    ),
    Slice(
        name="store",
        remove=(*_LOADS, "plan_finish_store"),
        drop=(*_CONTENT, "kept"),
        scope={"request": 1, "block": 2, "chunk": 1, "job": 1, "worker": 1, "hash": 1},
        doc="Two blocks of one prefix, failing stores, a full tier, eviction; no content.",
    ),
    Slice(
        name="finish_store",
        remove=_LOADS,
        scope={"request": 2, "block": 1, "chunk": 1, "job": 1, "worker": 1, "hash": 2},
        doc="Stores at the finish, reallocation of their source, fences and flushes, with content.",
    ),
    Slice(
        name="finish_twice",
        remove=(*_LOADS, *_FAILURES, "evict"),
        drop=_CONTENT,
        scope={"request": 2, "block": 1, "chunk": 2, "job": 2, "worker": 1, "hash": 1},
        doc="Two stores of one block around a finish, in its allocation or the one before; no content.",
    ),
    Slice(
        name="partial_failure",
        remove=(*_LOADS, "plan_finish_store", "preempt"),
        drop=("kept",),
        scope={"request": 1, "block": 1, "chunk": 1, "job": 1, "worker": 2, "hash": 1},
        doc="A store that fails on one worker and not on the other, with content.",
    ),
    Slice(
        name="load",
        remove=(*_FAILURES, "plan_finish_store"),
        drop=("kept",),
        scope={"request": 1, "block": 2, "chunk": 1, "job": 1, "worker": 1, "hash": 2},
        doc="Loads beside stores: pins, promotion, requests that end meanwhile, with content of two prefixes.",
    ),
    Slice(
        name="load_ack",
        remove=(*_FAILURES, "plan_finish_store", "evict"),
        drop=(*_CONTENT, "kept"),
        scope={"request": 1, "block": 1, "chunk": 1, "job": 1, "worker": 2, "hash": 1},
        doc="Loads acknowledged by two workers; no content.",
    ),
)


def _row(
    verdict: Literal["holds", "fails"],
    slice_: str,
    property_: str,
    why: str,
    preset: str = "interlock",
    **switches: str,
) -> Expectation:
    return Expectation(slice=slice_, property=property_, verdict=verdict, why=why, preset=preset, set=switches)


_DOUBLE, _SERVED, _LOST = (
    "no-block-stored-twice-in-flight", "computed-and-kept-is-served", "passed-over-is-not-lost",
)  # fmt: skip
_SIMPLE_OLD, _SIMPLE_NEW = "vllm-0.20.2/SimpleCPUOffloadConnector", "vllm-0.32.0/SimpleCPUOffloadConnector"

EXPECTATIONS = (
    _row("holds", "dedup", _DOUBLE, "PR 41289", store_dedup="in_flight"),
    _row(
        "fails", "dedup", _DOUBLE,
        "the set is forgotten with the step, a second request shares the prefix in a later one",
        store_dedup="per_step",
    ),
    _row("fails", "finish_twice", _DOUBLE, "the same, by a finish-time store", store_dedup="per_step"),
    _row("holds", "dedup", _DOUBLE, "by hash is stricter for this property", store_dedup="in_flight_by_hash"),
    _row("holds", "store", _SERVED, "PR 41289", store_dedup="in_flight"),
    _row(
        "fails", "store", _SERVED,
        "a block is passed over for the sake of another block with its hash", store_dedup="in_flight_by_hash",
    ),
    _row(
        "fails", "store", _LOST,
        "b1 and b2 share a hash, b2 was skipped, the store of b1 fails", store_dedup="in_flight_by_hash",
    ),
    _row("holds", "finish_store", "store-source-stable", "fences and flushes", source_hold="fence"),
    _row("holds", "finish_store", "store-source-stable", "references", source_hold="pin"),
    _row("fails", "dedup", _DOUBLE, "seen on 0.19.1 and 0.20.2 by the gate", _SIMPLE_OLD),
    *(
        _row("holds", slice_, property_, "references instead of fences", _SIMPLE_NEW)
        for slice_, property_ in (
            ("dedup", _DOUBLE), ("finish_twice", _DOUBLE), ("store", _SERVED), ("finish_twice", _SERVED),
            ("dedup", "used-block-has-a-user"), ("finish_store", "used-block-has-a-user"),
            ("finish_store", "ready-chunk-holds-its-prefix"), ("partial_failure", "ready-chunk-holds-its-prefix"),
            ("load", "forward-reads-own-prefix"), ("load", "hashed-block-holds-its-prefix"),
            ("load_ack", "issued-jobs-complete"),
        )
    ),
)  # fmt: skip
