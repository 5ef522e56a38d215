"""The slices by what they cover, under short names."""

from __future__ import annotations

WINDOWS, THREE_GROUPS, PENDING = "lookup_windows", "lookup_three_groups", "lookup_pending"
ALL_READY = (THREE_GROUPS, WINDOWS)
EVERY = (PENDING, *ALL_READY)
"""The smallest first: runs that a proof asks for are searched in this order."""
