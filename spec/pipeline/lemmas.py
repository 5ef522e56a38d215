"""Lemmas: what orders under way mean, at any depth of the pipeline."""

from __future__ import annotations

from interlock.spec.language.properties import lemmas_of
from interlock.spec.language.terms import exists, forall
from interlock.spec.pipeline.judging import in_metadata, is_open, not_after, uncopied
from interlock.spec.pipeline.predicates import building, dispatched, under_way
from interlock.spec.pipeline.settings import EVERY
from interlock.spec.pipeline.vocabulary import (
    before,
    flush_due,
    flush_order,
    handed,
    j,
    names,
    overwrites,
    slot_state,
    slot_states,
    step_done,
    step_order,
    stow_state,
    stow_states,
    t,
    t2,
    w,
)

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
        (
            "A job is carried only while it is under way, by a step that its worker has not run; flush orders too are "
            "in such a step, and the scheduler knows which."
        ),
        forall(
            w, j, t,
            (in_metadata(w, j, t) >> (under_way(j) & slot_state(t).ne(slot_states["idle"]) & _not_run))
            & ((flush_order(w, j, t) > 0) >> (slot_state(t).ne(slot_states["idle"]) & _not_run & names(t, j))),
        ),
        exists(w, j, t, in_metadata(w, j, t)),
    ),
    _lemma(
        "a-due-flush-is-of-the-slot-being-built",
        "A flush is due only while a step is built, of open jobs, and of each whose source that step overwrites.",
        forall(j, flush_due(j) >> (is_open(j) & exists(t, building(t))))
        & forall(t, j, (flush_due(j) & overwrites(t, j)) >> building(t))
        & forall(t, j, (is_open(j) & overwrites(t, j)) >> flush_due(j)),
        exists(j, flush_due(j)),
    ),
    _lemma(
        "an-ordered-flush-reaches-what-is-still-to-copy",
        "The flush of a job that is still to copy is on its way, in a step that does not come before the job.",
        forall(
            w, j,
            (stow_state(j).eq(stow_states["flush_ordered"]) & uncopied(w, j)) >> exists(t, flush_order(w, j, t) > 0),
        )
        & forall(w, j, t, t2, (in_metadata(w, j, t2) & (flush_order(w, j, t) > 0)) >> not_after(t2, t)),
        exists(w, j, stow_state(j).eq(stow_states["flush_ordered"]) & uncopied(w, j)),
    ),
)  # fmt: skip
PIPELINE_LEMMAS = tuple(lemma.id for lemma in LEMMAS)
