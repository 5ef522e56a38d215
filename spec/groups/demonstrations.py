"""Publicly reported failures that this module shows."""

from __future__ import annotations

from interlock.spec.groups.coverage import LOOKUP, RECENCY, TWO_READERS, TWO_STORES
from interlock.spec.language.settings import Demonstration

DEMONSTRATIONS = (
    Demonstration(
        failure="B-027",
        set={"stale_zero": "no"},
        slice=TWO_STORES,
        scope={"chunk": 3},
        property="job-lists-a-block-once",
        story=(
            "A sliding-window request computes two chunks and its window leaves the first block, which is then "
            "allocated for the third chunk. The store scan of one step plans all three: the job lists the block "
            "twice, once by the id that has gone stale and once by the new one, and its completion removes the "
            "fence of one block twice."
        ),
    ),
    Demonstration(
        failure="B-029",
        set={"coverage": "load_wider"},
        slice=LOOKUP,
        property="admitted-hit-stays-loadable",
        story=(
            "The windowed group has its last chunk stored and the one before evicted. The lookup asks about the "
            "last window only and answers with a hit; the load restores one chunk more, which is not there."
        ),
    ),
    Demonstration(
        failure="B-030",
        set={"hit_pin": "none"},
        slice=RECENCY,
        scope={"request": 2},
        property="admitted-hit-stays-loadable",
        story=(
            "The tier is full. A request's lookup has answered with a hit; before its load is prepared the tier "
            "evicts a chunk of that hit to make room, and the admitted hit has no longer all of its chunks."
        ),
    ),
    Demonstration(
        failure="B-031",
        set={"coverage": "store_narrower", "window": "two"},
        slice=RECENCY,
        property="stored-prompt-is-hit",
        story=(
            "Lookups ask for a window of two chunks, stores keep the last one of a prompt only. The scan passes "
            "over a chunk that a hit would need, nothing is evicted, and the lookup of the same prompt answers with "
            "nothing."
        ),
    ),
    Demonstration(
        failure="B-032",
        change="drop-conjunct:skip_chunk:has-a-reason",
        slice=LOOKUP,
        property="passed-chunk-is-served",
        story=(
            "The cursor goes past a chunk that was neither submitted nor stored already, and later hits stop there."
        ),
    ),
    Demonstration(
        failure="B-033",
        set={"coverage": "lookup_empty"},
        slice=LOOKUP,
        property="stored-prompt-is-hit",
        story=(
            "All groups are taken for a drafter's, so that a window of one chunk becomes none: a request stores its "
            "chunks in every group, nothing is evicted, and the lookup of an identical prompt answers with nothing."
        ),
    ),
    Demonstration(
        failure="B-037",
        set={"prompt_end": "kept"},
        slice=LOOKUP,
        property="restored-state-ends-where-counting-does",
        story=(
            "The prompt ends with a chunk boundary, and the hit ends there too: the restored state covers every "
            "token, yet the last one is computed again on top of it."
        ),
    ),
    Demonstration(
        failure="B-038",
        set={"hybrid_hits": "asserted"},
        slice=LOOKUP,
        property="every-hit-is-handled",
        story=(
            "On a model with a windowed (Mamba) group a prompt is stored; a second request hits externally, and "
            "the scheduler has no step for it: it asserts that such a model has no external tokens."
        ),
    ),
    Demonstration(
        failure="B-041",
        set={"reuse_count": "before_miss"},
        slice=LOOKUP,
        property="every-store-candidate-is-counted",
        story=(
            "Only what is seen again is stored. The lookup of a new prompt stops at its first miss, so the chunks "
            "behind it are not counted, and never come to be stored."
        ),
    ),
    Demonstration(
        failure="B-045",
        set={"hit_pin": "none"},
        slice=TWO_READERS,
        property="admitted-hit-stays-loadable",
        story=(
            "A lookup finds a chunk in the tier and pins nothing; before the request is allocated the chunk is "
            "evicted, and a second look would find nothing."
        ),
    ),
)
