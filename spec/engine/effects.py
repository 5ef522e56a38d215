"""Groups of updates that several actions share: taking a block, going back, letting go, forgetting."""

from __future__ import annotations

from interlock.spec.engine.predicates import base, behind_bad, is_, step_is, unprocessed
from interlock.spec.engine.vocabulary import (
    PROMPT,
    addressable,
    b,
    b2,
    bad,
    block,
    cached,
    cached_count,
    computed,
    confirmed,
    counted,
    deferred_free,
    external,
    filling,
    foreign,
    good,
    in_flight,
    in_flight_output,
    invalid,
    invalid_hash,
    invalid_msg,
    load_has_failed,
    parked,
    pass_state,
    pass_states,
    place,
    placeholders,
    planned,
    r,
    r2,
    recovery_base,
    redo,
    refused,
    role,
    roles,
    scheduled_in,
    slot,
    stale_in,
    t,
    t2,
    table,
    this_life,
    tokens,
    unsettled,
    untold,
)
from interlock.spec.language.actions import Update, assign, assign_all
from interlock.spec.language.terms import FALSE, TRUE, Term, exists, ite, term

_b, _t = block.var("bx"), slot.var("tx")

DROPS = in_flight_output.is_("drop")
FROZEN = cached_count.is_("frozen") | recovery_base.is_("cached_tokens")


def smaller(x: Term, y: Term) -> Term:
    """The smaller of two numbers."""
    return ite(x < y, x, y)


def larger(x: Term, y: Term) -> Term:
    """The larger of two numbers."""
    return ite(x > y, x, y)


def take(b_: Term = b) -> tuple[Update, ...]:
    """r gets a free block at the end of its table; what a step that has not run still writes there is foreign."""
    return (
        assign(table(r, b_), True),
        assign(place(b_), computed(r)),
        assign(redo(b_), False),
        assign(good(b_), False),
        assign(untold(b_), False),
        assign_all(t2, to=foreign(t2, b_), value=True, when=exists(r2, role(r2, t2, b_).eq(roles["computed"]))),
    )


def count_admission(first: Term) -> tuple[Update, ...]:
    """The counts of cached tokens are taken when r is admitted."""
    return (
        assign(cached(r), ite(first & ~(FROZEN & counted(r)), smaller(computed(r), term(PROMPT)), cached(r))),
        assign(counted(r), True),
    )


def let_go(when: Term = TRUE) -> tuple[Update, ...]:
    """The table of r is emptied; what an unprocessed step of r may write is parked until that step is processed."""
    return (
        assign_all(_b, to=table(r, _b), value=False, when=when),
        assign_all(_b, to=filling(_b), value=False, when=when & table(r, _b)),
        assign_all(
            t2, _b, to=parked(t2, _b), value=True,
            when=deferred_free.is_("fenced")
            & when & table(r, _b) & pass_state(t2).eq(pass_states["dispatched"]) & (scheduled_in(r, t2) > 0),
        ),
    )  # fmt: skip


def unhash_unsettled() -> Update:
    """What an unprocessed step computes or loads for r may turn out wrong when nobody knows any more whose it was."""
    return assign_all(
        _b, to=addressable(_b), value=False,
        when=table(r, _b) & (planned(_b) | (invalid_hash.is_("evict") & exists(_t, unsettled(_t, _b)))),
    )  # fmt: skip


def leave_untold() -> Update:
    """r, the last that counts a wrong block, is gone before the failure that it comes from is reported."""
    another_counts = exists(r2, r2.ne(r) & table(r2, _b) & (place(_b) < computed(r2) - in_flight(r2)))
    not_dealt_with = invalid(b2) | exists(t2, invalid_msg(t2, b2) > 0) | bad(b2)
    comes_from_a_failure = exists(b2, table(r, b2) & (place(b2) <= place(_b)) & (untold(b2) | not_dealt_with))
    wrong = addressable(_b) & ~good(_b) & ~exists(_t, unsettled(_t, _b))
    return assign_all(
        _b, to=untold(_b), value=True,
        when=table(r, _b) & wrong & ~another_counts & comes_from_a_failure,
    )  # fmt: skip


def disown_output() -> tuple[Update, ...]:
    """What unprocessed steps will bring for r is of a life that is over."""
    return (
        leave_untold(),
        assign(in_flight(r), 0),
        assign(placeholders(r), 0),
        assign_all(t2, to=stale_in(r, t2), value=True, when=unprocessed(t2) & (scheduled_in(r, t2) > 0)),
        assign_all(t2, to=this_life(r, t2), value=False),
    )


def forget(when: Term = TRUE) -> tuple[Update, ...]:
    """The record of r is deleted: its id may come again."""
    return (
        assign(computed(r), ite(when, 0, computed(r))),
        assign(confirmed(r), 0),
        assign(tokens(r), 0),
        assign(external(r), 0),
        assign(cached(r), 0),
        assign(counted(r), False),
        assign(refused(r), False),
        assign(load_has_failed(r), False),
    )


def go_back(to: Term, *, in_update: bool) -> tuple[Update, ...]:
    """r counts ``to`` tokens as computed; what steps under way computed beyond that is not to be believed."""
    old = external(r) - (base() - to) if in_update else external(r)
    so_far = ite(is_(r, "running"), cached(r), smaller(computed(r), term(PROMPT)))
    kept = smaller(so_far, to)
    local = so_far - external(r)
    this_step = ite(step_is("updating") & ~stale_in(r, t), scheduled_in(r, t), 0) if in_update else term(0)
    of_this = t2.eq(t) if in_update else FALSE
    return (
        assign(computed(r), to),
        assign(confirmed(r), smaller(confirmed(r), to)),
        assign(external(r), ite(cached_count.is_("frozen"), old, kept - smaller(local, kept))),
        assign(in_flight(r), ite(DROPS, 0, in_flight(r) - this_step)),
        assign(placeholders(r), ite(DROPS, 0, placeholders(r))),
        assign_all(
            t2, to=stale_in(r, t2), value=True,
            when=unprocessed(t2) & (scheduled_in(r, t2) > 0) & (DROPS | of_this),
        ),
        assign_all(t2, to=this_life(r, t2), value=False),
    )  # fmt: skip


def recount(to: Term) -> Update:
    """An admitted request that goes back has no more cached than it has computed."""
    return assign(cached(r), ite(FROZEN, cached(r), smaller(cached(r), to)))


def unhash_from(first: Term, always: bool) -> Update:
    """The blocks of r from place ``first`` on are addressable no longer."""
    when = table(r, b2) & (place(b2) >= first)
    return assign_all(b2, to=addressable(b2), value=False, when=when if always else invalid_hash.is_("evict") & when)


def owe(first: Term) -> tuple[Update, ...]:
    """The blocks of r from place ``first`` on are to be computed again, and so are those behind an invalid one.

    These r may go on counting; but whoever has computed them may have ended, so that only r knows that they are wrong.
    """
    when = table(r, b2) & ((place(b2) >= first) | behind_bad(b2))
    return (
        assign_all(b2, to=redo(b2), value=True, when=when),
        assign_all(b2, to=addressable(b2), value=False, when=invalid_hash.is_("evict") & when),
    )
