"""The order of the waiting queue and of the running list, as one relation: updates that move a request in it."""

from __future__ import annotations

from interlock.spec.admission.predicates import in_queue, is_, loads, precedes, unfinished, without_blocks
from interlock.spec.admission.vocabulary import ahead, older, promotion_scan, r2, r3, scheduling_policy, urgent
from interlock.spec.language.actions import Update, assign_all
from interlock.spec.language.terms import FALSE, Term, ite

_counts = scheduling_policy.is_("priority")
"""Where arrivals are told apart after the arrival."""


def _place(r: Term, before: Term, behind: Term) -> Update:
    """r stands before the ``r3`` and behind the ``r2`` that are named, and in no other relation."""
    return assign_all(
        r2, r3, to=ahead(r2, r3), value=ite(r2.eq(r), r3.ne(r) & before, behind), when=r2.eq(r) | r3.eq(r)
    )


def at_the_back(r: Term, high: Term) -> Update:
    """r, which stood nowhere and is of high priority or not, joins the waiting queue behind all of its priority."""
    return _place(r, in_queue(r3) & high & ~urgent(r3), in_queue(r2) & (urgent(r2) | ~high))


def arrives(r: Term) -> Update:
    """r, which is new, is younger than all that have arrived."""
    return assign_all(
        r2, r3, to=older(r2, r3), value=r3.eq(r) & unfinished(r2), when=_counts & r2.ne(r3) & (r2.eq(r) | r3.eq(r))
    )


def at_the_front(r: Term) -> Update:
    """r leaves the running list and stands before all that wait, under policy priority by its priority and arrival."""

    def passes(q: Term) -> Term:
        return precedes(r, q) | ~_counts

    return _place(r, in_queue(r3) & passes(r3), in_queue(r2) & ~passes(r2))


def behind_the_running(r: Term) -> Update:
    """r leaves the waiting queue and is the last of those that run."""
    return _place(r, FALSE, is_(r2, "running"))


def behind_the_holders(r: Term) -> Update:
    """r, which gets blocks for a load, stands behind those that have theirs, or before whom it precedes.

    In a single queue it keeps its place.
    """
    moves = ~promotion_scan.is_("behind_head")

    def passes(q: Term) -> Term:
        return promotion_scan.is_("holders_by_priority") & precedes(r, q)

    return assign_all(
        r2, r3, to=ahead(r2, r3),
        value=ite(r2.eq(r), without_blocks(r3) | (loads(r3) & passes(r3)), loads(r2) & ~passes(r2)),
        when=ite(moves, r2.ne(r3) & (r2.eq(r) | r3.eq(r)), FALSE),
    )  # fmt: skip


def out_of_order(r: Term) -> tuple[Update, Update]:
    """r stands nowhere any more, and is neither older nor younger than others."""
    forgotten = assign_all(r2, r3, to=older(r2, r3), value=FALSE, when=_counts & (r2.eq(r) | r3.eq(r)))
    return _place(r, FALSE, FALSE), forgotten
