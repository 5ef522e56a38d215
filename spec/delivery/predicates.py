"""What several actions and properties ask of a state."""

from __future__ import annotations

from interlock.spec.delivery.vocabulary import (
    acks_due,
    cancel_frees,
    delivery_operation_state,
    delivery_operation_states,
    delivery_state,
    delivery_states,
    finish_answer,
    has_block,
    load_counting,
    loads_owed,
    operation_of,
    r2,
    receives,
    registration_state,
    registration_states,
    release_on,
    reports_due,
    sends_owed,
)
from interlock.spec.language.terms import Term, disjunction, forall
from interlock.spec.shared.sorts import job, worker

_w = worker.var("wx")
_j = job.var("jx")


def is_(r: Term, *states: str) -> Term:
    """Request r is in one of the states."""
    return delivery_states.one_of(delivery_state(r), *states)


def opened(j: Term) -> Term:
    """Operation j is open."""
    return delivery_operation_state(j).eq(delivery_operation_states["open"])


def serves(j: Term, r: Term) -> Term:
    """Operation j is open and one of request r's."""
    return opened(j) & operation_of(j).eq(r)


def owed(r: Term) -> Term:
    """How many completions request r still waits for, as the scheduler counts them."""
    return loads_owed(r) + sends_owed(r)


def kept_in(state: str, r: Term) -> Term:
    """Request r, which is in a state and finishes now, keeps its blocks."""
    return {
        "waiting": owed(r) > 0,
        "loading": ~cancel_frees.is_("at_once") | (sends_owed(r) > 0),
        "loaded": cancel_frees.is_("after_any_load") | (owed(r) > 0),
        "running": finish_answer.is_("always_keep") | (finish_answer.is_("if_owed") & (owed(r) > 0)),
    }[state]


def kept_at_finish(r: Term) -> Term:
    """Request r, which finishes now, keeps its blocks."""
    return disjunction(*(is_(r, s) & kept_in(s, r) for s in ("waiting", "loading", "loaded", "running")))


def last_report(j: Term) -> Term:
    """The report at hand is the last one on operation j."""
    return reports_due(j).eq(1)


def last_load(r: Term, j: Term) -> Term:
    """The report at hand ends the last load that request r waits for."""
    return last_report(j) & receives(j) & (load_counting.is_("first_report") | loads_owed(r).eq(1))


def releases_now(r: Term) -> Term:
    """The end of one more operation gives the blocks of held request r back."""
    return is_(r, "held") & (release_on.is_("any_signal") | owed(r).eq(1))


def last_word(r: Term) -> Term:
    """One more worker's word on the hand-over of request r gives its blocks back."""
    return acks_due(r).eq(1) & releases_now(r)


def is_free(b_: Term) -> Term:
    """Block b is in no living request's table."""
    return forall(r2, has_block(r2, b_) >> is_(r2, "released"))


def registered(w: Term, r: Term) -> Term:
    """Worker w waits for the peer of request r, or for its lease."""
    return registration_state(w, r).eq(registration_states["registered"])
