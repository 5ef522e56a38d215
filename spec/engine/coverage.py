"""The slices by what they cover, under short names."""

from __future__ import annotations

(
    SHARE, OVERLAP, VICTIM, VICTIM_HIT, MIXED, RESUME, ASYNC, RESUMED, PAIR, PARK, DECODE, SPEC, LOOKUP, HAND, LATE,
    LATE_SYNC, SECOND, LIVE, STOPPED, BESIDE_RESET, BESIDE_GUESS, GUESS_AGAIN, AFTER_HIT,
    LATE_SHARED, LATE_SYNC_SHARED, SHARED_OWN,
) = (
    "share", "share_overlap", "victim", "victim_hit", "mixed_chain", "resume", "load_async", "load_resumed",
    "load_pair", "late_write", "decoding", "speculating", "second_lookup", "hand_over", "late_report",
    "late_sync", "second_load", "load_progress", "late_write_at_stop",
    "beside_a_reset", "beside_a_guess", "guess_again", "guess_after_a_hit",
    "late_shared", "late_sync_shared", "shared_and_own",
)  # fmt: skip
EVERY = (
    SPEC, SHARE, OVERLAP, RESUME, ASYNC, PAIR, PARK, DECODE, LOOKUP, LATE, HAND, VICTIM, VICTIM_HIT, LATE_SYNC, SECOND,
    RESUMED, STOPPED, LATE_SHARED, LATE_SYNC_SHARED,
)  # fmt: skip
CORE = (PARK, DECODE, ASYNC, RESUME)
OVERLAPPING = (OVERLAP, RESUME, SPEC)
LOADING = (ASYNC, PAIR, PARK)
SCHEDULING_ENDS = (SHARE, VICTIM, VICTIM_HIT, PAIR, RESUME, DECODE, LATE, PARK)
