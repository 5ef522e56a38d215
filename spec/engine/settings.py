"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.language.settings import Preset, Slice, expect

SOUND = {
    "recovery_base": "computed_minus_in_flight", "pipeline": "two", "load_failure_policy": "recompute",
    "invalid_hash": "evict", "in_flight_output": "drop", "invalid_scan": "all_holders", "reoffer": "suppressed",
    "shared_recompute": "awaited", "loading_hash": "at_promotion", "cached_count": "refreshed",
    "deferred_free": "fenced", "zeroed_blocks": "without_loads", "stale_output": "drop",
}  # fmt: skip
_RELEASED = {
    **SOUND, "recovery_base": "computed_minus_scheduled", "invalid_hash": "keep", "in_flight_output": "deliver",
    "invalid_scan": "running_and_loading", "reoffer": "allowed", "shared_recompute": "trusted",
}  # fmt: skip
"""With the policy recompute, which users of vLLM have to choose: fail is its default."""
PRESETS = (
    Preset(name="interlock", values=SOUND, doc="Interlock's own scheduler rules; the default."),
    Preset(
        name="seed",
        values={**SOUND, "recovery_base": "computed_minus_scheduled", "pipeline": "one"},
        doc="PR 38096 as it was made, at the pipeline depth at which it is right.",
    ),
    Preset(
        name="vllm-0.18.1",
        values={
            **_RELEASED, "recovery_base": "cached_tokens", "cached_count": "frozen", "deferred_free": "none",
        },
        doc="The last release whose recovery goes by the count of cached tokens of the first admission.",
    ),
    Preset(
        name="vllm-0.19.1",
        values={**_RELEASED, "cached_count": "frozen", "deferred_free": "none"},
        doc="The first releases with PR 38096.",
    ),
    Preset(name="vllm-0.32.0", values=_RELEASED, doc="With the defects D1, D2, D8 and D9 of the contract."),
)  # fmt: skip

_ASYNC = (
    "offer_async", "begin_load", "promote", "retry", "take_failure", "fail_failure", "finished_recving",
    "recover_loading", "fail_loading", "block_load_fails", "load_arrives", "load_breaks", "load_vanishes",
    "expire_load",
)  # fmt: skip
_SYNC = ("offer_sync", "sync_block_fails")
_DEFER = ("defer_by_lookup", "ask_again")
_ENTRY = ("lose_entry", "inflate_entry")
_LATE = ("withhold_report",)

_STOP = ("stop", "stop_stale")
_DRAFT = ("draft", "reject_draft", "publish_output")
_RARE = ("decode", *_DRAFT, "reset_running", *_STOP)
_INVALID = ("claim", "keep_base", "fail_running")
_HELD = ("compute_held", "take_over")
_REDO = (*_HELD, "admit_refused")
_BUT_PUBLISH = tuple(a for a in _RARE if a != "publish_output")

SLICES = (
    Slice(
        name="share",
        remove=(*_ASYNC, *_DEFER, *_ENTRY, *_LATE, *_BUT_PUBLISH, "preempt", "admit_refused"),
        scope={"request": 2, "block": 3, "slot": 1},
        doc="Two requests share a block whose load fails; either may end at any time.",
    ),
    Slice(
        name="share_overlap",
        remove=(*_ASYNC, *_DEFER, *_ENTRY, *_LATE, *_RARE, "preempt", "finish", "admit_refused", "take_over"),
        scope={"request": 2, "block": 3, "slot": 2},
        doc="Two requests share a block whose load fails, with overlapping steps.",
    ),
    Slice(
        name="victim",
        remove=(
            *_INVALID,
            *_ASYNC,
            *_SYNC,
            *_DEFER,
            *_ENTRY,
            *_LATE,
            *_RARE,
            "finish",
            "admit_refused",
            "compute_held",
            "take_over",
        ),
        scope={"request": 2, "block": 2, "slot": 1},
        doc="Two requests share a block, and the one that was to compute it is preempted in the same pass.",
    ),
    Slice(
        name="resume",
        remove=("keep_base", *_ASYNC, *_DEFER, *_LATE, "decode", *_DRAFT, *_STOP, "admit_refused", "take_over"),
        scope={"request": 1, "block": 2, "slot": 2},
        doc="One request, preempted and resumed, with overlapping steps; entries of the map may be wrong.",
    ),
    Slice(
        name="load_async",
        remove=(*_INVALID, *_SYNC, *_DEFER, *_ENTRY, *_LATE, *_RARE, "take_over"),
        scope={"request": 1, "block": 2, "slot": 1},
        doc="One asynchronous load, which may fail in every way.",
    ),
    Slice(
        name="load_resumed",
        remove=(
            *_INVALID,
            *_SYNC,
            *_DEFER,
            *_ENTRY,
            *_LATE,
            *_DRAFT,
            *_STOP,
            "decode",
            "finish",
            "preempt",
            "hit",
            "take_over",
            "compute_held",
            "take_failure",
            "fail_failure",
            "load_breaks",
            "load_vanishes",
            "expire_load",
        ),
        scope={"request": 1, "block": 2, "slot": 2},
        doc="A reset preempts a request whose step is under way; it is loaded, and then that step's output comes.",
    ),
    Slice(
        name="load_pair",
        remove=(
            "keep_base",
            "fail_running",
            *_SYNC,
            *_DEFER,
            *_ENTRY,
            *_LATE,
            *_RARE,
            "preempt",
            "load_vanishes",
            "expire_load",
            "take_over",
        ),
        scope={"request": 2, "block": 2, "slot": 1},
        doc="Two asynchronous loads, one of which may use what the other has loaded.",
    ),
    Slice(
        name="late_write",
        remove=(
            *_INVALID,
            *_SYNC,
            *_DEFER,
            *_ENTRY,
            *_LATE,
            *_RARE,
            "load_vanishes",
            "expire_load",
            "compute_new",
            "compute_held",
            "take_over",
        ),
        scope={"request": 1, "block": 1, "slot": 2},
        quick=True,
        doc="A block that a step may still write becomes the target of a load.",
    ),
    Slice(
        name="decoding",
        remove=(
            "keep_base",
            *_ASYNC,
            *_DEFER,
            *_ENTRY,
            *_LATE,
            *_STOP,
            "draft",
            "reject_draft",
            "reset_running",
            "finish",
            "preempt",
            "hit",
            "admit_refused",
            "take_over",
        ),
        scope={"request": 1, "block": 3, "slot": 2},
        quick=True,
        doc="Output tokens, scheduled before the step that samples them has been processed.",
    ),
    Slice(
        name="speculating",
        remove=(
            *_INVALID,
            *_ASYNC,
            *_SYNC,
            *_DEFER,
            *_ENTRY,
            *_LATE,
            *_STOP,
            "reset_running",
            "finish",
            "decode",
            "publish_output",
            "admit_refused",
            "hit",
            "take_over",
        ),
        scope={"request": 1, "block": 3, "slot": 2},
        int_max=5,
        doc="A step guesses a token beyond the one that it samples, and its request may be preempted meanwhile.",
    ),
    Slice(
        name="second_lookup",
        remove=(
            *_INVALID,
            *_ASYNC,
            *_DEFER,
            *_ENTRY,
            *_LATE,
            *_STOP,
            *_DRAFT,
            "reset_running",
            "finish",
            "sync_block_fails",
            "compute_held",
            "admit_refused",
            "take_over",
        ),
        scope={"request": 1, "block": 3, "slot": 1},
        doc="A request that is preempted after its first token is looked up again, and more is found.",
    ),
    Slice(
        name="hand_over",
        remove=(
            *_INVALID,
            *_ASYNC,
            *_SYNC,
            *_DEFER,
            *_ENTRY,
            *_LATE,
            "decode",
            *_DRAFT,
            "finish",
            "admit_refused",
            "hit",
            "compute_held",
            "take_over",
        ),
        scope={"request": 1, "block": 3, "slot": 2},
        doc="A producer ends with its first token, perhaps after it was preempted.",
    ),
    Slice(
        name="late_report",
        remove=("keep_base", *_SYNC, *_DEFER, *_ENTRY, *_RARE, "load_vanishes", "expire_load", "preempt", "take_over"),
        scope={"request": 1, "block": 2, "slot": 1},
        doc="An asynchronous load whose failure is reported a step too late.",
    ),
    Slice(
        name="late_sync",
        remove=(
            "keep_base",
            "hit",
            *_ASYNC,
            *_DEFER,
            *_ENTRY,
            *_RARE,
            "preempt",
            "finish",
            "admit_refused",
            "take_over",
        ),
        scope={"request": 1, "block": 2, "slot": 1},
        doc="A load that goes with a step fails, and the report comes a step too late: nobody could know.",
    ),
    Slice(
        name="second_load",
        remove=(
            *_SYNC,
            *_ENTRY,
            *_LATE,
            *_DRAFT,
            *_STOP,
            "reset_running",
            "finish",
            "take_over",
            "retry",
            "admit_refused",
            "compute_held",
            "block_load_fails",
            "load_breaks",
            "load_vanishes",
            "expire_load",
            "recover_loading",
            "fail_loading",
            "take_failure",
            "fail_failure",
            *_INVALID,
        ),
        scope={"request": 1, "block": 3, "slot": 1},
        doc="A request that is preempted after its first token is put off, or loaded, and goes on decoding.",
    ),
    Slice(
        name="load_progress",
        remove=(*_INVALID, *_SYNC, *_ENTRY, *_RARE, "preempt", *_LATE, "take_over"),
        scope={"request": 1, "block": 2, "slot": 1},
        doc="What must happen: loads end, failures make progress, held requests are released.",
    ),
)


_VALID, _TOKEN, _HASHED = (
    "computed-within-valid-prefix", "no-token-from-invalid-block", "hashed-block-is-valid-or-being-recomputed",
)  # fmt: skip
_COUNTS, _NONNEGATIVE = "external-within-cached-within-prompt", "computed-nonnegative"
_SEED_SLICES = ("share", "share_overlap", "decoding")

EXPECTATIONS = (
    *(
        expect("holds", s, p, "the sound values", recovery_base="computed_minus_in_flight", pipeline="two")
        for s, p in (
            ("share", _VALID), ("share_overlap", _VALID), ("share_overlap", _TOKEN), ("resume", _TOKEN),
            ("resume", _COUNTS), ("load_async", _VALID),
            ("load_resumed", _VALID), ("late_report", _TOKEN), ("speculating", _NONNEGATIVE),
        )
    ),
    *(
        expect("holds", s, _VALID, "PR 38096 is right at pipeline depth 1", "seed",
             recovery_base="computed_minus_scheduled", pipeline="one")
        for s in _SEED_SLICES
    ),
    expect("holds", "share_overlap", _TOKEN, "PR 38096 is right at pipeline depth 1", preset="seed"),
    expect("holds", "share_overlap", _NONNEGATIVE, "PR 38096 is right at pipeline depth 1", preset="seed"),
    expect("holds", "second_lookup", _COUNTS, "the motive of PR 38096", preset="seed"),
    expect(
        "fails", "share_overlap", _VALID,
        "a sharer that the processed step did not schedule keeps tokens of the step after it",
        recovery_base="computed_minus_scheduled", pipeline="two",
    ),
    expect(
        "fails", "load_resumed", _VALID,
        "what a step of the life before has scheduled is subtracted from what the present one loads",
        recovery_base="computed_minus_scheduled", pipeline="two",
    ),
    expect("fails", "load_resumed", _TOKEN, "the same", recovery_base="computed_minus_scheduled", pipeline="two"),
    expect(
        "holds", "load_resumed", _VALID, "no step is under way when the request is loaded again", "seed",
        recovery_base="computed_minus_scheduled", pipeline="one",
    ),
    expect("holds", "load_resumed", _TOKEN, "stale tokens are not in flight", recovery_base="computed_minus_in_flight"),
    expect(
        "fails", "resume", _TOKEN, "one token too many in the scheduled-tokens map, and the invalid block is not seen",
        recovery_base="computed_minus_scheduled", pipeline="one",
    ),
    expect(
        "fails", "resume", _TOKEN, "5(b): the count is that of the first admission, the bad block is above it",
        recovery_base="cached_tokens",
    ),
    expect("fails", "resume", _VALID, "the same", recovery_base="cached_tokens"),
    expect("fails", "resume", _TOKEN, "5(b)", preset="vllm-0.18.1"),
    expect("fails", "resume", _COUNTS, "counts of two admissions are subtracted", preset="vllm-0.18.1"),
    expect("fails", "second_lookup", _COUNTS, "counts of two admissions are subtracted", preset="vllm-0.19.1"),
    expect("holds", "second_lookup", _COUNTS, "counted at each admission", preset="vllm-0.32.0"),
    expect("holds", "resume", _COUNTS, "counted at each admission", cached_count="refreshed"),
    expect("fails", "resume", _COUNTS, "counts of two admissions are subtracted", cached_count="frozen"),
    expect("fails", "share", _HASHED, "D1: a failed block whose request is aborted can be found", invalid_hash="keep"),
    expect("fails", "share", _TOKEN, "D1: and another request uses it", invalid_hash="keep"),
    expect("fails", "share", _HASHED, "D1", preset="vllm-0.32.0"),
    expect("holds", "share", _HASHED, "the hash is gone until the block is computed again", invalid_hash="evict"),
    expect(
        "fails", "decoding", _TOKEN, "D2: the next step's token comes from the bad block", in_flight_output="deliver",
    ),
    expect("fails", "decoding", "placeholders-are-owed", "D2: placeholders are skewed", in_flight_output="deliver"),
    expect("fails", "decoding", _TOKEN, "D2", preset="vllm-0.32.0"),
    expect("holds", "decoding", _TOKEN, "the output of every step under way is stale", in_flight_output="drop"),
    expect(
        "fails", "late_report", _TOKEN, "D8: a promoted request is not scanned",
        invalid_scan="running_and_loading", load_failure_policy="fail",
    ),
    expect("fails", "late_report", _TOKEN, "D8", preset="vllm-0.32.0", load_failure_policy="fail"),
    expect("holds", "late_report", _TOKEN, "promoted requests are scanned", invalid_scan="all_holders"),
    expect("fails", "load_progress", "failed-load-makes-progress", "D9: offered again for ever", reoffer="allowed"),
    expect("fails", "load_progress", "failed-load-makes-progress", "D9", preset="vllm-0.32.0"),
    expect("holds", "load_progress", "failed-load-makes-progress", "it is computed instead", reoffer="suppressed"),
    *(
        expect("holds", s, p, "the request ends, and no later block is found", load_failure_policy="fail")
        for s, p in (("share", _HASHED), ("share_overlap", _TOKEN), ("late_report", _TOKEN), ("load_async", _VALID))
    ),
    expect("holds", "share", _TOKEN, "a sharer waits",
         load_failure_policy="recompute", shared_recompute="awaited"),
    expect(
        "fails", "share", _TOKEN, "the sharer is scheduled before the block has been computed again",
        shared_recompute="trusted",
    ),
    expect("fails", "share", _TOKEN, "the same", preset="vllm-0.32.0"),
    expect("fails", "load_pair", "loading-block-is-no-hit", "found while the load runs", loading_hash="at_start"),
    expect("holds", "load_pair", "loading-block-is-no-hit", "I-34", loading_hash="at_promotion"),
    expect("fails", "late_write", "load-target-has-no-late-writer", "reused at once", deferred_free="none"),
    expect("fails", "late_write", "load-target-has-no-late-writer", "up to 0.23", preset="vllm-0.19.1"),
    expect("holds", "late_write", "load-target-has-no-late-writer", "parked until then", deferred_free="fenced"),
    expect("fails", "late_write", _VALID, "zeroed after it was loaded", zeroed_blocks="all_new"),
    expect("holds", "late_write", _VALID, "blocks that a load fills are left out", zeroed_blocks="without_loads"),
    expect("fails", "hand_over", "producer-ends-with-its-blocks", "Q27", stale_output="deliver"),
    expect("holds", "hand_over", "producer-ends-with-its-blocks", "computed again after it", stale_output="drop"),
)  # fmt: skip
