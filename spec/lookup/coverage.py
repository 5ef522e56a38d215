"""The slices by what they cover, under short names."""

from __future__ import annotations

WINDOWS, THREE_GROUPS = "lookup_windows", "lookup_three_groups"
PENDING, CHECKS = "lookup_pending", "lookup_checks"
ALL_READY = (THREE_GROUPS, WINDOWS)
SOME_TO_COME = (PENDING, CHECKS)
EVERY = (*SOME_TO_COME, *ALL_READY)
"""The smallest first: runs that a proof asks for are searched in this order."""
