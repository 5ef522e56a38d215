"""Invariants of GPU blocks."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

BLOCKS = (
    Rule(
        id="I-20",
        topic="blocks",
        text="The reference count of a block is the number of tables, transfers, copies and parkings that hold it.",
        source="vLLM 0.32.0: v1/core/block_pool.py:752-805, v1/core/sched/scheduler.py:2766-2801",
        standing=("implied",),
        properties=(
            "held-block-is-used",
            "used-block-has-a-user",
            "blocks-add-up",
        ),
        outside=(
            "References are not counted: a block is used or free (kv-transfer), or of one holder (admission)."
            " Copies on write are not modelled."
        ),
    ),
    Rule(
        id="I-21",
        topic="blocks",
        text="A block has no references if and only if it is in the free queue.",
        source="vLLM 0.32.0: v1/core/block_pool.py:752-805",
        standing=("implied",),
        properties=(
            "held-block-is-used",
            "used-block-has-a-user",
            "blocks-add-up",
        ),
    ),
    Rule(
        id="I-22",
        topic="blocks",
        text="Only blocks without references are allocated, and their hashes are cleared.",
        source="vLLM 0.32.0: v1/core/block_pool.py:681-700",
        standing=("implied",),
        properties=(
            "hashed-block-holds-its-prefix",
            "block-has-one-living-owner",
            "block-has-one-place",
        ),
        guards=(
            GuardOf(module="delivery", action="take_block", conjunct="block-is-free"),
            GuardOf(module="groups", action="allocate_block", conjunct="is-free"),
        ),
    ),
    Rule(
        id="I-23",
        topic="blocks",
        text="What the prefix cache can find under a hash holds the KV of that hash when it is read.",
        source=(
            "vLLM 0.32.0: v1/core/kv_cache_manager.py:612-616 (a hash is published before its block is computed),"
            " v1/core/sched/scheduler.py:3409-3413"
        ),
        standing=("seen",),
        properties=(
            "hashed-block-holds-its-prefix",
            "forward-reads-own-prefix",
            "hashed-block-is-valid-or-being-recomputed",
        ),
    ),
    Rule(
        id="I-24",
        topic="blocks",
        text=("No load writes a block that another request reads: destinations are freshly allocated and not hashed."),
        source=(
            "vLLM 0.32.0: v1/core/kv_cache_manager.py:602-605,"
            " distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1146-1279"
        ),
        standing=("implied",),
        properties=(
            "block-being-loaded-is-in-use",
            "loading-block-is-no-hit",
            "running-request-has-its-own-kv",
            "loaded-block-belongs-to-its-request",
        ),
        guards=(GuardOf(module="kv-transfer", action="plan_load", conjunct="not-hashed"),),
    ),
    Rule(
        id="I-25",
        topic="blocks",
        text="The blocks that a load fills stay with their request until all workers have reported.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2699-2710,3222-3231",
        standing=("implied",),
        properties=(
            "block-being-loaded-is-in-use-in-pipeline",
            "load-target-stays-owned",
            "block-being-loaded-is-in-use",
            "loading-holds-what-it-fills",
            "blocks-that-a-load-writes-are-not-given-back",
        ),
    ),
    Rule(
        id="I-26",
        topic="blocks",
        text="A freed block that a step in flight may still write is not given to a load.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:186-193,2759-2801",
        standing=("implied",),
        properties=(
            "load-target-has-no-late-writer",
            "load-gets-no-block-that-a-step-may-write",
            "freed-blocks-have-no-writer",
            "blocks-are-parked-behind-the-last-step-that-may-write-them",
        ),
    ),
    Rule(
        id="I-27",
        topic="blocks",
        text="Every block that a pending store reads has a reference or a fence.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1857-1863,2035-2044",
        standing=("implied",),
        properties=(
            "store-source-stable",
            "store-source-is-not-written-before-its-copy",
            "fence-marks-reallocated-sources",
            "preempted-stores-are-flushed",
            "group-store-source-stable",
            "a-preemption-flushes-the-stores-of-its-request",
            "store-source-stable-in-pipeline",
        ),
    ),
    Rule(
        id="I-28",
        topic="blocks",
        text="If a fenced block is allocated in a step, its jobs are flushed by that step.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1841,1866-1877",
        standing=("implied",),
        properties=("fence-marks-reallocated-sources",),
        guards=(GuardOf(module="kv-transfer", action="build_connector_meta", conjunct="fenced-are-flushed"),),
    ),
    Rule(
        id="I-29",
        topic="blocks",
        text="The flush of a step is over before anything of that step writes the block.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/worker.py:219-244",
        standing=("implied",),
        properties=(
            "store-source-stable",
            "store-source-is-not-written-before-its-copy",
            "group-store-source-stable",
            "store-source-stable-in-pipeline",
            "pipeline-flush-is-a-barrier",
        ),
        outside="Beside stores, forwards, loads and the zeroing of new blocks nothing writes blocks.",
    ),
    Rule(
        id="I-30",
        topic="blocks",
        text="The sources of a store belong to its request when it is planned.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1746-1842",
        standing=("implied",),
        properties=(
            "job-moves-blocks-of-its-request",
            "store-source-is-of-its-request",
        ),
    ),
    Rule(
        id="I-31",
        topic="blocks",
        text="A chunk is stored under a key only if all its tokens were computed.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1570-1734",
        standing=("implied",),
        properties=(
            "store-source-was-published",
            "ready-chunk-holds-its-prefix",
            "a-store-is-planned-of-what-is-there",
            "stored-chunk-is-of-its-key",
            "stored-range-is-computed",
        ),
    ),
    Rule(
        id="I-32",
        topic="blocks",
        text="The null block is never read or written by a transfer.",
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1172,1702,1780,"
            " v1/simple_kv_offload/manager.py:486"
        ),
        standing=("implied",),
        properties=("load-writes-no-null-block",),
        guards=(GuardOf(module="groups", action="plan_store_from", conjunct="recorded"),),
    ),
    Rule(
        id="I-33",
        topic="blocks",
        text="Dropping a block's hash changes no reference count.",
        source="vLLM 0.32.0: v1/core/block_pool.py:807-825",
        standing=("implied",),
        properties=("dropping-a-hash-leaves-the-holders",),
    ),
    Rule(
        id="I-34",
        topic="blocks",
        text=(
            "A block that an asynchronous load fills is not found by the prefix cache before its request is promoted."
        ),
        source="vLLM 0.32.0: v1/core/kv_cache_manager.py:602-605, v1/core/sched/scheduler.py:3153-3189",
        standing=("implied",),
        properties=("loading-block-is-no-hit",),
    ),
)
