"""Slices, groups of actions and formulas that the properties of the books share."""

from __future__ import annotations

from interlock.spec.engine.predicates import is_in, step_is
from interlock.spec.engine.vocabulary import (
    b,
    computed,
    in_flight,
    r,
    role,
    roles,
    step_meta,
    t,
)

(
    PARK, DECODE, ASYNC, RESUME, SPEC, SHARE, OVERLAP, LOOKUP, LATE, LATE_SYNC, LIVE, HAND, SECOND, PAIR, VICTIM,
    VICTIM_HIT,
) = (
    "late_write", "decoding", "load_async", "resume", "speculating", "share", "share_overlap", "second_lookup",
    "late_report", "late_sync", "load_progress", "hand_over", "second_load", "load_pair",
    "victim", "victim_hit",
)  # fmt: skip
CORE = (PARK, DECODE, ASYNC, RESUME)
LOADS = (PARK, ASYNC, LATE)

ALLOCATES = ("compute_new", "admit", "admit_refused", "decode", "draft", "offer_sync", "offer_async")
SCHEDULES = ("compute_new", "admit", "admit_refused", "compute_held", "decode", "draft")
VISITS = ("admit", "admit_refused", "hit", "offer_sync", "offer_async", "promote", "retry")

TO_RUN = step_is("building") | (step_meta(t) > 0)
COMPUTES = role(r, t, b).eq(roles["computed"])
PROCESSED = computed(r) - in_flight(r)
ADMITTED = is_in("running", "promoted")
