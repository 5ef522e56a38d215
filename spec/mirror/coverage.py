"""The slices by what they cover, under short names."""

from __future__ import annotations

TABLE, BATCH, MATCH = "mirror_table", "mirror_batch", "mirror_match"
SAVES, TWO_SAVES, ALL = "mirror_saves", "mirror_two_saves", "mirror_all"
COPYING = (TABLE, BATCH, ALL)
SAVING = (SAVES, TWO_SAVES, ALL)
CANCELLING = (TABLE, MATCH, SAVES)
EVERY = (TABLE, BATCH, MATCH, SAVES, TWO_SAVES, ALL)
