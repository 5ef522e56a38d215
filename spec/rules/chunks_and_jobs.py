"""Invariants of CPU chunks and transfer jobs."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

CHUNKS_AND_JOBS = (
    Rule(
        id="I-40",
        topic="chunks and jobs",
        text="A chunk is absent, pending, ready or pinned; a pending or pinned one is never evicted.",
        source="vLLM 0.32.0: v1/kv_offload/cpu/policies/lru.py:115-159",
        standing=("implied", "asserted"),
        properties=(
            "pinned-chunk-is-never-evicted",
            "store-writes-a-pending-chunk",
            "group-pinned-chunk-stays",
            "evicted-only-when-nobody-reads",
        ),
    ),
    Rule(
        id="I-41",
        topic="chunks and jobs",
        text="The pins of a chunk are the open loads that read it.",
        source="vLLM 0.32.0: v1/kv_offload/cpu/manager.py:204-248",
        standing=("implied",),
        properties=(
            "pins-equal-outstanding-users",
            "pin-has-a-reader",
            "hit-has-pinned-slots",
        ),
    ),
    Rule(
        id="I-42",
        topic="chunks and jobs",
        text="A pending chunk is written by exactly one open store, or by one that a reset made stale.",
        source="vLLM 0.32.0: v1/kv_offload/cpu/manager.py:251-397",
        standing=("implied",),
        properties=(
            "pending-chunk-has-one-store",
            "store-writes-a-pending-chunk",
            "pending-slot-has-one-writer",
            "pending-entry-has-one-writer",
        ),
    ),
    Rule(
        id="I-43",
        topic="chunks and jobs",
        text="A chunk that lookup finds is complete on all workers.",
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1961-1969,"
            " v1/kv_offload/cpu/manager.py:189-195"
        ),
        standing=("implied",),
        properties=(
            "ready-chunk-holds-its-prefix",
            "load-source-is-not-being-written",
            "a-job-ends-with-its-last-report",
            "stored-chunk-is-of-its-key",
            "ready-slot-holds-its-key",
            "only-completed-stores-are-visible",
        ),
    ),
    Rule(
        id="I-44",
        topic="chunks and jobs",
        text="Chunks that can be evicted are those without pins; free and allocated slots make up the pool.",
        source="vLLM 0.32.0: v1/kv_offload/cpu/manager.py:94-114",
        standing=("implied",),
        properties=(
            "slots-are-counted",
            "tier-accounting",
            "evicted-only-when-nobody-reads",
        ),
    ),
    Rule(
        id="I-45",
        topic="chunks and jobs",
        text=(
            "Reserving chunks for a store evicts none of the keys that it was offered, and changes nothing if it fails."
        ),
        source="vLLM 0.32.0: v1/kv_offload/cpu/manager.py:323",
        standing=("implied",),
        properties=("offered-chunk-is-kept",),
        guards=(
            GuardOf(module="groups", action="evict_any", conjunct="not-offered"),
            GuardOf(module="groups", action="evict_oldest", conjunct="not-offered"),
        ),
        outside="Chunks are reserved one at a time, so a reservation that fails half-way does not arise.",
    ),
    Rule(
        id="I-46",
        topic="chunks and jobs",
        text=("The reports that a job waits for are between zero and the number of workers; at zero the job is gone."),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1952-1988",
        standing=("implied",),
        properties=(
            "reports-are-counted",
            "a-job-ends-with-its-last-report",
            "open-operation-waits-for-a-report",
            "operation-reports-are-counted",
        ),
    ),
    Rule(
        id="I-47",
        topic="chunks and jobs",
        text="Job ids increase; a report on a job from before a reset changes nothing.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:623-654,2060-2098",
        standing=("implied",),
        properties=("late-report-settles-nothing",),
        outside=(
            "Jobs are a finite set in the model: an id is used again once nothing of its job is left"
            " (ended-jobs-left-nothing)."
        ),
    ),
    Rule(
        id="I-48",
        topic="chunks and jobs",
        text="The open jobs of a request are one load, or stores; never both.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1268,1804",
        standing=("asserted",),
        properties=("loads-and-stores-never-mixed",),
    ),
    Rule(
        id="I-49",
        topic="chunks and jobs",
        text="The chunks being loaded are those of open loads, and no two of these share one.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:919-943",
        standing=("seen",),
        properties=(
            "pin-has-a-reader",
            "hit-has-pinned-slots",
        ),
        outside=(
            "The models let two loads read one chunk, each with a pin of its own: that none do is economy, and"
            " nothing rests on it."
        ),
    ),
    Rule(
        id="I-50",
        topic="chunks and jobs",
        text="The store cursor of a request only grows, except by a reset or a new load.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:483-493,1253,1793",
        standing=("implied",),
        properties=(
            "store-scan-starts-at-the-head",
            "cursor-leaves-nothing-behind",
            "store-scan-passes-each-chunk-once",
            "loaded-chunk-is-not-stored-again",
            "cursor-within-mirror",
            "cursor-goes-back-only-after-a-preemption",
            "metadata-moves-no-cursor",
        ),
    ),
    Rule(
        id="I-51",
        topic="chunks and jobs",
        text="A connector keeps a request's record from its arrival until it has finished and has no jobs.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1887-1896,1987",
        standing=("implied",),
        properties=(
            "all-stores-of-a-request-are-tracked",
            "metadata-forgets-only-who-is-over",
            "absent-request-left-nothing",
            "operation-has-its-requester",
            "no-operation-outlives-its-request",
            "table-belongs-to-a-request",
        ),
        guards=(GuardOf(module="tiers", action="forget_request", conjunct="holds-nothing"),),
    ),
    Rule(
        id="I-52",
        topic="chunks and jobs",
        text=(
            "For a returned hit every chunk of the full groups and the last window of the windowed groups can be"
            " loaded."
        ),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:764-917",
        standing=("implied", "seen"),
        properties=("returned-hit-is-loadable", "found-hit-is-ready-in-every-group"),
    ),
    Rule(
        id="I-53",
        topic="chunks and jobs",
        text="A block in the set of stores in flight has a reference, and leaves the set when its store ends.",
        source="vLLM 0.32.0: v1/simple_kv_offload/manager.py:262,734,785,1042,1253",
        standing=("implied",),
        properties=(
            "dedup-set-names-open-stores",
            "open-stores-are-in-dedup-set",
            "pinned-source-is-in-use",
        ),
    ),
    Rule(
        id="I-54",
        topic="chunks and jobs",
        text="A store names as many GPU blocks as CPU blocks; the latter have no hash until it completes.",
        source="vLLM 0.32.0: v1/simple_kv_offload/manager.py:642-809",
        standing=("implied",),
        properties=("store-writes-a-pending-chunk",),
        outside="A job of the models moves one block, so the two numbers are equal by construction.",
    ),
    Rule(
        id="I-55",
        topic="chunks and jobs",
        text="The source of a store in flight keeps its hash until completion.",
        source="vLLM 0.32.0: v1/simple_kv_offload/manager.py:642-809,1005-1063",
        standing=("implied",),
        properties=("store-source-stable", "pinned-source-keeps-its-hash"),
    ),
    Rule(
        id="I-56",
        topic="chunks and jobs",
        text="A pin taken by a lookup lasts until the allocation, the next lookup, the finish or a reset.",
        source="vLLM 0.32.0: v1/simple_kv_offload/manager.py:346,418,1192,1395",
        standing=("implied",),
        properties=(
            "pin-has-a-reader",
            "record-is-removed-on-every-exit",
            "unused-hits-are-given-back",
        ),
    ),
    Rule(
        id="I-57",
        topic="chunks and jobs",
        text="Event numbers are not used again after a reset.",
        source="vLLM 0.32.0: v1/simple_kv_offload/manager.py:1439",
        standing=("implied",),
        properties=(
            "late-report-settles-nothing",
            "stale-job-touches-nothing",
        ),
        outside=(
            "Numbers are a finite set in the model: one is used again once nothing of its job is left"
            " (ended-jobs-left-nothing)."
        ),
    ),
    Rule(
        id="I-58",
        topic="chunks and jobs",
        text="A stale or unknown completion releases nothing a second time.",
        source=(
            "vLLM 0.32.0: v1/simple_kv_offload/manager.py:1033-1039,"
            " distributed/ec_transfer/ec_connector/cpu/scheduler/__init__.py:576-588"
        ),
        standing=("implied",),
        properties=(
            "late-report-settles-nothing",
            "ended-jobs-left-nothing",
            "acknowledged-store-is-open",
            "encoder-load-pin-released-once",
            "ended-operations-left-nothing",
        ),
    ),
)
