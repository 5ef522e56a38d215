"""Failures that were reported in public, as counterexamples of this specification."""

from __future__ import annotations

from interlock.spec.language.settings import Demonstration

_SIMPLE = "vllm-0.32.0/SimpleCPUOffloadConnector"

DEMONSTRATIONS = (
    Demonstration(
        failure="B-046",
        preset="vllm-0.20.2/SimpleCPUOffloadConnector",
        slice="dedup",
        property="no-block-stored-twice-in-flight",
        story=(
            "A stores a block that B has found in the GPU's prefix cache. The store is in flight when the scan of B "
            "comes to the block, a step later: the set of blocks in flight was forgotten with the step, no hash is "
            "registered yet, and the block is stored a second time."
        ),
    ),
    Demonstration(
        failure="B-092",
        change="drop-conjunct:build_connector_meta:fenced-are-flushed",
        slice="tiny",
        property="ready-chunk-holds-its-prefix",
        story=(
            "The store of a block is queued. Its request is preempted, the block is allocated again and the next "
            "forward writes it; the copy happens after that, and its report makes the chunk visible under the key of "
            "the prefix that the block held before."
        ),
    ),
    Demonstration(
        failure="B-128",
        change="drop-conjunct:build_connector_meta:fenced-are-flushed",
        slice="tiny",
        property="store-source-stable",
        story=(
            "A request is preempted while its store is queued, and the flush is a no-op: the metadata goes out without "
            "it. The block is allocated again, and the forward overwrites what the copy has still to read."
        ),
    ),
    Demonstration(
        failure="B-192",
        change="drop-conjunct:build_connector_meta:fenced-are-flushed",
        slice="at_finish",
        property="ready-chunk-holds-its-prefix",
        story=(
            "The same fault in a connector without a preemption hook: nothing waits for the store or cancels it when "
            "its request loses the block, so the bytes of whoever has it next go under the old key."
        ),
    ),
    Demonstration(
        failure="B-042",
        set={"kv_reset": "ignored"},
        slice="reset",
        property="after-reset-nothing-old-is-served",
        story=(
            "A block is stored and its chunk is ready. The request ends, no block is in use, the reset reports "
            "success, and the chunk is still found: what it holds was computed before the reset."
        ),
    ),
    Demonstration(
        failure="B-043",
        set={"kv_reset": "forget"},
        slice="reset",
        property="stale-job-touches-nothing",
        story=(
            "A transfer into a chunk is in flight. The reset frees the chunk and neither drains nor fences the "
            "transfer; a new store takes the chunk, and the late copy can still write into it."
        ),
    ),
    Demonstration(
        failure="B-178",
        preset=_SIMPLE,
        change="drop-send:report:done",
        slice="tiny",
        property="issued-jobs-complete",
        story=(
            "A worker's report on a store is lost. Nothing bounds the wait for it: the job stays open and its "
            "reference on the block is never given back."
        ),
    ),
    Demonstration(
        failure="B-124",
        change="drop-update:acknowledge_failure:failure_seen",
        slice="partial_failure",
        property="ready-chunk-holds-its-prefix",
        story=(
            "The store fails on one worker and succeeds on the other. The failure is not remembered, so the last "
            "report makes the chunk visible to lookups although one shard of it was never written."
        ),
    ),
)  # fmt: skip
