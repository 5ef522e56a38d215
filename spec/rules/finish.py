"""Rules of the end: finish, preemption, reset, and when the engine may stop."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

FINISH = (
    Rule(
        id="R-50",
        topic="finish",
        text="request_finished is called exactly once for a request, before its blocks are freed.",
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:112,621, v1/core/sched/scheduler.py:2679"
        ),
        standing=("documented", "seen"),
        properties=(
            "request-finished-comes-once",
            "a-copied-request-is-finished-once",
            "sub-connector-answers-once",
            "registration-comes-once",
        ),
    ),
    Rule(
        id="R-51",
        topic="finish",
        text=(
            "If request_finished returns True, the connector owns the blocks, and exactly one later report"
            " releases them."
        ),
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:112,621,"
            " v1/core/sched/scheduler.py:2714-2749,3229-3235"
        ),
        standing=("documented",),
        properties=(
            "released-exactly-once",
            "released-after-last-operation",
            "held-request-is-owed-a-signal",
            "delivery-held-leads-to-released",
            "held-blocks-return",
        ),
    ),
    Rule(
        id="R-52",
        topic="finish",
        text=(
            "request_finished may come without any question or allocation before it, while a load is in flight,"
            " or for a preempted request without blocks."
        ),
        source="vLLM 0.32.0: v1/engine/core.py:549-552",
        standing=("implied",),
        properties=(
            "request-finished-comes-once",
            "abort-is-legal-in-every-state",
            "storable-is-computed",
            "record-is-removed-on-every-exit",
        ),
    ),
    Rule(
        id="R-53",
        topic="finish",
        text="A connector without support for several groups is told of the blocks of one.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3045-3053",
        standing=("asserted",),
        outside=(
            "Which method is called depends on the connector's Python class; the models have no classes of interfaces."
        ),
    ),
    Rule(
        id="R-54",
        topic="finish",
        text=(
            "The blocks given at the finish are cut to the computed tokens, which may count tokens of steps that"
            " have not run."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3033-3036",
        standing=("implied",),
        properties=(
            "stored-range-is-computed",
            "storable-is-computed",
            "producer-ends-with-its-blocks",
        ),
    ),
    Rule(
        id="R-55",
        topic="finish",
        text="The status at the finish is final; only some of them mean that the whole prompt was computed.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2714-2749",
        standing=("implied",),
        properties=(
            "producer-ends-with-its-blocks",
            "what-is-handed-over-has-run",
            "consumer-uses-complete-kv-only",
        ),
    ),
    Rule(
        id="R-56",
        topic="finish",
        text="The finish of a request comes before the worker's reports of the same step are processed.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2230,2314,2330",
        standing=("implied",),
        outside=(
            "The models let the reports of a step come before or after the finish of a request in it, so nothing"
            " rests on this order."
        ),
    ),
    Rule(
        id="R-57",
        topic="finish",
        text="Request ids are unique while a job of the request is open.",
        source=(
            "vLLM 0.32.0: VLLM_DISABLE_REQUEST_ID_RANDOMIZATION (unless it is set, the front end makes request"
            " ids unique)"
        ),
        standing=("implied",),
        properties=(
            "absent-request-left-nothing",
            "no-operation-outlives-its-request",
            "hit-count-ends-with-its-request",
            "new-request-inherits-nothing",
            "a-notice-ends-the-hand-over-that-it-is-about",
            "remembered-notice-is-of-its-own-consumer",
            "released-after-last-operation",
        ),
        outside=(
            "That ids are unique is the front end's doing, and no module relies on it: in kv-transfer and engine an id "
            "may come again while a job or a step of its earlier life is open (jobs have ids of their own), and in "
            "delivery and encoder after its release. In admission no id comes again."
        ),
    ),
    Rule(
        id="R-58",
        topic="finish",
        text="has_pending_push_work is True while progress needs the engine to step, and becomes False in the end.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:663-673",
        standing=("documented",),
        properties=(
            "engine-rests-with-nothing-pending",
            "issued-jobs-complete",
            "steps-have-a-reason",
            "ended-work-comes-to-rest",
        ),
        guards=(GuardOf(module="kv-transfer", action="rest", conjunct="no-work-is-reported"),),
    ),
    Rule(
        id="R-59",
        topic="finish",
        text="While has_pending_block_frees is True the scheduler does not preempt; so it is True for a time only.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:788-792",
        standing=("documented",),
        properties=(
            "no-preemption-while-frees-are-coming",
            "wanted-block-comes",
        ),
        guards=(GuardOf(module="admission", action="preempt", conjunct="no-frees-are-coming"),),
    ),
    Rule(
        id="R-60",
        topic="finish",
        text="A preemption is told by the preempted ids of the next metadata only; there is no request_finished.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1571-1614",
        standing=("implied",),
        properties=(
            "preempted-stores-are-flushed",
            "preempted-request-has-stores-only",
            "preemption-gives-back-idle-blocks",
        ),
    ),
    Rule(
        id="R-61",
        topic="finish",
        text=(
            "requires_kv_delivery decides whether the late output of a preempted request is dropped; caches say False."
        ),
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:197-206,"
            " distributed/kv_transfer/kv_connector/v1/offloading_connector.py:74"
        ),
        standing=("implied",),
        properties=(
            "producer-ends-with-its-blocks",
            "stale-output-changes-nothing",
        ),
        guards=(GuardOf(module="engine", action="stop_stale", conjunct="delivered-though-stale"),),
    ),
    Rule(
        id="R-62",
        topic="finish",
        text=(
            "reset_cache is called between steps. False means: not now, ask again. Transfers in flight stay safe:"
            " flushed, or with references of their own. A refused reset may be half done: what is forgotten stays"
            " forgotten, what is ready is served as before."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2898",
        standing=("implied",),
        properties=(
            "stale-job-touches-nothing",
            "after-reset-nothing-old-is-served",
            "a-refused-reset-leaves-what-is-ready",
            "late-report-settles-nothing",
            "slot-of-a-live-operation-is-not-free",
            "what-a-reset-found-in-flight-is-out-of-sight",
            "nothing-stored-before-reset-is-served",
        ),
        guards=(GuardOf(module="kv-transfer", action="reset_cache", conjunct="between-steps"),),
    ),
    Rule(
        id="R-63",
        topic="finish",
        text=(
            "A connector that holds references to GPU blocks makes a reset of the prefix cache fail until they"
            " are dropped."
        ),
        source="vLLM 0.32.0: v1/core/block_pool.py:837",
        standing=("implied",),
        properties=("used-block-has-a-user", "pinned-source-is-in-use", "refused-reset-keeps-hashes"),
    ),
)
