"""Invariants of encoder-cache entries."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

ENCODER_ENTRIES = (
    Rule(
        id="I-60",
        topic="encoder entries",
        text="The encoder cache's used, freeable and free slots make up its size.",
        source="vLLM 0.32.0: v1/core/encoder_cache_manager.py:19-310",
        standing=("implied",),
        properties=("encoder-budget-adds-up",),
    ),
    Rule(
        id="I-61",
        topic="encoder entries",
        text="An encoder entry without users is freeable, and the other way round.",
        source="vLLM 0.32.0: v1/core/encoder_cache_manager.py:246-294",
        standing=("implied",),
        properties=(
            "used-entry-is-referenced",
            "unused-entry-is-freeable",
        ),
    ),
    Rule(
        id="I-62",
        topic="encoder entries",
        text="An entry that workers are told to free is not in the cache at that moment.",
        source="vLLM 0.32.0: v1/core/encoder_cache_manager.py:305-310",
        standing=("implied",),
        properties=("evicted-and-told",),
    ),
    Rule(
        id="I-63",
        topic="encoder entries",
        text="An entry that counts as cached at the end of a step was encoded or loaded by a step up to it.",
        source="vLLM 0.32.0: v1/core/encoder_cache_manager.py:208-240",
        standing=("implied",),
        properties=("cached-entry-is-on-the-workers",),
    ),
    Rule(
        id="I-64",
        topic="encoder entries",
        text="An encoder entry that is not ready, or pinned, cannot be evicted.",
        source="vLLM 0.32.0: distributed/ec_transfer/ec_connector/cpu/scheduler/embedding_cache.py",
        standing=("implied",),
        properties=("encoder-pool-accounting",),
        guards=(GuardOf(module="encoder", action="evict_pool", conjunct="on-the-list"),),
    ),
    Rule(
        id="I-65",
        topic="encoder entries",
        text="The pin of an encoder load is released exactly once.",
        source="vLLM 0.32.0: distributed/ec_transfer/ec_connector/cpu/scheduler/__init__.py:576-588",
        standing=("implied",),
        properties=(
            "encoder-load-pin-released-once",
            "encoder-load-reports-are-counted",
            "encoder-loads-end",
        ),
    ),
    Rule(
        id="I-66",
        topic="encoder entries",
        text="An encoder entry that is not ready has a save or fetch outstanding.",
        source="vLLM 0.32.0: distributed/ec_transfer/ec_connector/cpu/scheduler/__init__.py:449-588",
        standing=("implied",),
        properties=("in-transit-has-a-transfer",),
        outside=(
            "Fetches only. The producer's side (a place in the pool taken for what this step encodes, the save in its"
            " metadata, the worker's report, mark_ready) is not modelled: items come by transfers from elsewhere."
        ),
    ),
    Rule(
        id="I-67",
        topic="encoder entries",
        text="A scheduled range does not begin inside an item whose embedding is nowhere.",
        source="vLLM 0.32.0: v1/core/sched/scheduler.py:1922-1941",
        standing=("implied",),
        properties=(
            "entered-feature-has-its-entry",
            "forward-reads-its-items",
            "reached-items-are-read",
        ),
    ),
)
