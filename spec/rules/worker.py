"""Rules of the workers' half: flush, load, save, and what is reported."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

WORKER = (
    Rule(
        id="R-31",
        topic="worker",
        text=(
            "handle_preemptions returns only when reads of blocks that are about to be overwritten are safe. It"
            " is called at every step, before the metadata is bound."
        ),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:311-315",
        standing=("documented",),
        properties=(
            "store-source-stable",
            "store-source-stable-in-pipeline",
            "pipeline-flush-is-a-barrier",
            "ready-chunk-holds-its-prefix",
            "group-store-source-stable",
        ),
    ),
    Rule(
        id="R-32",
        topic="worker",
        text=(
            "The flush comes before new blocks are zeroed or copied on write. One model runner has them the other"
            " way round."
        ),
        source=(
            "vLLM 0.32.0: v1/worker/gpu_model_runner.py:1201,3971,"
            " v1/worker/gpu/model_runner.py:1259-1270,1733-1745,2003,2028"
        ),
        standing=("implied",),
        properties=(
            "store-source-stable",
            "store-source-stable-in-pipeline",
            "pipeline-flush-is-a-barrier",
        ),
        outside="Every new block is zeroed in the model, and a copy on write is not told apart from zeroing.",
    ),
    Rule(
        id="R-33",
        topic="worker",
        text=("Loads that this forward needs are complete, or ordered, before it; others may start after its launch."),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:318-321",
        standing=("documented",),
        properties=(
            "forward-reads-own-prefix",
            "no-token-from-invalid-block",
            "forward-reads-its-items",
        ),
    ),
    Rule(
        id="R-34",
        topic="worker",
        text=(
            "The source of an asynchronous store stays intact until its completion is reported; else"
            " wait_for_save blocks."
        ),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:370-380",
        standing=("documented",),
        properties=(
            "store-source-stable",
            "accepted-store-keeps-its-block",
            "open-store-has-its-block",
            "released-after-last-operation",
        ),
    ),
    Rule(
        id="R-35",
        topic="worker",
        text="wait_for_save is called once per step, empty steps included (up to 0.28 not without a forward).",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/worker.py:259-271",
        standing=("documented",),
        properties=(
            "a-step-message-per-worker",
            "issued-jobs-complete",
            "issued-jobs-complete-in-pipeline",
        ),
        outside="That get_finished queues the stores of a step without a forward in 0.28 is not modelled.",
    ),
    Rule(
        id="R-36",
        topic="worker",
        text=(
            "A copy from the GPU is ordered behind the computation that wrote its source, a copy to the GPU"
            " behind the zeroing of its destination."
        ),
        source="vLLM 0.32.0: v1/kv_offload/cpu/gpu_worker.py:659-672",
        standing=("implied",),
        properties=(
            "ready-chunk-holds-its-prefix",
            "no-token-from-invalid-block",
        ),
        outside=(
            "The model has no streams: a worker runs its step in one go, and queues the copies of its stores behind it."
        ),
    ),
    Rule(
        id="R-37",
        topic="worker",
        text="A worker reports a save as finished only for ids that it was given as finished requests.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:395",
        standing=("documented",),
        properties=(
            "registration-comes-once",
            "ended-operations-left-nothing",
            "no-word-on-an-unknown-hand-over",
        ),
    ),
    Rule(
        id="R-38",
        topic="worker",
        text="finished_recving names requests that the scheduler has, and that wait for a load or have finished.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3224,3230",
        standing=("asserted", "seen"),
        properties=(
            "no-report-for-unknown-request",
            "a-report-moves-only-a-loading-request",
        ),
    ),
    Rule(
        id="R-39",
        topic="worker",
        text="finished_sending names requests that the scheduler still has and that have finished.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3234,2747",
        standing=("asserted", "seen"),
        properties=("no-word-on-an-unknown-hand-over", "a-completion-releases-what-has-finished"),
    ),
    Rule(
        id="R-40",
        topic="worker",
        text="Each worker reports an id at most once per direction.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3230, distributed/kv_transfer/kv_connector/utils.py:92-99",
        standing=("asserted", "seen"),
        properties=(
            "ended-operations-left-nothing",
            "operation-reports-are-counted",
            "hand-over-words-are-counted",
            "no-report-for-unknown-request",
            "reports-are-counted",
        ),
    ),
    Rule(
        id="R-41",
        topic="worker",
        text="A held request gets at most one release: receiving or sending, not both.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3234",
        standing=("asserted", "seen"),
        properties=(
            "released-exactly-once",
            "released-after-last-operation",
            "no-word-on-an-unknown-hand-over",
        ),
    ),
    Rule(
        id="R-42",
        topic="worker",
        text="All workers report, in any order, over any number of steps.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/utils.py:63-189",
        standing=("implied",),
        properties=(
            "reports-are-counted",
            "operation-reports-are-counted",
            "hand-over-words-are-counted",
            "every-started-load-ends",
            "every-started-send-ends",
        ),
    ),
    Rule(
        id="R-43",
        topic="worker",
        text=(
            "The blocks that an asynchronous load left invalid are reported no later than its completion, and the"
            " completion is still reported."
        ),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:420-424",
        standing=("documented",),
        properties=(
            "a-published-load-is-whole",
            "a-failed-load-is-computed-instead",
            "failed-load-is-also-finished",
            "no-token-from-invalid-block",
            "computed-within-valid-prefix",
            "only-a-failed-load-is-computed-again",
        ),
        guards=(GuardOf(module="engine", action="finished_recving", conjunct="failure-taken-first"),),
    ),
    Rule(
        id="R-44",
        topic="worker",
        text=(
            "The blocks that a synchronous load left invalid are reported in the step in which they were to be read."
        ),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:425",
        standing=("documented", "seen"),
        properties=(
            "no-token-from-invalid-block",
            "computed-within-valid-prefix",
            "hashed-block-is-valid-or-being-recomputed",
        ),
    ),
    Rule(
        id="R-45",
        topic="worker",
        text=(
            "Invalid blocks are reported by id only for models with one group; models with several report failed"
            " requests."
        ),
        source="vLLM 0.32.0: v1/core/block_pool.py:819, v1/core/sched/scheduler.py:3365",
        standing=("asserted",),
        outside=(
            "Where blocks are reported as invalid (engine), the model has one group; the error that several"
            " groups would raise does not arise."
        ),
    ),
    Rule(
        id="R-46",
        topic="worker",
        text="A request reported as failed is also reported as received.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:91-93",
        standing=("documented", "seen"),
        properties=(
            "failed-load-is-also-finished",
            "sub-report-of-a-failure-is-of-an-end",
        ),
    ),
    Rule(
        id="R-47",
        topic="worker",
        text="Invalid ids name blocks that their owner still holds: the scheduler matches by id alone.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:3281-3291",
        standing=("implied",),
        properties=(
            "loading-holds-what-it-fills",
            "load-target-stays-owned",
        ),
        outside=(
            "Said of asynchronous loads: the request of a synchronous one may be aborted before the report on its"
            " blocks."
        ),
    ),
    Rule(
        id="R-48",
        topic="worker",
        text="What workers tell the scheduler is drained at each step, and sums of it do not depend on the order.",
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/utils.py:63-189,"
            " distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1952-1988"
        ),
        standing=("implied",),
        properties=(
            "merge-is-lossless",
            "a-job-ends-with-its-last-report",
            "reports-are-counted",
        ),
    ),
    Rule(
        id="R-49",
        topic="worker",
        text="Every worker acknowledges every job exactly once, also those that wrote nothing.",
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1961-1965,"
            " distributed/kv_transfer/kv_connector/v1/offloading/worker.py:288"
        ),
        standing=("asserted", "seen"),
        properties=(
            "reports-are-counted",
            "pipeline-reports-are-counted",
            "ended-jobs-left-nothing",
            "pipeline-ended-stores-left-nothing",
            "a-job-ends-with-its-last-report",
            "acknowledged-store-is-open",
            "unknown-report-is-never-discarded",
        ),
        outside="Workers without a part in a job (replicated layouts) are not told apart: every worker copies.",
    ),
)
