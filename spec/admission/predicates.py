"""Derived predicates: the words in which guards and properties are said."""

from __future__ import annotations

from collections.abc import Callable

from interlock.spec.admission.vocabulary import (
    FIRST,
    FULL,
    PART,
    STEP,
    WHOLE,
    admission_state,
    admission_states,
    ahead,
    crossed,
    engine_phase,
    engine_phases,
    fenced_victim,
    free,
    freed_in_flight,
    full_sequence_fits,
    in_newer,
    in_older,
    last_stores,
    load_admission,
    newer_step,
    older,
    older_step,
    output_due,
    own_store,
    owns,
    prefix_entry_state,
    prefix_entry_states,
    promotion_scan,
    scheduled_now,
    scheduling_policy,
    stall_latch,
    step_slots,
    store_hold,
    urgent,
    visited,
)
from interlock.spec.language.terms import TRUE, Int, Term, Var, card, exists, forall, ite
from interlock.spec.shared.sorts import request

_q, _q2 = request.var("rq"), request.var("rq2")
_n, _before, _asks, _last = request.var("rn"), request.var("rb"), request.var("ra"), request.var("rl")


def is_(r: Term, *states: str) -> Term:
    """Request r is in one of these states of its lifecycle."""
    return admission_states.one_of(admission_state(r), *states)


def entry(r: Term, *states: str) -> Term:
    """The entry of r's prefix is in one of these states."""
    return prefix_entry_states.one_of(prefix_entry_state(r), *states)


def phase(*names: str) -> Term:
    """The engine thread is in one of these phases."""
    return engine_phases.one_of(engine_phase(), *names)


def unfinished(r: Term) -> Term:
    """r has arrived and has not ended."""
    return is_(r, "waiting", "loading", "loaded", "running", "preempted")


def in_queue(r: Term) -> Term:
    """r stands in a queue of the waiting loop, its load perhaps under way."""
    return is_(r, "waiting", "preempted", "loading", "loaded")


def without_blocks(r: Term) -> Term:
    """r waits for its first blocks (again)."""
    return is_(r, "waiting", "preempted")


def deferred(r: Term) -> Term:
    """Lookup tells r to ask later."""
    return without_blocks(r) & entry(r, "pending")


def loads(r: Term) -> Term:
    """r holds blocks for an asynchronous load and has not made its first step since."""
    return is_(r, "loading", "loaded")


def needed_blocks(r: Term) -> Term:
    """Blocks with which r can be scheduled."""
    return ite(crossed(r), FULL, FIRST)


def rest(r: Term) -> Term:
    """Blocks that r still needs."""
    return needed_blocks(r) - owns(r)


def prompt_rest(r: Term) -> Term:
    """Blocks that the prompt of r still needs."""
    return Int(value=WHOLE) - owns(r)


def total(amount: Callable[[Term], Term], where: Callable[[Term], Term] | None = None, *, most: int = FULL) -> Term:
    """The sum of an amount of at most ``most`` over requests, counted level by level."""
    levels = [card(_n, (amount(_n) > k) if where is None else where(_n) & (amount(_n) > k)) for k in range(most)]
    result: Term = levels[0]
    for level in levels[1:]:
        result = result + level
    return result


def reserved() -> Term:
    """Blocks that are to stay free besides a new load, for those that load already and for its own first step."""
    return ite(
        load_admission.is_("blocks_only"),
        0,
        ite(
            load_admission.is_("rest_of_prompts"),
            total(prompt_rest, loads, most=WHOLE - PART),
            total(rest, loads, most=FULL - PART) + STEP,
        ),
    )


def sequence_fits(r: Term) -> Term:
    """What must be free of the blocks of the whole of r, which has none, is free."""
    return ite(
        full_sequence_fits.is_("no"),
        TRUE,
        needed_blocks(r) - ite(full_sequence_fits.is_("tokens"), STEP, 0) <= free(),
    )


def stands_before(q: Term, r: Term) -> Term:
    """The waiting loop comes to q before it comes to r."""
    holders_first = ite(
        is_(q, "loaded").eq(is_(r, "loaded")),
        ahead(q, r),
        is_(q, "loaded"),
    )
    return ite(~promotion_scan.is_("behind_head"), holders_first, ahead(q, r))


def _to_visit(r: Term) -> Term:
    return is_(r, "waiting", "preempted", "loaded") & ~visited(r)


def next_waiting(r: Term) -> Term:
    """The waiting loop is at r. Requests whose load is under way are passed over without a word."""
    return phase("waiting_loop") & _to_visit(r) & ~exists(_before, _to_visit(_before) & stands_before(_before, r))


def next_running(r: Term) -> Term:
    """The running loop is at r."""
    return (
        phase("running_loop")
        & is_(r, "running")
        & ~scheduled_now(r)
        & ~exists(_before, is_(_before, "running") & ~scheduled_now(_before) & ahead(_before, r))
    )


def in_flight(r: Term) -> Term:
    """A step with tokens of r is not yet processed: it may still write the blocks of r."""
    return in_older(r) | in_newer(r)


def is_fenced(r: Term) -> Term:
    """The blocks of r could not be given to another at once."""
    return in_flight(r) & freed_in_flight.is_("parked")


def wants(r: Term) -> Term:
    """Running r cannot be scheduled before it has one more block."""
    return is_(r, "running") & (owns(r) < needed_blocks(r))


def outranks(q: Term, r: Term) -> Term:
    """q is of a higher priority than r."""
    return urgent(q) & ~urgent(r)


def precedes(q: Term, r: Term) -> Term:
    """Under policy priority, q is served before r: it is of a higher priority, or of the same and arrived before."""
    return outranks(q, r) | (older(q, r) & ~outranks(r, q))


def is_victim(r: Term) -> Term:
    """r is whom the scheduler preempts: of those that run the last one, or who comes last by priority and arrival."""
    comes_first = ite(scheduling_policy.is_("priority"), precedes(r, _last), ahead(r, _last))
    return is_(r, "running") & ~exists(_last, is_(_last, "running") & comes_first)


def may_be_preempted(r: Term) -> Term:
    """Preempting r returns its blocks at once, or nobody asks whether it does."""
    return ~is_fenced(r) | fenced_victim.is_("preempt_anyway")


def frees_are_coming() -> Term:
    """has_pending_block_frees(): stores of requests that have ended will give blocks back."""
    return exists(_q, is_(_q, "held_for_store"))


def running_loop_is_over() -> Term:
    """Every running request is scheduled, or the next one needs a block that cannot be had in this step."""
    stuck = wants(_asks) & free().eq(0) & (frees_are_coming() | ~exists(_q2, is_victim(_q2) & may_be_preempted(_q2)))
    return forall(_asks, next_running(_asks) >> stuck)


def keeps_blocks(r: Term) -> Term:
    """If running r ends now, its store keeps its blocks."""
    return own_store(r) & ~store_hold.is_("nothing")


def store_work() -> Term:
    """has_pending_push_work(): a store is under way, or one was given up and is never forgotten."""
    return exists(_q, entry(_q, "pending") | (entry(_q, "expired") & stall_latch.is_("for_good")))


def has_work() -> Term:
    """The engine keeps stepping."""
    return store_work() | exists(_q, unfinished(_q) | is_(_q, "held_for_load", "held_for_store"))


def all_ended_with_stores() -> Term:
    """All requests have ended, and stores are under way."""
    return exists(_q, entry(_q, "pending")) & ~exists(_q, unfinished(_q))


def blocks_the_engine() -> Term:
    """Building this metadata waits for the last stores, on the engine thread."""
    return last_stores.is_("block_engine") & all_ended_with_stores()


def one_step_open() -> Term:
    """At most one step is dispatched and not processed."""
    return newer_step().eq(step_slots["none"])


def nothing_open() -> Term:
    """No step is dispatched and not processed."""
    return older_step().eq(step_slots["none"])


def outputs_are_due() -> Term:
    """Some output of the processed step is still to be looked at."""
    return exists(_q, output_due(_q))


def somebody(condition: Callable[[Var], Term]) -> Term:
    """Some request meets a condition."""
    return exists(_q, condition(_q))
