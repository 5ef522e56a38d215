"""Derived predicates: the words in which guards and properties are said."""

from __future__ import annotations

from interlock.spec.encoder.vocabulary import (
    ec_free,
    ec_future,
    ec_gate,
    ec_waiting_refs,
    encoder_entry,
    encoder_entry_states,
    feature_item,
    feature_state,
    feature_states,
    gave_up,
    in_queue,
    kv_held,
    p,
    phase,
    phases,
    pool_entry,
    pool_entry_states,
    pool_load,
    pool_load_states,
    position,
    queue,
    request,
    uses,
    visit_state,
    visit_states,
    visited,
    visiting,
)
from interlock.spec.language.terms import Term, Var, disjunction, exists, forall, ite

_p, _r = position.var("px"), request.var("rx")


def is_(r: Term, *states: str) -> Term:
    """Request r is in one of these states."""
    return visit_states.one_of(visit_state(r), *states)


def stands(r: Term, p: Term, *states: str) -> Term:
    """The feature of r at p is in one of these states."""
    return feature_states.one_of(feature_state(r, p), *states)


def is_text(r: Term) -> Term:
    """Request r has no feature."""
    return forall(_p, stands(r, _p, "none"))


def in_pool(i: Term, *states: str) -> Term:
    """The pool's entry for i is in one of these states."""
    return pool_entry_states.one_of(pool_entry(i), *states)


def comes_before(x: Term, y: Term) -> Term:
    """In one schedule(), the turn of x comes before that of y, both of the queue: who holds KV, then by place.

    Nothing is said of who was preempted until it is visited again: its turn depends on the policy (first come
    first served, or priorities), and the KV that it gave up may have gone to a runner.
    """
    by_place = queue.before(x, y) & ~is_(x, "preempted") & ~is_(y, "preempted")
    return in_queue(x) & ite(kv_held(x).eq(kv_held(y)), by_place, kv_held(x))


def is_its_turn(r: Term) -> Term:
    """If r is of the queue, this schedule() has visited all who come before it there."""
    return in_queue(r) >> forall(_r, comes_before(_r, r) >> visited(_r))


def between_steps() -> Term:
    """The scheduler may act: no step is with the workers (pipeline depth 1)."""
    return phase().ne(phases["executing"])


def future(r: Term, p: Term) -> Term:
    """offset + length > computed tokens, of the feature of r at p."""
    return stands(r, p, "ahead", "entered")


def asked_about(r: Term, p: Term) -> Term:
    """An answer to r is about its feature at p."""
    everything = stands(r, p, "ahead", "entered", "matched", "counted", "passed")
    return ite(ec_future.is_("future_only"), future(r, p), everything)


def asks_for(r: Term, i: Term) -> Term:
    """An answer to r is about item i."""
    return exists(_p, asked_about(r, _p) & feature_item(r, _p).eq(i))


def all_there(r: Term) -> Term:
    """ensure_cache_available answers True: no item that it is about is in transit, unless r gave it up."""
    return forall(
        _p,
        asked_about(r, _p) >> (gave_up(r, feature_item(r, _p)) | ~in_pool(feature_item(r, _p), "in_transit")),
    )


def is_asked(r: Term) -> Term:
    """The scheduler asks before it goes on with r."""
    return disjunction(ec_gate.is_("all"), ec_gate.is_("waiting_only") & ~kv_held(r))


def may_go_on(r: Term) -> Term:
    """r is not asked about, or the answer is yes."""
    return ~is_asked(r) | all_there(r)


def has_external(r: Term, i: Term) -> Term:
    """has_cache_item: the pool has an entry for i that r has not given up. It tells existence, not readiness."""
    return ~gave_up(r, i) & in_pool(i, "in_transit", "ready", "pinned")


def used_by_another(r: Term, i: Term) -> Term:
    """A request other than r uses i."""
    return exists(_r, _r.ne(r) & uses(_r, i))


def is_consumed(r: Term, p: Term) -> Term:
    """The feature of r at p is done with, as far as freeing its input goes."""
    return ite(ec_free.is_("settled"), stands(r, p, "passed"), stands(r, p, "counted", "passed"))


def needed_elsewhere(r: Term, p_: Var) -> Term:
    """The item of r at p_ was taken for another place of r too, which is not done with.

    A place that is still ahead holds nothing: between two places of one item others need the slot.
    """
    return exists(
        _p,
        _p.ne(p_)
        & stands(r, _p, "entered", "counted", "passed")
        & feature_item(r, _p).eq(feature_item(r, p_))
        & ~is_consumed(r, _p),
    )


def has_a_match(r: Term) -> Term:
    """The KV match of r covers some feature: there is something to load."""
    return exists(p, stands(r, p, "matched"))


def may_not_hold(r: Term) -> Term:
    """r may not keep what it took: it has ended, is preempted, or its visit has turned it away."""
    turned_away = ec_waiting_refs.is_("released") & is_(r, "waiting") & visited(r)
    return is_(r, "finished", "held", "delayed", "preempted") | turned_away


def claims(r: Term) -> Term:
    """The visit to r is open, and r is not admitted yet: what it takes is taken for a waiting request."""
    return visiting(r) & is_(r, "waiting")


def somebody_needs_room() -> Term:
    """The running request being visited is about to reach an item that the encoder cache does not have."""
    missing = encoder_entry_states.one_of(encoder_entry(feature_item(_r, _p)), "absent", "evicted")
    return exists(_r, _p, visiting(_r) & is_(_r, "running") & future(_r, _p) & missing)


def is_loading(j: Term) -> Term:
    """Load j is under way."""
    return pool_load(j).eq(pool_load_states["under_way"])


def runners_are_visited() -> Term:
    """Every request that runs, or is put off with KV in hand, has been visited by this schedule()."""
    return forall(_r, is_(_r, "running", "stalled") >> visited(_r))
