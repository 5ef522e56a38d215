"""Lemmas: what orders under way mean, at any depth of the pipeline."""

from __future__ import annotations

from interlock.spec.language.properties import lemmas_of
from interlock.spec.language.terms import exists, forall
from interlock.spec.pipeline.predicates import building, dispatched, is_open, to_copy, under_way
from interlock.spec.pipeline.settings import DEPTH_ONE, DEPTH_ONE_PAIR, DEPTH_TWO
from interlock.spec.pipeline.vocabulary import (
    before,
    flush_due,
    flush_order,
    handed,
    j,
    overwrites,
    shard_state,
    shard_states,
    slot_state,
    slot_states,
    step_done,
    step_order,
    store_order,
    stow_state,
    stow_states,
    t,
    t2,
    w,
)

EVERY = (DEPTH_ONE, DEPTH_ONE_PAIR, DEPTH_TWO)


_lemma = lemmas_of("store-source-stable-in-pipeline", EVERY)


_not_run = ~handed(w, t) | (step_order(w, t) > 0)

LEMMAS = (
    _lemma(
        "one-slot-is-built-at-a-time",
        "At most one step is being built.",
        forall(t, t2, (building(t) & building(t2)) >> t.eq(t2)),
        exists(t, building(t)),
    ),
    _lemma(
        "slots-are-ordered-by-dispatch",
        "Unprocessed steps are in the order of dispatch, and nothing else is.",
        forall(t, t2, before(t, t2) >> (dispatched(t) & dispatched(t2) & ~before(t2, t)))
        & forall(t, t2, (dispatched(t) & dispatched(t2) & t.ne(t2)) >> (before(t, t2) | before(t2, t))),
        exists(t, t2, before(t, t2)),
        (DEPTH_TWO,),
    ),
    _lemma(
        "a-slot-in-hand-is-dispatched",
        "A worker has, or has run, only steps that are unprocessed: each once, and after those before it.",
        forall(
            w, t,
            (handed(w, t) >> dispatched(t))
            & ((step_order(w, t) > 0) >> (handed(w, t) & ~(step_done(w, t) > 0)))
            & ((step_done(w, t) > 0) >> handed(w, t))
            & (handed(w, t) >> ((step_order(w, t) + step_done(w, t)).eq(1)))
            & ~(~handed(w, t) & ((step_order(w, t) > 0) | (step_done(w, t) > 0))),
        )
        & forall(w, t, t2, (handed(w, t) & before(t2, t)) >> (step_done(w, t2) > 0)),
        exists(w, t, handed(w, t)),
    ),
    _lemma(
        "orders-travel-with-their-slot",
        "A store order is of a store that is under way, in a step that its worker has not run; flush orders likewise.",
        forall(
            w, j, t,
            ((store_order(w, j, t) > 0) >> (under_way(j) & slot_state(t).ne(slot_states["idle"]) & _not_run))
            & ((flush_order(w, j, t) > 0) >> (slot_state(t).ne(slot_states["idle"]) & _not_run)),
        ),
        exists(w, j, t, store_order(w, j, t) > 0),
    ),
    _lemma(
        "a-slot-that-overwrites-comes-last",
        "A step that overwrites a source is unprocessed, and the step that carries the store does not come after it.",
        forall(t, j, overwrites(t, j) >> slot_state(t).ne(slot_states["idle"]))
        & forall(
            w, j, t, t2,
            ((store_order(w, j, t2) > 0) & overwrites(t, j))
            >> (t.eq(t2) | before(t2, t) | (building(t) & dispatched(t2))),
        ),
        exists(t, j, overwrites(t, j)),
    ),
    _lemma(
        "a-due-flush-is-of-the-slot-being-built",
        "A flush is still to be ordered of just the open stores whose source the step being built overwrites.",
        forall(j, flush_due(j) >> (is_open(j) & exists(t, building(t) & overwrites(t, j))))
        & forall(t, j, (flush_due(j) & overwrites(t, j)) >> building(t))
        & forall(t, j, (is_open(j) & overwrites(t, j)) >> flush_due(j)),
        exists(j, flush_due(j)),
    ),
    _lemma(
        "an-overwritten-source-is-flushed-by-that-slot",
        "Where a store is still to copy, the step that overwrites its source flushes it, or is about to be told to.",
        forall(
            w, j, t, t2,
            (
                overwrites(t, j)
                & (shard_state(w, j).eq(shard_states["queued"]) | (store_order(w, j, t2) > 0))
            )
            >> (flush_due(j) | (flush_order(w, j, t) > 0)),
        ),
        exists(t, j, overwrites(t, j)),
    ),
    _lemma(
        "an-ordered-flush-is-of-an-overwritten-source",
        "A flush that was ordered of a store still to copy is on its way with the step that overwrites its source.",
        forall(
            w, j,
            (stow_state(j).eq(stow_states["flush_ordered"]) & to_copy(w, j))
            >> exists(t, overwrites(t, j) & (flush_order(w, j, t) > 0)),
        ),
        exists(w, j, stow_state(j).eq(stow_states["flush_ordered"]) & to_copy(w, j)),
    ),
)  # fmt: skip
PIPELINE_LEMMAS = tuple(lemma.id for lemma in LEMMAS)
_OF_FLUSHES = (
    "slots-are-ordered-by-dispatch",
    "an-overwritten-source-is-flushed-by-that-slot",
    "an-ordered-flush-is-of-an-overwritten-source",
)
COUNTING_LEMMAS = tuple(i for i in PIPELINE_LEMMAS if i not in _OF_FLUSHES)
"""Counting reports needs to know nothing of flushes."""
