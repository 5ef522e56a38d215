"""Rules of the end: finish, preemption, reset, and when the engine may stop."""

from __future__ import annotations

from interlock.spec.rules.rule import Rule

FINISH = (
    Rule(
        id="R-50",
        topic="finish",
        text="request_finished is called exactly once for a request, before its blocks are freed.",
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:112,621, v1/core/sched/scheduler.py:2679"
        ),
        standing=(
            "documented",
            "seen",
        ),
    ),
    Rule(
        id="R-51",
        topic="finish",
        text=(
            "If request_finished returns True, the connector owns the blocks, and exactly one later report "
            "releases them."
        ),
        source="vLLM 0.32.0, contract section 6.2",
        standing=("documented",),
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
    ),
    Rule(
        id="R-53",
        topic="finish",
        text="A connector without support for several groups is told of the blocks of one.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3045-3053",
        standing=("asserted",),
    ),
    Rule(
        id="R-54",
        topic="finish",
        text=(
            "The blocks given at the finish are cut to the computed tokens, which may count tokens of steps "
            "that have not run."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3033-3036",
        standing=("implied",),
    ),
    Rule(
        id="R-55",
        topic="finish",
        text="The status at the finish is final; only some of them mean that the whole prompt was computed.",
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-56",
        topic="finish",
        text="The finish of a request comes before the worker's reports of the same step are processed.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2230,2314",
        standing=("implied",),
    ),
    Rule(
        id="R-57",
        topic="finish",
        text="Request ids are unique while a job of the request is open.",
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-58",
        topic="finish",
        text=("has_pending_push_work is True while progress needs the engine to step, and becomes False in the end."),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:663-673",
        standing=("documented",),
    ),
    Rule(
        id="R-59",
        topic="finish",
        text=("While has_pending_block_frees is True the scheduler does not preempt; so it is True for a time only."),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:788-792",
        standing=("documented",),
    ),
    Rule(
        id="R-60",
        topic="finish",
        text=("A preemption is told by the preempted ids of the next metadata only; there is no request_finished."),
        source="vLLM 0.32.0, contract section 6.2",
        standing=("implied",),
    ),
    Rule(
        id="R-61",
        topic="finish",
        text=(
            "requires_kv_delivery decides whether the late output of a preempted request is dropped; caches say False."
        ),
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:197-206, "
            "kv_connector/v1/offloading_connector.py:74"
        ),
        standing=("implied",),
    ),
    Rule(
        id="R-62",
        topic="finish",
        text=(
            "reset_cache is called between steps. False means: not now, ask again. Transfers in flight stay "
            "safe: flushed, or with references of their own."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2898",
        standing=("implied",),
    ),
    Rule(
        id="R-63",
        topic="finish",
        text=(
            "A connector that holds references to GPU blocks makes a reset of the prefix cache fail until they "
            "are dropped."
        ),
        source="vLLM 0.32.0: v1/core/block_pool.py:837",
        standing=("implied",),
    ),
)
