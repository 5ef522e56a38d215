"""The slices by what they cover, under short names."""

from __future__ import annotations

DEDUP, STORE, LOAD, LOAD_ACK = "dedup", "store", "load", "load_ack"
FINISH, FINISH_TWICE, PARTIAL = "at_finish", "finish_twice", "partial_failure"
LAZY = "lazy_store"
TINY, IDLE, BUSY, RESET, RESET_LOAD = "tiny", "last_step", "busy", "reset", "reset_load"
RESET_PREFIXES = "reset_prefixes"
THREE, BROKEN = "three_workers", "failing_load"
WINDOWED, LOADED_WAITS = "windowed", "loaded_waits"
TWO_CHUNKS, TWO_FAILING, TWO_SLIDE, TWO_SERVED = "two_chunks", "two_failing", "two_blocks_slide", "two_served"
EVERY = (
    TINY, DEDUP, STORE, FINISH, FINISH_TWICE, PARTIAL, LOAD, LOAD_ACK, IDLE, BUSY, RESET, RESET_LOAD, LAZY,
    THREE, BROKEN, WINDOWED,
)  # fmt: skip
WITH_REST = tuple(s for s in EVERY if s != RESET_LOAD)
TWO_JOBS = (DEDUP, FINISH_TWICE, IDLE, RESET)
FAILING = (TINY, STORE, FINISH, PARTIAL)
WITH_CONTENT = (TINY, FINISH, PARTIAL, LOAD, RESET, RESET_LOAD, LAZY, BROKEN, WINDOWED)
WITH_LOADS = (TINY, LOAD, LOAD_ACK, BUSY, RESET_LOAD, THREE, BROKEN, WINDOWED)
WITH_RESETS = (TINY, RESET, RESET_LOAD, PARTIAL, BROKEN)
SCANS_JUDGED = (TINY, STORE, FINISH, FINISH_TWICE)
LIVENESS = (TINY, STORE, PARTIAL, LOAD_ACK, IDLE, THREE, BROKEN)
