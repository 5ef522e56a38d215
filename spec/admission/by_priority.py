"""Who is served first and who is preempted: by priority and arrival, or (fcfs) by place."""

from __future__ import annotations

from interlock.spec.admission.coverage import LOOKUP, PREEMPT, PREEMPTING, VICTIM, WITH_VICTIM
from interlock.spec.admission.judging import blockless, goes_on, holds_for_load, is_short, stands_in_a_queue
from interlock.spec.admission.predicates import is_, somebody
from interlock.spec.admission.vocabulary import (
    ahead,
    older,
    promotion_scan,
    r,
    r2,
    scheduled_now,
    scheduling_policy,
    urgent,
)
from interlock.spec.language.properties import ActionProperty, Invariant, Property, witnesses_of
from interlock.spec.language.terms import Primed, Term, Var, exists, forall, ite

_witness = witnesses_of("admission")

_SOURCE = "contract Q22; vLLM 0.32.0 v1/request.py:357-367 (priority, arrival_time)"
_APPLIES = scheduling_policy.is_("priority")
_by_priority = promotion_scan.is_("holders_by_priority")

ARRIVALS = Invariant(
    id="arrivals-are-ordered",
    source=_SOURCE,
    doc="Of two requests that have not ended exactly one arrived before the other; an ended one has no priority left.",
    slices=WITH_VICTIM,
    applies=_APPLIES,
    formula=forall(
        r, r2,
        ite(
            r.ne(r2) & goes_on(r) & goes_on(r2),
            older(r, r2).eq(~older(r2, r)),
            ~older(r, r2),
        ),
    ) & forall(r, urgent(r) >> goes_on(r)),
    premise=exists(r, goes_on(r)),
)  # fmt: skip
NEWEST = ActionProperty(
    id="who-arrives-is-the-youngest",
    source=_SOURCE,
    doc="Whoever has not ended when a request arrives is older than it.",
    slices=WITH_VICTIM,
    applies=_APPLIES,
    actions=("add_request",),
    formula=forall(r2, goes_on(r2) >> Primed(body=older(r2, r))),
)
IN_ORDER = Invariant(
    id="priority-and-arrival-order-the-queues",
    policy=True,
    source=f"{_SOURCE}, v1/core/sched/request_queue.py",
    doc=(
        "Who stands before another in the queue of those without blocks is of a higher priority, or of the same and "
        "older, preempted or not; so it is in the queue of those that hold blocks for a load, if that is by priority."
    ),
    slices=WITH_VICTIM,
    applies=_APPLIES,
    formula=forall(
        r, r2,
        (ahead(r, r2) & ((blockless(r) & blockless(r2)) | (holds_for_load(r) & holds_for_load(r2) & _by_priority)))
        >> ((urgent(r) & ~urgent(r2)) | (urgent(r).eq(urgent(r2)) & older(r, r2))),
    ),
    premise=exists(r, blockless(r)),
)  # fmt: skip


def _came_before(q: Var, r: Var) -> Term:
    """Of two that run, and are of one priority: who arrived before, or (where that is not kept) runs before."""
    return ite(scheduling_policy.is_("priority"), older(q, r), ahead(q, r))


FOR_AN_OLDER_ONE = ActionProperty(
    id="nobody-is-preempted-for-a-younger-one",
    policy=True,
    source="contract Q22",
    doc=(
        "A request loses its blocks only to itself, to one of a higher priority, or to one of the same that arrived "
        "before it; without priorities to one that runs before it."
    ),
    slices=PREEMPTING,
    actions=("preempt",),
    formula=exists(
        r2,
        is_(r2, "running")
        & ~scheduled_now(r2)
        & is_short(r2)
        & (r2.eq(r) | (urgent(r2) & ~urgent(r)) | (urgent(r2).eq(urgent(r)) & _came_before(r2, r))),
    ),
)
ALL_ALIKE = Invariant(
    id="under-fcfs-nobody-is-urgent",
    policy=True,
    source="contract Q22; --scheduling-policy",
    doc="Where requests have no priorities, none is of the higher one: arrival alone orders them.",
    slices=(PREEMPT, VICTIM),
    applies=scheduling_policy.is_("fcfs"),
    formula=forall(r, ~urgent(r)),
    premise=somebody(stands_in_a_queue),
)
LEAST_URGENT = ActionProperty(
    id="nobody-less-urgent-goes-on",
    policy=True,
    source="contract Q22: max(priority, arrival)",
    doc="Nobody is preempted while one of a lower priority runs on, or a younger one of the same.",
    slices=(PREEMPT, VICTIM),
    applies=scheduling_policy.is_("priority"),
    actions=("preempt",),
    formula=~exists(r2, is_(r2, "running") & ((urgent(r) & ~urgent(r2)) | (urgent(r).eq(urgent(r2)) & older(r, r2)))),
)

BY_PRIORITY: tuple[Property, ...] = (
    ARRIVALS, NEWEST, IN_ORDER, FOR_AN_OLDER_ONE, ALL_ALIKE, LEAST_URGENT,
    _witness(
        "an-older-one-gets-its-blocks-later",
        exists(r2, r2.ne(r) & holds_for_load(r2) & older(r, r2) & urgent(r).eq(urgent(r2))),
        "A request begins its load behind a younger one, and is visited before it if that queue is by priority.",
        LOOKUP, actions=("admit_load",), applies=_APPLIES, source=_SOURCE,
    ),
    _witness(
        "the-youngest-is-not-the-last-of-the-running",
        exists(r2, is_(r2, "running") & ahead(r, r2) & urgent(r).eq(urgent(r2))),
        "Who was admitted later and is older takes the blocks of one that runs before it.",
        VICTIM, actions=("preempt",), applies=_APPLIES, source=_SOURCE,
    ),
)  # fmt: skip
