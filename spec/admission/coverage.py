"""The slices by what they cover, under short names."""

from __future__ import annotations

LOAD, LOOKUP, PREEMPT, STORES, MIXED, AGAIN, TWO, ONE = (
    "load_pressure", "lookup_deferral", "preemption", "last_stores_drain", "pressure_mixed", "preempted_stores",
    "pressure_quick", "admission_quick",
)  # fmt: skip
VICTIM = "scheduled_victim"
EVERY = (LOAD, LOOKUP, PREEMPT, STORES, MIXED, AGAIN, TWO, ONE)
SEVERAL = (LOAD, LOOKUP, PREEMPT, STORES, MIXED, AGAIN, TWO)
WITH_VICTIM = (*EVERY, VICTIM)
LOADING = (LOAD, LOOKUP, MIXED, TWO, ONE)
PREEMPTING = (PREEMPT, MIXED, AGAIN, TWO, VICTIM)
STORING = (LOOKUP, STORES, AGAIN, TWO, ONE)
LOSING = (STORES, AGAIN, ONE)
