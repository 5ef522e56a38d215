"""Who holds, computes and loads a block: what the proof about the contents of blocks knows of tables and steps."""

from __future__ import annotations

from interlock.spec.engine.common import PROCESSED
from interlock.spec.engine.coverage import ASYNC, DECODE, PARK, RESUME, SECOND
from interlock.spec.engine.judging import awaits_a_load
from interlock.spec.engine.predicates import at, is_
from interlock.spec.engine.vocabulary import (
    addressable,
    b,
    broke,
    computed,
    failed_msg,
    filling,
    foreign,
    load_meta,
    load_start,
    parked,
    pass_state,
    pass_states,
    place,
    planned,
    r,
    r2,
    recv_msg,
    role,
    roles,
    scheduled_in,
    stale_in,
    start,
    step_meta,
    step_output,
    sync_meta,
    t,
    t2,
    table,
    this_life,
    transfer_state,
    transfer_states,
    zero_meta,
)
from interlock.spec.language.properties import lemmas_of
from interlock.spec.language.terms import Term, exists, forall

_lemma = lemmas_of("computed-within-valid-prefix", (DECODE, ASYNC))


def step_state(t_: Term, name: str) -> Term:
    """Step ``t_`` is in this state."""
    return pass_state(t_).eq(pass_states[name])


def computes(r_: Term, t_: Term, b_: Term) -> Term:
    """Step ``t_``, which has not run, computes ``b_`` for ``r_``."""
    return role(r_, t_, b_).eq(roles["computed"])


def touches(r_: Term, t_: Term, b_: Term) -> Term:
    """Step ``t_``, which has not run, computes or reads ``b_`` for ``r_``."""
    return role(r_, t_, b_).ne(roles["none"])


_HAS_LOAD = is_(r, "loading", "loading_failed", "held")
_AT_WORKER = transfer_state(r).ne(transfer_states["idle"])

HOLDING = (
    _lemma(
        "blocks-of-steps-are-held-or-parked",
        "What a step that has not run touches is held by the running request for which it does so, or "
        "parked; of its present life, what it reads comes before what it computes, and both are computed "
        "tokens.",
        forall(
            r,
            t,
            b,
            touches(r, t, b)
            >> (
                (parked(t, b) | (table(r, b) & is_(r, "running")))
                & (scheduled_in(r, t) > 0)
                & ((step_meta(t) > 0) | step_state(t, "building"))
                & (step_state(t, "building") >> this_life(r, t))
                & (this_life(r, t) >> (table(r, b) & (place(b) < computed(r))))
                & ((this_life(r, t) & computes(r, t, b)) >> (start(r, t) <= place(b)))
                & ((this_life(r, t) & ~computes(r, t, b)) >> (place(b) < start(r, t)))
            ),
        ),
        exists(r, t, b, touches(r, t, b)),
    ),
    _lemma(
        "parked-blocks-are-of-no-table",
        "A block is parked for a dispatched step.",
        forall(t, b, parked(t, b) >> step_state(t, "dispatched")),
        exists(t, b, parked(t, b)),
        (PARK, RESUME),
    ),
    _lemma(
        "no-step-zeroes-or-takes",
        "No step zeroes a block, and none computes a block that has become another's.",
        forall(t, b, zero_meta(t, b).eq(0) & ~foreign(t, b)),
        exists(r, t, b, computes(r, t, b)),
        (DECODE, PARK),
    ),
    _lemma(
        "one-step-is-with-the-worker",
        "One step at a time is dispatched and has not run; the one that was there before has given its output.",
        forall(
            t,
            ((step_meta(t) > 0) >> (step_state(t, "dispatched") & step_output(t).eq(0) & step_meta(t).eq(1)))
            & ((step_output(t) > 0) >> (step_state(t, "dispatched") & step_output(t).eq(1))),
        )
        & forall(t, t2, ((step_meta(t) > 0) & (step_meta(t2) > 0)) >> t.eq(t2)),
        exists(t, step_meta(t) > 0),
    ),
    _lemma(
        "loads-of-a-step-are-new",
        "A load that goes with a step is offered to who waits, and over when the step has run; no earlier step touches "
        "its block.",
        forall(t, b, (sync_meta(t, b) > 0) >> (step_state(t, "building") | (step_meta(t) > 0)))
        & forall(t, b, ((sync_meta(t, b) > 0) & step_state(t, "building")) >> ~at("run_loop", "no_wait"))
        & forall(r, t, t2, b, ((sync_meta(t, b) > 0) & step_state(t, "building") & t.ne(t2)) >> ~touches(r, t2, b)),
        exists(t, b, sync_meta(t, b) > 0),
        (DECODE,),
    ),
    _lemma(
        "what-a-step-loads-is-processed-or-computed-again",
        "A block that a step is to load counts as processed at once, unless it is being computed again.",
        forall(
            r,
            t,
            b,
            ((sync_meta(t, b) > 0) & table(r, b) & (place(b) >= PROCESSED) & (place(b) < computed(r)))
            >> exists(t2, computes(r, t2, b)),
        ),
        exists(t, b, sync_meta(t, b) > 0),
        (DECODE,),
    ),
    _lemma(
        "a-step-being-built-computes-its-tokens",
        "What is scheduled of a request in the step that is being built is computed by it, block by block.",
        forall(
            r,
            t,
            (step_state(t, "building") & (scheduled_in(r, t) > 0))
            >> (this_life(r, t) & is_(r, "running") & exists(b, computes(r, t, b))),
        )
        & forall(
            r,
            t,
            b,
            (
                step_state(t, "building")
                & table(r, b)
                & (scheduled_in(r, t) > 0)
                & (computed(r) - scheduled_in(r, t) <= place(b))
                & (place(b) < computed(r))
            )
            >> computes(r, t, b),
        ),
        exists(r, t, step_state(t, "building") & (scheduled_in(r, t) > 0)),
    ),
    _lemma(
        "this-life-is-running-and-scheduled",
        "A step that computes tokens of the present life of a request has scheduled it, and its output counts.",
        forall(r, t, this_life(r, t) >> (is_(r, "running") & (scheduled_in(r, t) > 0) & ~stale_in(r, t))),
        exists(r, t, this_life(r, t)),
    ),
    _lemma(
        "waiting-holds-no-block",
        "Who waits or is gone counts nothing, and holds nothing, unless a load still fills its blocks.",
        forall(
            r,
            is_(r, "waiting", "preempted", "deferred_by_lookup", "absent", "held") >> computed(r).eq(0),
        )
        & forall(r, b, is_(r, "waiting", "preempted", "deferred_by_lookup", "absent") >> ~table(r, b)),
        exists(r, is_(r, "waiting")),
        (ASYNC, RESUME, SECOND),
    ),
    _lemma(
        "a-visited-request-counts-all-that-it-holds",
        "A request that is being visited counts all blocks that it holds.",
        forall(r, b, (is_(r, "admitting") & table(r, b)) >> (place(b) < computed(r))),
        exists(r, is_(r, "admitting")),
    ),
    _lemma(
        "what-is-planned-is-computed",
        "A block counts as planned if the step that is being built computes it, and no other does.",
        forall(b, planned(b) >> exists(r, t, step_state(t, "building") & computes(r, t, b)))
        & forall(r, t, b, (step_state(t, "building") & computes(r, t, b)) >> planned(b)),
        exists(b, planned(b)),
    ),
    _lemma(
        "what-a-load-fills",
        "A load fills blocks of its own request, which nobody else holds or finds, until the request is promoted.",
        forall(
            r,
            b,
            ((load_meta(r, b) > 0) >> (table(r, b) & filling(b) & (is_(r, "admitting") | (load_start(r) > 0))))
            & ((filling(b) & table(r, b)) >> (is_(r, "admitting", "held") | awaits_a_load(r))),
        )
        & forall(b, filling(b) >> (~addressable(b) & exists(r, table(r, b))))
        & forall(r, r2, b, (filling(b) & table(r, b) & table(r2, b)) >> r.eq(r2)),
        exists(r, b, load_meta(r, b) > 0),
        (ASYNC, PARK),
    ),
    _lemma(
        "one-load-at-a-time",
        "Of a request that waits for a load, or is held by one, the load is to start, or with the worker, or "
        "reported: one of these, once.",
        forall(
            r,
            ((load_start(r) > 0) >> (load_start(r).eq(1) & _HAS_LOAD & ~_AT_WORKER))
            & (_AT_WORKER >> _HAS_LOAD)
            & (broke(r) >> transfer_state(r).eq(transfer_states["ended"])),
        )
        & forall(
            r,
            t,
            ((recv_msg(t, r) > 0) >> (recv_msg(t, r).eq(1) & _HAS_LOAD & ~_AT_WORKER & load_start(r).eq(0)))
            & ((failed_msg(t, r) > 0) >> (failed_msg(t, r).eq(1) & (recv_msg(t, r) > 0))),
        )
        & forall(r, t, t2, ((recv_msg(t, r) > 0) & (recv_msg(t2, r) > 0)) >> t.eq(t2)),
        exists(r, load_start(r) > 0),
        (ASYNC, PARK),
    ),
)
