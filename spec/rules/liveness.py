"""What must come to pass."""

from __future__ import annotations

from interlock.spec.rules.rule import Rule

LIVENESS = (
    Rule(
        id="V-01",
        topic="liveness",
        text="A request that waits for a load is promoted, waits again from the start, or finishes.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3133-3189,3222-3231",
        standing=("implied",),
        properties=(
            "loading-request-goes-on",
            "loading-request-runs",
            "loaded-request-goes-on",
            "every-started-load-ends",
            "every-hit-is-handled",
        ),
    ),
    Rule(
        id="V-02",
        topic="liveness",
        text="A held request is released.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3229-3235",
        standing=("implied",),
        properties=(
            "delivery-held-leads-to-released",
            "held-request-is-released",
            "held-requests-are-released",
            "held-blocks-return",
            "ended-requests-give-kv-back",
            "ended-request-gives-all-back",
        ),
    ),
    Rule(
        id="V-03",
        topic="liveness",
        text="A request that is to be asked later is answered.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:904-910,1391-1395 (what is skipped keeps its place)",
        standing=("implied",),
        properties=(
            "deferred-by-lookup-is-answered-or-expires",
            "waiting-request-is-admitted",
            "lookup-is-answered",
            "deferral-ends",
            "put-off-lookup-is-answered",
            "check-is-answered-or-expires",
        ),
    ),
    Rule(
        id="V-04",
        topic="liveness",
        text="A waiting request that the encoder defers is scheduled or fails, within a deadline.",
        source="vLLM 0.32.0: distributed/ec_transfer/ec_connector/cpu/scheduler/__init__.py:42-47,240-370",
        standing=("implied",),
        properties=("encoder-deferral-ends",),
    ),
    Rule(
        id="V-05",
        topic="liveness",
        text=(
            "A running request that the encoder defers is scheduled, preempted or fails; it holds its blocks meanwhile."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:692-701",
        standing=("implied",),
        properties=(
            "encoder-stall-ends",
            "encoder-kv-shares-add-up",
        ),
    ),
    Rule(
        id="V-06",
        topic="liveness",
        text="Every planned job completes or becomes stale, also if no further request arrives.",
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1952-1988,"
            " v1/core/sched/scheduler.py:2813-2838; vLLM PR 42611, PR 45595"
        ),
        standing=("implied",),
        properties=(
            "issued-jobs-complete",
            "group-stores-complete",
            "every-started-send-ends",
            "completion-is-forwarded",
        ),
    ),
    Rule(
        id="V-07",
        topic="liveness",
        text="A pending chunk becomes ready or absent.",
        source="vLLM 0.32.0: v1/kv_offload/cpu/manager.py:365-397",
        standing=("implied",),
        properties=(
            "group-stores-complete",
            "issued-jobs-complete",
            "pending-chunk-has-one-store",
            "failed-transfer-affects-its-request-only",
            "pending-entry-settles",
        ),
    ),
    Rule(
        id="V-08",
        topic="liveness",
        text=(
            "A parked block becomes free once its step has been processed, also if no further step schedules anything."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2046",
        standing=("implied",),
        properties=(
            "parked-blocks-return",
            "parked-blocks-return-behind-their-step",
        ),
    ),
    Rule(
        id="V-09",
        topic="liveness",
        text="A request whose load failed makes progress.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3133-3151",
        standing=("seen",),
        properties=("failed-load-makes-progress",),
    ),
    Rule(
        id="V-10",
        topic="liveness",
        text="Requests that wait for loads never wait for each other's blocks in a circle.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1241-1251",
        standing=("implied",),
        properties=(
            "no-circular-wait-among-loads",
            "load-admission-leaves-the-rest",
        ),
    ),
    Rule(
        id="V-11",
        topic="liveness",
        text="has_pending_push_work becomes False after the last request.",
        source="vLLM 0.32.0: distributed/ec_transfer/ec_connector/cpu/scheduler/__init__.py:599",
        standing=("implied",),
        properties=("ended-work-comes-to-rest",),
    ),
    Rule(
        id="V-12",
        topic="liveness",
        text="A promoted request is scheduled before a request without blocks.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:912-919",
        standing=("implied",),
        properties=("loaded-is-visited-first",),
    ),
    Rule(
        id="V-13",
        topic="liveness",
        text="A reset of the cache that is refused succeeds once transfers have drained.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2898, v1/core/block_pool.py:827-866",
        standing=("seen",),
        properties=(
            "issued-jobs-complete",
            "held-requests-are-released",
            "a-reset-succeeds-once-the-engine-rests",
        ),
        outside=(
            "They say that transfers drain, and that no block is in use then; that the caller asks again is up to him, "
            "and no action of the model is owed."
        ),
    ),
    Rule(
        id="V-14",
        topic="liveness",
        text="A preempted request is resumed.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1070-1075",
        standing=("implied",),
        properties=(
            "preempted-request-is-resumed",
            "preempted-stores-are-flushed",
        ),
    ),
    Rule(
        id="V-15",
        topic="liveness",
        text="A deferral that waits for a store in flight does not stop the engine from ending that store.",
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1070-1075,"
            " v1/core/sched/scheduler.py:2813-2838"
        ),
        standing=("implied",),
        properties=(
            "lookup-is-answered",
            "lookup-waits-for-its-own-chunks-only",
            "deferral-has-a-transfer-behind-it",
            "deferral-ends",
        ),
    ),
)
