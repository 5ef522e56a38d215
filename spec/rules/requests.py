"""Invariants of requests."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

REQUESTS = (
    Rule(
        id="I-01",
        topic="requests",
        text=("A request that has not finished is in exactly one of the queues waiting, waiting with blocks, running."),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2457,2612,2693",
        standing=("implied",),
        properties=(
            "queues-are-ordered",
            "holder-of-blocks-is-alive",
            "a-request-arrives-once",
            "an-engine-request-arrives-once",
            "a-lookup-is-begun-with-one-arrival",
            "a-delivered-request-arrives-once",
            "tiers-hear-of-one-arrival",
            "a-copied-request-arrives-once",
            "who-arrives-is-not-there-yet",
            "a-prompt-arrives-once",
            "an-encoder-request-arrives-once",
        ),
    ),
    Rule(
        id="I-02",
        topic="requests",
        text="A finished request is in no queue.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2692-2697,2294-2300",
        standing=("implied",),
        properties=("queues-are-ordered",),
    ),
    Rule(
        id="I-03",
        topic="requests",
        text="A finished request that the scheduler still has is held, and a release is owed to it.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2714-2749,3229-3235",
        standing=("seen",),
        properties=(
            "held-request-is-owed-a-signal",
            "nothing-is-owed-before-or-after",
        ),
    ),
    Rule(
        id="I-04",
        topic="requests",
        text=(
            "A request that waits for a load holds blocks, and exactly one load of it is outstanding or has been"
            " received."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1242-1341",
        standing=("implied",),
        properties=(
            "loading-holds-what-it-fills",
            "load-target-stays-owned",
            "loads-owed-are-open-loads",
            "loaded-request-has-no-open-load",
        ),
    ),
    Rule(
        id="I-05",
        topic="requests",
        text="Requests marked as received wait for a load.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3173,2706",
        standing=("implied",),
        properties=(
            "a-report-moves-only-a-loading-request",
            "loaded-request-has-no-open-load",
        ),
    ),
    Rule(
        id="I-06",
        topic="requests",
        text="Requests marked as failed wait for a load.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3153,2707,3344",
        standing=("implied",),
        properties=("noted-failure-is-of-the-present-loads",),
    ),
    Rule(
        id="I-07",
        topic="requests",
        text="A request that waits for a load has no scheduled tokens and no placeholders.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1242-1341",
        standing=("implied",),
        properties=(
            "only-running-requests-are-in-flight",
            "placeholders-are-owed",
            "samples-and-drafts-are-scheduled",
        ),
    ),
    Rule(
        id="I-08",
        topic="requests",
        text="A preempted request has no computed tokens and owns no blocks, or parked ones only.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1589-1593",
        standing=("implied",),
        properties=(
            "waiting-holds-nothing",
            "holder-of-blocks-is-alive",
            "preemption-gives-back-idle-blocks",
            "table-is-of-a-running-request",
        ),
    ),
    Rule(
        id="I-09",
        topic="requests",
        text="Stale tokens are at most those in flight; both are zero when the pipeline is empty.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2082-2087",
        standing=("implied",),
        properties=(
            "output-counters-nonnegative",
            "stale-output-changes-nothing",
            "idle-steps-schedule-nothing",
            "in-flight-is-what-steps-have-scheduled",
            "empty-pipeline-has-nothing-in-flight",
        ),
    ),
    Rule(
        id="I-10",
        topic="requests",
        text=(
            "Computed tokens are at most the tokens with placeholders; after promotion at least one is left to compute."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3171",
        standing=("implied",),
        properties=(
            "scheduled-token-is-known-or-owed",
            "placeholders-are-owed",
            "a-sample-follows-the-last-known-token",
            "computed-within-tokens",
            "a-token-is-left-to-compute",
            "promoted-request-has-a-token-left",
        ),
    ),
    Rule(
        id="I-11",
        topic="requests",
        text="request_finished is called at most once, and once the request is gone exactly once.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2679",
        standing=("seen",),
        properties=(
            "request-finished-comes-once",
            "a-copied-request-is-finished-once",
            "a-prompt-ends-once",
            "an-encoder-request-ends-once",
            "tiers-are-told-of-who-has-ended",
            "a-request-goes-once-it-has-finished",
            "a-completion-releases-what-has-finished",
            "sub-connector-answers-once",
        ),
    ),
    Rule(
        id="I-12",
        topic="requests",
        text="A request that owns blocks is not asked for external tokens.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:960-991",
        standing=("implied",),
        properties=(
            "waiting-holds-nothing",
            "deferred-by-lookup-holds-no-blocks",
            "match-is-of-who-waits",
            "a-request-looked-up-anew-holds-nothing",
        ),
        guards=(GuardOf(module="encoder", action="match_prefix", conjunct="nothing-computed"),),
    ),
    Rule(
        id="I-13",
        topic="requests",
        text="The blocks of a request are freed at most once.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2746-2749",
        standing=("implied",),
        properties=("released-exactly-once",),
    ),
    Rule(
        id="I-14",
        topic="requests",
        text="A request stops waiting for its load only by the report of its end or by finishing.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2649-2712,3222-3231",
        standing=("implied",),
        properties=(
            "nothing-is-owed-before-or-after",
            "loaded-request-has-no-open-load",
            "a-report-moves-only-a-loading-request",
        ),
    ),
    Rule(
        id="I-15",
        topic="requests",
        text=("An abort of a request that waits for a load is delayed if and only if the load has not been received."),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:2703-2705",
        standing=("seen",),
        properties=("cancelled-load-holds-while-it-is-owed",),
    ),
    Rule(
        id="I-16",
        topic="requests",
        text="No token is delivered whose attention read a block that was later reported invalid.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3237-3339; vLLM #49250 and #45146, open",
        standing=("seen",),
        properties=(
            "no-token-from-invalid-block",
            "forward-reads-own-prefix",
        ),
    ),
)
