"""Invariants of how workers' reports are put together."""

from __future__ import annotations

from interlock.spec.rules.rule import Rule

AGGREGATION = (
    Rule(
        id="I-70",
        topic="aggregation",
        text="A completion is passed on once, after exactly the expected number of worker reports.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/utils.py:63-189",
        standing=("implied",),
        properties=(
            "an-operation-ends-with-its-last-report",
            "operation-reports-are-counted",
            "hand-over-words-are-counted",
            "a-job-ends-with-its-last-report",
        ),
    ),
    Rule(
        id="I-71",
        topic="aggregation",
        text="A failed load is passed on together with its completion.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/utils.py:171",
        standing=("implied",),
        properties=(
            "failed-load-is-also-finished",
            "merge-is-lossless",
            "sub-report-of-a-failure-is-of-an-end",
        ),
    ),
)
