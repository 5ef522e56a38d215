"""Presets, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.language.settings import Preset, expect

SOUND = {
    "recovery_base": "computed_minus_in_flight", "pipeline": "two", "load_failure_policy": "recompute",
    "invalid_hash": "evict", "in_flight_output": "drop", "invalid_scan": "all_holders", "reoffer": "suppressed",
    "shared_recompute": "awaited", "loading_hash": "at_promotion", "cached_count": "refreshed",
    "deferred_free": "fenced", "zeroed_blocks": "without_loads", "stale_output": "drop",
    "hit_chain": "same_blocks",
}  # fmt: skip
_RELEASED = {
    **SOUND, "recovery_base": "computed_minus_scheduled", "invalid_hash": "keep", "in_flight_output": "deliver",
    "invalid_scan": "running_and_loading", "reoffer": "allowed", "shared_recompute": "trusted",
    "hit_chain": "by_hash",
}  # fmt: skip
"""With the policy recompute, which users of vLLM have to choose: fail is its default."""
PRESETS = (
    Preset(name="interlock", values=SOUND, doc="Interlock's own scheduler rules; the default."),
    Preset(
        name="seed",
        values={**SOUND, "recovery_base": "computed_minus_scheduled", "pipeline": "one", "hit_chain": "by_hash"},
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

_VALID, _TOKEN, _HASHED = (
    "computed-within-valid-prefix", "no-token-from-invalid-block", "hashed-block-is-valid-or-being-recomputed",
)  # fmt: skip
_CONFIRMED = "counted-tokens-are-confirmed"
_COUNTS, _NONNEGATIVE = "external-within-cached-within-prompt", "computed-nonnegative"
_SHARED = "who-shares-a-block-shares-all-before-it"
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
    expect("fails", "late_report", _TOKEN, "D8, under the other policy too", invalid_scan="running_and_loading"),
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
    *(
        expect("fails", "late_write_at_stop", p, "the output of one step ends who is in the next", deferred_free="none")
        for p in ("load-target-has-no-late-writer", _VALID)
    ),
    *(
        expect("holds", "late_write_at_stop", p, "parked until the next step is processed", deferred_free="fenced")
        for p in ("load-target-has-no-late-writer", _VALID)
    ),
    expect("fails", "late_write", _VALID, "zeroed after it was loaded", zeroed_blocks="all_new"),
    expect("holds", "late_write", _VALID, "blocks that a load fills are left out", zeroed_blocks="without_loads"),
    expect("fails", "late_write", _VALID, "an earlier owner's step writes it after the load", deferred_free="none"),
    expect(
        "fails", "share_overlap", _CONFIRMED, "a sharer that this step did not schedule keeps what is in flight",
        recovery_base="computed_minus_scheduled", pipeline="two",
    ),
    expect("holds", "share_overlap", _CONFIRMED, "nothing else is in flight",
         recovery_base="computed_minus_scheduled", pipeline="one"),
    expect("holds", "share_overlap", _CONFIRMED, "the sound values",
         recovery_base="computed_minus_in_flight", pipeline="two"),
    expect(
        "holds", "victim_hit", "a-schedule-ends", "a visit that finds the whole prompt goes on to decode",
        scope={"request": 2},
    ),
    expect("fails", "mixed_chain", _VALID, "a hit on what is computed from a failed block, behind another one",
         hit_chain="by_hash"),
    expect("fails", "mixed_chain", _TOKEN, "and the scan by block does not find who holds it", hit_chain="by_hash"),
    expect("fails", "mixed_chain", _SHARED, "a hit goes by hash, whoever holds the block", hit_chain="by_hash"),
    expect("holds", "mixed_chain", _SHARED, "only behind the blocks of a holder", hit_chain="same_blocks"),
    expect("holds", "mixed_chain", _VALID, "no such hit while the block is held", hit_chain="same_blocks"),
    expect("fails", "hand_over", "producer-ends-with-its-blocks", "Q27", stale_output="deliver"),
    expect("holds", "hand_over", "producer-ends-with-its-blocks", "computed again after it", stale_output="drop"),
)  # fmt: skip
