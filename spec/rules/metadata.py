"""Rules of the metadata: what one schedule() hands to the workers."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

METADATA = (
    Rule(
        id="R-22",
        topic="metadata",
        text=(
            "build_connector_meta does not change the scheduler's output, and resets what the connector collected"
            " for this step."
        ),
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/base.py:585-590",
        standing=("documented",),
        properties=(
            "planned-jobs-go-with-this-metadata",
            "prefix-stores-are-planned-with-the-metadata",
            "store-is-listed-before-its-step",
            "a-save-is-launched-by-metadata-only",
        ),
        outside="The scheduler's output is no object of the model, so that it stays as it is cannot be said of it.",
    ),
    Rule(
        id="R-23",
        topic="metadata",
        text=(
            "build_connector_meta is called exactly once per schedule(), empty steps included; a load is in the"
            " metadata of the step that allocated for it."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1528",
        standing=("implied",),
        properties=(
            "a-step-message-per-worker",
            "planned-jobs-go-with-this-metadata",
            "metadata-arrives-with-its-step",
            "messages-are-not-duplicated",
            "registration-comes-once",
        ),
    ),
    Rule(
        id="R-24",
        topic="metadata",
        text=(
            "build_connector_meta may be called for a further step before the output of an earlier one has been"
            " processed: nothing may rely on lock-step."
        ),
        source="vLLM 0.32.0: v1/engine/core.py:698-812 (the batch queue)",
        standing=("implied", "seen"),
        properties=(
            "steps-are-processed-in-order",
            "unprocessed-steps-are-ordered",
            "mirror-advances-with-every-metadata",
            "the-newer-step-is-processed-next",
            "freed-blocks-have-no-writer",
        ),
    ),
    Rule(
        id="R-25",
        topic="metadata",
        text="Inside build_connector_meta the computed tokens do not yet count what this step schedules.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1593",
        standing=("implied",),
        properties=(
            "a-step-begins-where-one-ended",
            "stored-range-is-computed",
        ),
    ),
    Rule(
        id="R-26",
        topic="metadata",
        text=(
            "Finished and preempted ids are those since the last schedule(): a preempted id may be scheduled in"
            " the same output, and a finished id may equal a new one."
        ),
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1571-1642,2714-2749,2850-2866",
        standing=("implied",),
        properties=(
            "absent-request-left-nothing",
            "done-requests-are-forgotten",
            "preempted-stores-are-flushed",
            "mirror-equals-block-table",
            "every-end-is-to-be-told-in-pipeline",
        ),
        outside=(
            "A request id comes back in the models only after the metadata that tells of its end, never in the"
            " same one."
        ),
    ),
    Rule(
        id="R-27",
        topic="metadata",
        text="A resumed request may arrive among the new ones: its old block table is replaced, and not extended.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1418-1420",
        standing=("implied",),
        properties=(
            "mirror-equals-block-table",
            "cursor-within-mirror",
        ),
    ),
    Rule(
        id="R-28",
        topic="metadata",
        text=(
            "The source of a store planned for a finished request may have been allocated again in this very"
            " schedule(): then its flush is ordered before the forward, or the store is not planned."
        ),
        source=(
            "vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py:1837-1842,"
            " v1/simple_kv_offload/manager.py:688-698"
        ),
        standing=("implied",),
        properties=(
            "finish-store-carries-no-open-block",
            "fence-marks-reallocated-sources",
            "store-source-stable",
            "accepted-store-keeps-its-block",
            "what-is-left-over-is-still-there-in-pipeline",
        ),
        guards=(GuardOf(module="kv-transfer", action="build_connector_meta", conjunct="fenced-are-flushed"),),
    ),
    Rule(
        id="R-29",
        topic="metadata",
        text="A hand-over of a partial tail names block ids that are valid in the pass that offers them only.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1454-1472, v1/core/kv_cache_manager.py:871-895",
        standing=("implied",),
        outside="Partial blocks are not modelled: blocks are moved whole, and tails are not handed over.",
    ),
    Rule(
        id="R-30",
        topic="metadata",
        text="Metadata can be serialised; a worker needs nothing of the scheduler but that.",
        source=(
            "vLLM 0.32.0: v1/core/sched/scheduler.py:1528 (the metadata goes to the worker processes with the"
            " scheduler's output)"
        ),
        standing=("implied",),
        outside=(
            "About Python objects: serialisation is not modelled. That guards read their own site only is a rule"
            " of the language, not a property."
        ),
    ),
)
