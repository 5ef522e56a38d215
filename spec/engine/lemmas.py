"""The lemmas with which the counters' properties are inductive: at any pipeline depth, for any number of requests."""

from __future__ import annotations

from interlock.spec.engine.coverage import ASYNC, DECODE, OVERLAPPING, PAIR, PARK, SHARE, SPEC, VICTIM
from interlock.spec.engine.judging import has_left
from interlock.spec.engine.predicates import IN_SCHEDULE, at, is_
from interlock.spec.engine.vocabulary import (
    PROMPT,
    before,
    computed,
    drafted,
    in_flight,
    loop,
    loops,
    pass_state,
    pass_states,
    placeholders,
    r,
    r2,
    sampling,
    scheduled_in,
    stale_in,
    start,
    status,
    status_states,
    t,
    t2,
    tokens,
)
from interlock.spec.language.properties import lemmas_of
from interlock.spec.language.terms import Term, exists, forall


def _state(t_: Term, name: str) -> Term:
    return pass_state(t_).eq(pass_states[name])


def counts(t_: Term) -> Term:
    """Step ``t_`` computes tokens of r that its output will count."""
    return (scheduled_in(r, t_) > 0) & ~stale_in(r, t_)


_lemma = lemmas_of("computed-nonnegative", OVERLAPPING)


LEMMAS = (
    _lemma(
        "a-step-begins-where-one-ended",
        "What is processed ends where, or before, a step under way begins, and that step ends within what is computed.",
        forall(
            r,
            t,
            counts(t)
            >> (
                (computed(r) - in_flight(r) <= start(r, t))
                & (start(r, t) + scheduled_in(r, t) <= computed(r))
                & (_state(t, "building") >> (start(r, t) + scheduled_in(r, t)).eq(computed(r)))
            ),
        ),
        exists(r, t, counts(t)),
        (*OVERLAPPING, PARK, DECODE, ASYNC),
    ),
    _lemma(
        "steps-do-not-overlap",
        "Of two steps of a request the later begins where, or after, the earlier ends.",
        forall(
            r,
            t,
            t2,
            (counts(t) & counts(t2) & (before(t, t2) | (_state(t2, "building") & t.ne(t2))))
            >> (start(r, t) + scheduled_in(r, t) <= start(r, t2)),
        ),
        exists(r, t, t2, counts(t) & counts(t2) & before(t, t2)),
    ),
    _lemma(
        "unprocessed-steps-are-ordered",
        "Of two unprocessed steps one was dispatched before the other.",
        forall(t, t2, (has_left(t) & has_left(t2) & t.ne(t2)) >> (before(t, t2) | before(t2, t))),
        exists(t, t2, t.ne(t2) & has_left(t) & has_left(t2)),
    ),
    _lemma(
        "only-unprocessed-steps-are-ordered",
        "No step is before itself or before one that was dispatched earlier, and both are unprocessed.",
        forall(t, t2, before(t, t2) >> (has_left(t) & has_left(t2) & ~before(t2, t))),
        exists(t, t2, before(t, t2)),
    ),
    _lemma(
        "idle-steps-schedule-nothing",
        "What is scheduled is in a step that is built or unprocessed.",
        forall(r, t, _state(t, "idle") >> (scheduled_in(r, t).eq(0) & ~stale_in(r, t) & ~drafted(r, t))),
        exists(t, _state(t, "idle")),
    ),
    _lemma(
        "samples-and-drafts-are-scheduled",
        "A step that samples for a request computes a token of it, and a draft comes after that token.",
        forall(
            r,
            t,
            (sampling(r, t) >> (scheduled_in(r, t) > 0))
            & (drafted(r, t) >> (sampling(r, t) & (scheduled_in(r, t) > 1))),
        ),
        exists(r, t, sampling(r, t)),
    ),
    _lemma(
        "a-step-being-built-is-not-stale",
        "Nothing of a step that is being built is stale.",
        forall(r, t, _state(t, "building") >> ~stale_in(r, t)),
        exists(t, _state(t, "building")),
    ),
    _lemma(
        "one-step-is-built-or-processed-at-a-time",
        "A step is being built only within schedule(), and processed only within an update; one at a time.",
        forall(
            t,
            (_state(t, "building") >> at(*IN_SCHEDULE)) & (_state(t, "updating") >> loop().eq(loops["updating"])),
        )
        & forall(
            t,
            t2,
            t.ne(t2)
            >> (~(_state(t, "building") & _state(t2, "building")) & ~(_state(t, "updating") & _state(t2, "updating"))),
        ),
        exists(t, _state(t, "building")),
    ),
    _lemma(
        "a-visit-is-within-the-waiting-loop",
        "A request is being visited only in the loop over the waiting ones, and one request at a time.",
        forall(r, is_(r, "admitting") >> loop().eq(loops["wait_loop"]))
        & forall(
            r,
            r2,
            (is_(r, "admitting") & is_(r2, "admitting")) >> r.eq(r2),
        ),
        exists(r, is_(r, "admitting")),
        (VICTIM, SHARE, PAIR),
    ),
    _lemma(
        "the-step-being-processed-is-the-oldest",
        "No unprocessed step was dispatched before the one whose output is being processed.",
        forall(t, t2, _state(t, "updating") >> ~before(t2, t)),
        exists(t, _state(t, "updating")),
    ),
    _lemma(
        "only-running-requests-are-in-flight",
        "A request that is not running has nothing in flight that counts.",
        forall(
            r,
            t,
            status(r).ne(status_states["running"]) >> (in_flight(r).eq(0) & ~counts(t)),
        ),
        exists(r, status(r).ne(status_states["running"])),
    ),
    _lemma(
        "prompts-are-known",
        "A request that is there has at least its prompt.",
        forall(r, ~is_(r, "absent", "held") >> (tokens(r) >= PROMPT)),
        exists(r, status(r).ne(status_states["absent"])),
    ),
    _lemma(
        "a-sample-follows-the-last-known-token",
        "A step that samples has got to the last token that is known or owed.",
        forall(
            r,
            t,
            (sampling(r, t) & counts(t)) >> (computed(r) + 1 >= tokens(r) + placeholders(r)),
        ),
        exists(r, t, sampling(r, t) & counts(t)),
    ),
    _lemma(
        "nothing-comes-after-a-draft",
        "Nothing is scheduled after a draft until it has been accepted or rejected.",
        forall(
            r,
            t,
            (drafted(r, t) & counts(t))
            >> ((start(r, t) + scheduled_in(r, t)).eq(computed(r)) & (computed(r) >= tokens(r) + placeholders(r))),
        ),
        exists(r, t, drafted(r, t) & counts(t)),
        (SPEC,),
    ),
)
