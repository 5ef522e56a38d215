"""Groups of actions and formulas that properties share."""

from __future__ import annotations

from interlock.spec.engine.predicates import is_, step_is
from interlock.spec.engine.vocabulary import (
    b,
    computed,
    in_flight,
    invalid,
    load_failure_policy,
    pipeline,
    place,
    r,
    role,
    roles,
    step_meta,
    t,
    table,
)
from interlock.spec.language.terms import Term

ALLOCATES = ("compute_new", "admit", "admit_refused", "decode", "draft", "offer_sync", "offer_async")
SCHEDULES = ("compute_new", "admit", "admit_refused", "compute_held", "decode", "draft")
VISITS = ("admit", "admit_refused", "hit", "offer_sync", "offer_async", "promote", "retry")

TO_RUN = step_is("building") | (step_meta(t) > 0)
COMPUTES = role(r, t, b).eq(roles["computed"])
PROCESSED = computed(r) - in_flight(r)
RECOMPUTED = load_failure_policy.is_("recompute")
"""Under the other policy the request ends: nobody goes back, and nothing is computed again."""
OVERLAPPED = pipeline.is_("two")
ADMITTED = is_(r, "running", "promoted")


def counts_invalid(b_: Term) -> Term:
    """r counts ``b_``, which was reported invalid, as processed."""
    return table(r, b_) & invalid(b_) & (place(b_) < PROCESSED)
