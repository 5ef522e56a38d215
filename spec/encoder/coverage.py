"""The slices by what they cover, under short names."""

from __future__ import annotations

ASK, ROOM, DRAFTS, TWICE = "ec_ask", "ec_room", "ec_drafts", "ec_twice"
POOL, RUNNING, LOADS, QUEUE, TIGHT = "ec_pool", "ec_running", "ec_loads", "ec_queue", "ec_tight"
ARRIVALS = "ec_arrivals"
EVERY = (ASK, ROOM, DRAFTS, TWICE, POOL, RUNNING, TIGHT, LOADS)
WITH_POOL = (ASK, TWICE, POOL, RUNNING, TIGHT, LOADS)
