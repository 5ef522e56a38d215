"""Publicly reported failures, shown: the setting that brings each back, and its counterexample in its own terms."""

from __future__ import annotations

from interlock.spec.language.settings import Demonstration

_RELEASED, _UNKNOWN, _OWED = (
    "released-after-last-operation", "no-report-for-unknown-request", "held-request-is-owed-a-signal",
)  # fmt: skip
_READS, _TOLD = "consumer-reads-what-was-promised", "ended-consumer-is-known-to-the-producer"


def _switch(failure: str, slice_: str, property_: str, story: str, **switches: str) -> Demonstration:
    return Demonstration(failure=failure, set=switches, slice=slice_, property=property_, story=story)


def _change(failure: str, slice_: str, property_: str, change: str, story: str) -> Demonstration:
    return Demonstration(failure=failure, change=change, slice=slice_, property=property_, story=story)


_ENGINE = (
    _switch(
        "B-053", "operations", _RELEASED,
        "A request has a load and a send outstanding and is cancelled. The load's completion arrives and its blocks "
        "are given back, while the send still reads them.",
        release_on="any_signal",
    ),
    _switch(
        "B-053", "operations", _UNKNOWN,
        "The same in one step: both completions are under way when the request is cancelled. The first one releases "
        "it, the second one finds no request: the assertion of the report.",
        release_on="any_signal",
    ),
    _switch(
        "B-072", "operations", _UNKNOWN,
        "Two connectors load one request. The first report makes it loaded, because loads are not counted per "
        "connector; the second report finds it neither loading nor held.",
        load_counting="first_report",
    ),
    _switch(
        "B-073", "operations", _RELEASED,
        "Two connectors load one request; the fast one reports, so nothing counts as outstanding. The request ends "
        "and its blocks are given back while the slow pull has only begun to write them.",
        load_counting="first_report",
    ),
    _switch(
        "B-121", "operations", _OWED,
        "A request runs and ends without any store submitted, and the connector says that it keeps the blocks: no "
        "completion will ever come for it.",
        finish_answer="always_keep",
    ),
    _switch(
        "B-055", "loaded_content", "running-request-has-its-own-kv",
        "A request is cancelled while a load fills its block. The block goes to a second request, which computes its "
        "KV there and runs; then the late transfer writes the first request's KV over it.",
        cancel_frees="at_once",
    ),
    _switch(
        "B-055", "operations", _OWED,
        "The mirror race: the load's completion has just been handled when the request is cancelled. The scheduler "
        "waits for a second completion, which nobody owes: the blocks leak.",
        cancel_frees="after_any_load",
    ),
    _switch(
        "B-159", "operations", _OWED,
        "A request is aborted while its load is with the worker, which is told so. The load has ended, but the filter "
        "of aborted requests swallows the report: the request is held for a completion that never comes.",
        abort_completion="filtered",
    ),
    _switch(
        "B-091", "operations_by_workers", "bookkeeping-changes-no-verdict",
        "A load has ended; reading its statistics raises, and the handler marks it as failed.",
        telemetry="decides",
    ),
    _change(
        "B-096", "operations_by_workers", "every-started-load-ends", "guard-false:load_expires",
        "One worker has loaded; the remote engine dies under the other one's transfer. Without a deadline of its own "
        "that worker never reports: the load never ends, the request ends and stays held with its blocks.",
    ),
    _change(
        "B-141", "operations", "cpu-copy-is-of-a-preempted-request", "drop-update:finish:cpu_copy",
        "A running request is preempted with its KV on the CPU, and the client aborts it while it waits: it is gone, "
        "the CPU copy stays.",
    ),
    _change(
        "B-154", "loaded_content", "terminal-state-is-set-once",
        "swap-target:late_end:delivery_transfer.expired.expired",
        "A transfer has failed by its deadline; then its end comes after all, and the completion code turns the "
        "failure into a success.",
    ),
)  # fmt: skip

_HAND_OVER = (
    _switch(
        "B-084", "lease", _TOLD,
        "The consumer reads and gives its notice before the producer's worker has registered the request. The worker "
        "does not know it and drops the notice: only the lease will end the hand-over.",
        early_ack="drop",
    ),
    _switch(
        "B-090", "two_leases", _TOLD,
        "The consumer, whose own id of the request is another one, sends its notice under that id. The producer does "
        "not know it: the request that has been read waits for a notice that was given.",
        transfer_key="own_id",
    ),
    _switch(
        "B-104", "receive_store", "awaited-tensor-is-on-its-way",
        "The consumer waits for a tensor under its own request id; the producer pushes it under its own: nothing is "
        "on its way under the key that is waited for, and nothing will be.",
        transfer_key="own_id",
    ),
    _switch(
        "B-161", "lease_and_send", "no-word-on-an-unknown-hand-over",
        "The lease runs out, the request is released. Then the consumer reads and gives its notice, the worker "
        "reports the hand-over a second time, and the scheduler has no such request.",
        lease_race="two_winners",
    ),
    _switch(
        "B-085", "two_leases", "every-expired-lease-is-reclaimed",
        "Two leases; the later one has run out, the one at the head still lives. The sweep looks at the head and "
        "stops: the expired lease is not reclaimed.",
        reaper="head_only",
    ),
    _switch(
        "B-087", "handed_over_content", _READS,
        "The lease runs out before the slow consumer comes. The block is released, a second request computes its KV "
        "there, and the consumer reads and uses that.",
        read_after_lease="unchecked",
    ),
    _switch(
        "B-151", "handed_over_content", _READS,
        "The pass over finished requests drops the only reference to the blocks of a prefill that has just been "
        "handed over. Another request gets the block and computes there; then the consumer reads it, and uses that.",
        finish_answer="never_keep",
    ),
    _change(
        "B-086", "lease", "lease-lives-while-its-consumer-waits", "drop-update:renew:overdue",
        "The consumer waits and beats; the worker hears it, but the lease is not renewed, and the next sweep ends it.",
    ),
    _change(
        "B-089", "lease", _TOLD, "drop-send:peer_lets_go:pulled",
        "The consumer rejects its request before admission and ends it without a word to the producer, whose blocks "
        "stay held until the lease runs out.",
    ),
    _change(
        "B-142", "handed_over_short", "consumer-uses-complete-kv-only", "drop-conjunct:peer_accepts:length-agrees",
        "The prefill is cut short and handed over; the consumer does not compare the length and decodes on it.",
    ),
    _change(
        "B-163", "lease", "cancel-reaches-the-connector-as-a-cancel", "drop-conjunct:hand_over:no-cancel-accepted",
        "The client cancels during the last step. The step's output is handled as if nothing had happened: the "
        "request ends normally and its blocks are kept for a consumer that will never come.",
    ),
    _change(
        "B-139", "drained_ranks", "aborting-rank-is-answered", "drop-conjunct:poll_drain:writes-are-over",
        "Two ranks abort while the producer still writes. The poll takes one rank's target off before the write is "
        "over, so nobody tells that rank when it is: it waits for ever, the other one is told.",
    ),
)  # fmt: skip

_CONNECTORS = (
    _change(
        "B-074", "composite_load", "read-locks-are-returned", "drop-conjunct:sub_enters:tokens-granted",
        "Two sub-connectors have a hit and lock it; one gets the tokens. The other one goes by its own hit, waits for "
        "a load that is never ordered, and keeps its read locks.",
    ),
    _change(
        "B-130", "composite_finish", "one-producer-of-parameters",
        "drop-conjunct:count_producer:parameters-not-empty",
        "At the finish the offloading connector returns an empty dict and the network connector its parameters. Both "
        "are counted as producers of transfer parameters, and of two the composite raises.",
    ),
    _change(
        "B-185", "composite_finish", "merge-is-lossless", "drop-update:merge_reports:merged_failed",
        "A sub-connector reports a failed load; the composite's report has every field but that one.",
    ),
    _change(
        "B-105", "receive_store", "placed-buffer-is-freed", "guard-false:free_buffer",
        "A tensor has been copied into its blocks, and its memory is not freed while the request runs.",
    ),
    _change(
        "B-106", "receive_store", "receive-store-has-room-for-what-it-holds",
        "drop-conjunct:credit_budget:memory-is-freed",
        "The budget is given back when the tensor is received; a second tensor is let in while the first is still "
        "in memory.",
    ),
)  # fmt: skip

DEMONSTRATIONS = (*_ENGINE, *_HAND_OVER, *_CONNECTORS)
