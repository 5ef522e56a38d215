"""Invariants of requests."""

from __future__ import annotations

from interlock.spec.rules.rule import Rule

REQUESTS = (
    Rule(
        id="I-01",
        topic="requests",
        text=("A request that has not finished is in exactly one of the queues waiting, waiting with blocks, running."),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2457,2612,2693",
        standing=("implied",),
    ),
    Rule(
        id="I-02",
        topic="requests",
        text="A finished request is in no queue.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2692-2697,2294-2300",
        standing=("implied",),
    ),
    Rule(
        id="I-03",
        topic="requests",
        text="A finished request that the scheduler still has is held, and a release is owed to it.",
        source="vLLM 0.32.0, contract section 7",
        standing=("seen",),
    ),
    Rule(
        id="I-04",
        topic="requests",
        text=(
            "A request that waits for a load holds blocks, and exactly one load of it is outstanding or has "
            "been received."
        ),
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-05",
        topic="requests",
        text="Requests marked as received wait for a load.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3173,2706",
        standing=("implied",),
    ),
    Rule(
        id="I-06",
        topic="requests",
        text="Requests marked as failed wait for a load.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3153,2707,3344",
        standing=("implied",),
    ),
    Rule(
        id="I-07",
        topic="requests",
        text="A request that waits for a load has no scheduled tokens and no placeholders.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-08",
        topic="requests",
        text="A preempted request has no computed tokens and owns no blocks, or parked ones only.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1589-1593",
        standing=("implied",),
    ),
    Rule(
        id="I-09",
        topic="requests",
        text="Stale tokens are at most those in flight; both are zero when the pipeline is empty.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2082-2087",
        standing=("implied",),
    ),
    Rule(
        id="I-10",
        topic="requests",
        text=(
            "Computed tokens are at most the tokens with placeholders; after promotion at least one is left to compute."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3171",
        standing=("implied",),
    ),
    Rule(
        id="I-11",
        topic="requests",
        text="request_finished is called at most once, and once the request is gone exactly once.",
        source="vLLM 0.32.0, contract section 7",
        standing=("seen",),
    ),
    Rule(
        id="I-12",
        topic="requests",
        text="A request that owns blocks is not asked for external tokens.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-13",
        topic="requests",
        text="The blocks of a request are freed at most once.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2746-2749",
        standing=("implied",),
    ),
    Rule(
        id="I-14",
        topic="requests",
        text="A request stops waiting for its load only by the report of its end or by finishing.",
        source="vLLM 0.32.0, contract section 7",
        standing=("implied",),
    ),
    Rule(
        id="I-15",
        topic="requests",
        text=("An abort of a request that waits for a load is delayed if and only if the load has not been received."),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2703-2705",
        standing=("seen",),
    ),
    Rule(
        id="I-16",
        topic="requests",
        text="No token is delivered whose attention read a block that was later reported invalid.",
        source="vLLM 0.32.0, contract section 7",
        standing=("seen",),
    ),
)
