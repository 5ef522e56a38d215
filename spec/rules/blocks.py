"""Invariants of GPU blocks."""

from __future__ import annotations

from interlock.spec.rules.rule import Rule

BLOCKS = (
    Rule(
        id="I-20",
        topic="blocks",
        text=("The reference count of a block is the number of tables, transfers, copies and parkings that hold it."),
        source="vLLM 0.32.0: v1/core/block_pool.py",
        standing=("implied",),
    ),
    Rule(
        id="I-21",
        topic="blocks",
        text="A block has no references if and only if it is in the free queue.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-22",
        topic="blocks",
        text="Only blocks without references are allocated, and their hashes are cleared.",
        source="vLLM 0.32.0: v1/core/block_pool.py:681-700",
        standing=("implied",),
    ),
    Rule(
        id="I-23",
        topic="blocks",
        text="What the prefix cache can find under a hash holds the KV of that hash when it is read.",
        source="vLLM 0.32.0, contract section 7",
        standing=("seen",),
    ),
    Rule(
        id="I-24",
        topic="blocks",
        text=("No load writes a block that another request reads: destinations are freshly allocated and not hashed."),
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-25",
        topic="blocks",
        text="The blocks that a load fills stay with their request until all workers have reported.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-26",
        topic="blocks",
        text="A freed block that a step in flight may still write is not given to a load.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-27",
        topic="blocks",
        text="Every block that a pending store reads has a reference or a fence.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-28",
        topic="blocks",
        text="If a fenced block is allocated in a step, its jobs are flushed by that step.",
        source="vLLM 0.32.0: kv_connector/v1/offloading/scheduler.py:1866-1877,1841",
        standing=("implied",),
    ),
    Rule(
        id="I-29",
        topic="blocks",
        text="The flush of a step is over before anything of that step writes the block.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-30",
        topic="blocks",
        text="The sources of a store belong to its request when it is planned.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-31",
        topic="blocks",
        text="A chunk is stored under a key only if all its tokens were computed.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-32",
        topic="blocks",
        text="The null block is never read or written by a transfer.",
        source=(
            "vLLM 0.32.0: kv_connector/v1/offloading/scheduler.py:1172,1702,1780, v1/simple_kv_offload/manager.py:486"
        ),
        standing=("implied",),
    ),
    Rule(
        id="I-33",
        topic="blocks",
        text="Dropping a block's hash changes no reference count.",
        source="vLLM 0.32.0: v1/core/block_pool.py:807-825",
        standing=("implied",),
    ),
    Rule(
        id="I-34",
        topic="blocks",
        text=(
            "A block that an asynchronous load fills is not found by the prefix cache before its request is promoted."
        ),
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
)
