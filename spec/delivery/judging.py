"""The words of properties: said anew, and not in those of guards, so that a case that one side forgets is noticed."""

from __future__ import annotations

from interlock.spec.delivery.predicates import opened, registered
from interlock.spec.delivery.vocabulary import (
    acks_due,
    delivery_transfer_state,
    delivery_transfer_states,
    finished,
    loads_owed,
    operation_of,
    register_meta,
    sends_owed,
    sent,
    start_meta,
)
from interlock.spec.language.terms import Term, exists
from interlock.spec.shared.sorts import job, worker

_w, _j = worker.var("ww"), job.var("jw")


def works_for(j: Term, r: Term) -> Term:
    """Request r waits for the reports on operation j."""
    return opened(j) & operation_of(j).eq(r)


def nothing_is_owed(r: Term) -> Term:
    """Request r waits for no completion, of a load or a send, as the scheduler counts them."""
    return loads_owed(r).eq(0) & sends_owed(r).eq(0)


def at_worker(w: Term, j: Term) -> Term:
    """Worker w is still to report on operation j."""
    return (start_meta(w, j) > 0) | delivery_transfer_state(w, j).ne(delivery_transfer_states["idle"])


def on_hand_over(w: Term, r: Term) -> Term:
    """Worker w is still to say that the hand-over of request r has ended."""
    return (register_meta(w, r) > 0) | registered(w, r)


def signal_comes(r: Term) -> Term:
    """Some completion that request r waits for is under way, or its end is in a worker's hands."""
    of_an_operation = exists(_j, works_for(_j, r) & ((finished(_j) > 0) | exists(_w, at_worker(_w, _j))))
    of_the_hand_over = (acks_due(r) > 0) & ((sent(r) > 0) | exists(_w, on_hand_over(_w, r)))
    return of_an_operation | of_the_hand_over
