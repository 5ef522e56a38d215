"""Publicly reported failures that this module shows."""

from __future__ import annotations

from interlock.spec.language.settings import Demonstration

DEMONSTRATIONS = (
    Demonstration(
        failure="B-165", change="drop-update:preempt:stale_in", slice="speculating", property="computed-nonnegative",
        story=(
            "A step computes the prompt and a guessed token and goes out; the next schedule() preempts the request and "
            "sets its counters to 0. Nothing says that the output under way is of the life before, so its rejected "
            "guess is subtracted from the reset count, which is -1 now."
        ),
    ),
    Demonstration(
        failure="B-056", set={"cached_count": "frozen"}, slice="resume",
        property="external-within-cached-within-prompt",
        story=(
            "The request is admitted with nothing cached, and that count stays. It is preempted by a reset of the "
            "prefix cache and admitted again with a block that the connector has meanwhile: 1 external token of 0 "
            "cached ones, so the local count that is reported is -1."
        ),
    ),
    Demonstration(
        failure="B-129", set={"cached_count": "frozen"}, slice="second_lookup",
        property="external-within-cached-within-prompt",
        story=(
            "The first lookup finds nothing, a token is computed, and its step is processed. After a preemption the "
            "second lookup finds more than the first did. The cached count is still the first one: local = 0 - 1."
        ),
    ),
    Demonstration(
        failure="B-067", change="drop-update:claim:placeholders", slice="decoding",
        property="scheduled-token-is-known-or-owed",
        story=(
            "The prompt is complete with one block to be loaded, so an output placeholder is reserved. The load fails: "
            "the computed count goes back, the placeholder does not. In the next step both prompt tokens are scheduled "
            "again and then one more, for an output that no step will bring."
        ),
    ),
    Demonstration(
        failure="B-137", set={"loading_hash": "at_start"}, slice="load_pair",
        property="no-token-from-invalid-block",
        story=(
            "The blocks of a load are addressable as soon as it begins. The load fails and they are free again, and "
            "still a hit: the next lookup, of the same request or another, takes one, and a token is computed on KV "
            "that was never loaded."
        ),
    ),
    Demonstration(
        failure="B-160", change="drop-update:block_load_fails:bad", slice="load_async",
        property="no-token-from-invalid-block",
        story=(
            "A block of an asynchronous load fails, but the set from which the worker reports does not learn of it. "
            "The step's report has an empty set and the load as finished, the request is promoted, and its token "
            "comes from the block that was never filled."
        ),
    ),
    Demonstration(
        failure="B-146", change="drop-update:load_breaks:broke", slice="load_async",
        property="no-token-from-invalid-block",
        story=(
            "A load breaks off; its end is counted, its error status is not kept. The request is reported as loaded "
            "and promoted, and its token comes from what else was in the blocks."
        ),
    ),
    Demonstration(
        failure="B-122", change="guard-false:expire_load", slice="load_progress", property="loading-request-goes-on",
        story=(
            "The other end of a load vanishes while the request waits for it. Steps go on, but no report ever "
            "names the request and no deadline ends the wait: it stays in remote wait, and would be held for ever "
            "once its client gives up."
        ),
    ),
    Demonstration(
        failure="B-035", change="drop-conjunct:publish_output:not-a-placeholder", slice="decoding",
        property="hashed-block-has-known-tokens",
        story=(
            "The step after the prompt's is scheduled before the prompt's output is there: its token is a placeholder. "
            "The cached blocks are counted from the computed tokens, placeholders included, so a block gets a hash "
            "although its token is not known."
        ),
    ),
    Demonstration(
        failure="B-063", set={"deferred_free": "none"}, slice="late_write_at_stop",
        property="computed-within-valid-prefix",
        story=(
            "The step after the prompt's is dispatched before the prompt's output is there. That output ends the "
            "request, and its blocks are free at once. They become the target of a load for the next request. Then "
            "the step runs and writes a block that the load has filled: the request counts what is not its prefix."
        ),
    ),
    Demonstration(
        failure="B-064", set={"zeroed_blocks": "all_new"}, slice="late_write",
        property="computed-within-valid-prefix",
        story=(
            "A block that is to be loaded is new, so the step zeroes it like all new ones. The load is faster than the "
            "step: it fills the block, the zeroing wipes it, and the request is promoted with zeroes."
        ),
    ),
    Demonstration(
        failure="B-065", set={"stale_output": "deliver"}, slice="hand_over", property="producer-ends-with-its-blocks",
        story=(
            "The step that samples the last token of a producer is dispatched, then a reset preempts the request and "
            "its blocks are freed. The output arrives and ends the request, which hands over no block at all."
        ),
    ),
)  # fmt: skip
