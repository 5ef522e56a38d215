"""Invariants of CPU chunks and transfer jobs."""

from __future__ import annotations

from interlock.spec.rules.rule import Rule

CHUNKS_AND_JOBS = (
    Rule(
        id="I-40",
        topic="chunks and jobs",
        text="A chunk is absent, pending, ready or pinned; a pending or pinned one is never evicted.",
        source="vLLM 0.32.0: v1/kv_offload/cpu/policies",
        standing=("implied",),
    ),
    Rule(
        id="I-41",
        topic="chunks and jobs",
        text="The pins of a chunk are the open loads that read it.",
        source="vLLM 0.32.0: v1/kv_offload/cpu/manager.py",
        standing=("implied",),
    ),
    Rule(
        id="I-42",
        topic="chunks and jobs",
        text="A pending chunk is written by exactly one open store, or by one that a reset made stale.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-43",
        topic="chunks and jobs",
        text="A chunk that lookup finds is complete on all workers.",
        source="vLLM 0.32.0: kv_connector/v1/offloading/scheduler.py:1961-1969",
        standing=("implied",),
    ),
    Rule(
        id="I-44",
        topic="chunks and jobs",
        text="Chunks that can be evicted are those without pins; free and allocated slots make up the pool.",
        source="vLLM 0.32.0: v1/kv_offload/cpu/manager.py:94-114",
        standing=("implied",),
    ),
    Rule(
        id="I-45",
        topic="chunks and jobs",
        text=(
            "Reserving chunks for a store evicts none of the keys that it was offered, and changes nothing if it fails."
        ),
        source="vLLM 0.32.0: v1/kv_offload/cpu/manager.py:323",
        standing=("implied",),
    ),
    Rule(
        id="I-46",
        topic="chunks and jobs",
        text=("The reports that a job waits for are between zero and the number of workers; at zero the job is gone."),
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-47",
        topic="chunks and jobs",
        text="Job ids increase; a report on a job from before a reset changes nothing.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-48",
        topic="chunks and jobs",
        text="The open jobs of a request are one load, or stores; never both.",
        source="vLLM 0.32.0: kv_connector/v1/offloading/scheduler.py:1268,1804",
        standing=("implied",),
    ),
    Rule(
        id="I-49",
        topic="chunks and jobs",
        text="The chunks being loaded are those of open loads, and no two of these share one.",
        source="vLLM 0.32.0: kv_connector/v1/offloading/scheduler.py:919-943",
        standing=("seen",),
    ),
    Rule(
        id="I-50",
        topic="chunks and jobs",
        text="The store cursor of a request only grows, except by a reset or a new load.",
        source=(
            "vLLM 0.32.0: kv_connector/v1/offloading/scheduler.py:1253, "
            "kv_connector/v1/offloading/scheduler.py:483-493,1793"
        ),
        standing=("implied",),
    ),
    Rule(
        id="I-51",
        topic="chunks and jobs",
        text="A connector keeps a request's record from its arrival until it has finished and has no jobs.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-52",
        topic="chunks and jobs",
        text=(
            "For a returned hit every chunk of the full groups and the last window of the windowed groups can "
            "be loaded."
        ),
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-53",
        topic="chunks and jobs",
        text=("A block in the set of stores in flight has a reference, and leaves the set when its store ends."),
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-54",
        topic="chunks and jobs",
        text="A store names as many GPU blocks as CPU blocks; the latter have no hash until it completes.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-55",
        topic="chunks and jobs",
        text="The source of a store in flight keeps its hash until completion.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-56",
        topic="chunks and jobs",
        text="A pin taken by a lookup lasts until the allocation, the next lookup, the finish or a reset.",
        source="vLLM 0.32.0: v1/simple_kv_offload/manager.py:346,418,1192,1395",
        standing=("implied",),
    ),
    Rule(
        id="I-57",
        topic="chunks and jobs",
        text="Event numbers are not used again after a reset.",
        source="vLLM 0.32.0: v1/simple_kv_offload/manager.py:1439",
        standing=("implied",),
    ),
    Rule(
        id="I-58",
        topic="chunks and jobs",
        text="A stale or unknown completion releases nothing a second time.",
        source=(
            "vLLM 0.32.0: v1/simple_kv_offload/manager.py:1033-1039, ec_connector/cpu/scheduler/__init__.py:576-588"
        ),
        standing=("implied",),
    ),
)
