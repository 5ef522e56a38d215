"""What the actions and properties of the engine have in common."""

from __future__ import annotations

from interlock.spec.engine.vocabulary import (
    b2,
    b3,
    bad,
    cached,
    claimed,
    computed,
    entry_lost,
    entry_wrong,
    in_flight,
    invalid,
    invalid_msg,
    invalid_scan,
    loop,
    loops,
    parked,
    pass_state,
    pass_states,
    place,
    r,
    r2,
    recovery_base,
    redo,
    request,
    scheduled_in,
    shared_recompute,
    slot,
    status,
    status_states,
    t,
    table,
    unsettled,
)
from interlock.spec.language.terms import TRUE, Member, Term, exists, forall, ite

_rx, _tx = request.var("rx"), slot.var("tx")


def is_(r_: Term, *names: str) -> Term:
    """Request ``r_`` is in one of these states."""
    return status_states.one_of(status(r_), *names)


def at(*names: str) -> Term:
    """The scheduler is in one of these places."""
    return loops.one_of(loop(), *names)


IN_SCHEDULE = ("run_loop", "no_wait", "wait_loop", "no_room")


def another_is_visited() -> Term:
    """The visit of a request other than r is under way."""
    return exists(r2, r2.ne(r) & is_(r2, "admitting"))


def step_is(name: str) -> Term:
    """Step t is in this state."""
    return pass_state(t).eq(_pass(name))


def _pass(name: str) -> Member:
    return pass_states[name]


def unprocessed(t_: Term) -> Term:
    """The output of step ``t_`` is still to be processed."""
    return pass_state(t_).eq(_pass("dispatched")) | pass_state(t_).eq(_pass("updating"))


def is_free(b_: Term) -> Term:
    """Block ``b_`` is in the free queue, perhaps still addressable."""
    return ~exists(_rx, table(_rx, b_)) & ~exists(_tx, parked(_tx, b_))


def entry() -> Term:
    """What the scheduled-tokens map of t says of r; a request that is not in it counts 0."""
    return ite(entry_lost(r, t), 0, scheduled_in(r, t) + ite(entry_wrong(r, t), 1, 0))


def base() -> Term:
    """How many tokens of r are computed for sure when the output of t is processed.

    One formula for running and for loading requests. Only what came before PR 38096 told them apart.
    """
    return ite(
        recovery_base.is_("cached_tokens"),
        ite(is_(r, "running"), cached(r), computed(r)),
        ite(recovery_base.is_("computed_minus_scheduled"), computed(r) - entry(), computed(r) - in_flight(r)),
    )


def waits_for_load(r_: Term) -> Term:
    """Request ``r_`` waits for a load, or to be visited after one."""
    return is_(r_, "loading", "loading_failed", "received", "received_failed")


def scanned() -> Term:
    """r is one of the requests that are scanned as running ones are."""
    return is_(r, "running") | (invalid_scan.is_("all_holders") & is_(r, "promoted"))


def bad_at(b_: Term) -> Term:
    """Block ``b_`` of r is reported invalid, and among those that count as computed."""
    return table(r, b_) & invalid(b_) & (place(b_) < base())


def behind_bad(b_: Term) -> Term:
    """Block ``b_``, among those that are processed, comes behind an invalid one: it may be computed from that one.

    Of what is in flight :func:`base` alone decides, and an invalid block is owed by who claims it. Nobody goes back to
    any of it if shared blocks are trusted.
    """
    before_it = exists(b3, bad_at(b3) & (place(b3) <= place(b_)))
    return shared_recompute.is_("awaited") & (place(b_) < computed(r) - in_flight(r)) & ~bad_at(b_) & before_it


def scan_is_due() -> Term:
    """r holds an invalid block that the scan has to see."""
    return (scanned() | waits_for_load(r)) & exists(b2, bad_at(b2))


def is_first(b_: Term, unclaimed: bool) -> Term:
    """No other such block comes before ``b_`` in the table of r."""
    other = bad_at(b2) & (~claimed(b2) if unclaimed else TRUE) & (place(b2) < place(b_))
    return ~exists(b2, other)


def awaits() -> Term:
    """r counts a block as computed, before step t, that another request is to compute again."""
    return exists(b2, table(r, b2) & redo(b2) & (place(b2) < computed(r) - scheduled_in(r, t)))


def follows_its_blocks(b_: Term) -> Term:
    """Block ``b_`` is held behind the very blocks that r holds, or by nobody while no step computes or loads it."""
    held_behind_them = exists(r2, table(r2, b_) & forall(b2, table(r, b2) >> table(r2, b2)))
    return held_behind_them | (~exists(r2, table(r2, b_)) & ~exists(_tx, unsettled(_tx, b_)))


def is_computed_again_by_another(b_: Term) -> Term:
    """Another request that holds ``b_`` will come to it."""
    return exists(
        r2,
        r2.ne(r) & table(r2, b_) & is_(r2, "running", "promoted") & (computed(r2) <= place(b_)),
    )


def another_schedules(b_: Term) -> Term:
    """Another request that holds ``b_`` has it computed by step t."""
    its_tokens = (computed(r2) - scheduled_in(r2, t) <= place(b_)) & (place(b_) < computed(r2))
    return exists(r2, r2.ne(r) & table(r2, b_) & its_tokens)


def loads_with_step() -> Term:
    """The step that is being built loads a block for r: nobody else holds one of those yet."""
    shared = exists(r2, r2.ne(r) & table(r2, b2))
    return exists(b2, _tx, table(r, b2) & pass_state(_tx).eq(_pass("building")) & unsettled(_tx, b2) & ~shared)


def report_is_due(b_: Term) -> Term:
    """The failure of the load of ``b_`` is known to a worker, and not yet dealt with by the scheduler."""
    return bad(b_) | exists(_tx, invalid_msg(_tx, b_) > 0) | invalid(b_)
