"""The slices by what they cover, under short names."""

from __future__ import annotations

WINDOWS, THREE_GROUPS, PENDING = "lookup_windows", "lookup_three_groups", "lookup_pending"
ALL_READY = (WINDOWS, THREE_GROUPS)
EVERY = (*ALL_READY, PENDING)
