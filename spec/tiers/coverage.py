"""The slices by what they cover, under short names."""

from __future__ import annotations

LOOKUP, PROMOTE, ROUNDS, MISSING, STALL, RETRIEVE, RETRIEVE_TWO, BACKUP, BACKUP_TWO = (
    "tier_lookup", "tier_promote", "tier_rounds", "tier_missing_file", "tier_stall", "tier_retrieve",
    "tier_retrieve_two", "tier_backup", "tier_backup_two",
)  # fmt: skip
RESET_READ, RESET_WRITE, RESET_FAIL, RESET_LATE, MIXED = (
    "tier_reset_read", "tier_reset_write", "tier_reset_fail", "tier_reset_late", "tier_mixed",
)  # fmt: skip
TABLES, BLOCKS, HANG, HANG_BESIDE = "task_tables", "task_blocks", "task_hang", "task_hang_beside"
EVERY = (
    LOOKUP, PROMOTE, ROUNDS, MISSING, STALL, RETRIEVE, RETRIEVE_TWO, BACKUP, BACKUP_TWO, RESET_READ, RESET_WRITE,
    RESET_FAIL, RESET_LATE, MIXED,
)  # fmt: skip
HITS = tuple(s for s in EVERY if s != BACKUP_TWO)
WAITING_FOR = tuple(s for s in EVERY if s not in (RESET_WRITE, BACKUP_TWO))
DEFERRING = (LOOKUP, PROMOTE, MISSING, STALL)
ENDING = (PROMOTE, MISSING, RETRIEVE, RESET_WRITE, RESET_FAIL)
PROMOTING = (LOOKUP, PROMOTE, ROUNDS, MISSING, RESET_READ, MIXED)
RESETTING = (RESET_READ, RESET_WRITE, RESET_LATE, MIXED)
BACKING_UP = (BACKUP, BACKUP_TWO, RESET_WRITE, MIXED)
CANCELLING = (LOOKUP, PROMOTE, RETRIEVE, BACKUP, MIXED)
TASKS = (TABLES, BLOCKS, HANG, HANG_BESIDE)
