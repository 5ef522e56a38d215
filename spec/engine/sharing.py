"""Who shares a block shares all before it, and what else the proof about the contents of blocks knows of the cache."""

from __future__ import annotations

from interlock.spec.engine.common import ADMITTED
from interlock.spec.engine.coverage import ASYNC, DECODE, MIXED, SHARE, SPEC, VICTIM
from interlock.spec.engine.holding import computes, step_state, touches
from interlock.spec.engine.judging import awaits_a_load, is_in_use
from interlock.spec.engine.lemmas import counts
from interlock.spec.engine.predicates import is_
from interlock.spec.engine.vocabulary import (
    addressable,
    b,
    b2,
    b3,
    computed,
    drafted,
    filling,
    parked,
    place,
    r,
    r2,
    role,
    roles,
    scheduled_in,
    sync_meta,
    t,
    table,
    tokens,
    unsettled,
)
from interlock.spec.language.properties import Ground, Invariant, lemmas_of
from interlock.spec.language.terms import Term, exists, forall

_lemma = lemmas_of("computed-within-valid-prefix", (SHARE, VICTIM))


def _loads_alone(r_: Term) -> Term:
    """``r_``, which is being visited and will be admitted, has had ``b`` allocated for a load that goes with step t."""
    return (
        step_state(t, "building")
        & is_(r_, "admitting")
        & table(r_, b)
        & exists(b2, ~is_in_use(b2))
        & forall(r2, table(r2, b) >> r2.eq(r_))
        & ~exists(b3, table(r_, b3) & filling(b3))
    )


LEMMAS = (
    _lemma(
        "a-visited-request-has-a-block-at-every-place",
        "A request that is being visited holds a block at every place that it counts and at which another holds one.",
        forall(
            r,
            r2,
            b,
            (is_(r, "admitting") & table(r2, b) & (place(b) < computed(r)))
            >> exists(b2, table(r, b2) & place(b2).eq(place(b))),
        ),
        exists(r, is_(r, "admitting")),
    ),
    _lemma(
        "who-holds-what-a-step-computes-holds-what-it-reads",
        "Who holds a block that a step computes holds what the step reads for it, before that block.",
        forall(
            r,
            r2,
            t,
            b,
            b2,
            (computes(r, t, b) & role(r, t, b2).eq(roles["read"]) & table(r2, b))
            >> (table(r2, b2) & (place(b2) < place(b))),
        ),
        exists(r, t, b, role(r, t, b).eq(roles["read"])),
        (DECODE, ASYNC),
    ),
    _lemma(
        "what-a-step-computes-or-loads-is-unsettled",
        "A block that a step computes or loads is unsettled.",
        forall(t, b, (exists(r, computes(r, t, b)) | (sync_meta(t, b) > 0)) >> unsettled(t, b)),
        exists(t, b, unsettled(t, b)),
    ),
    _lemma(
        "what-is-unsettled-is-parked-or-held",
        "A block that a step computes or loads is held by a running request that the step schedules, or parked, until "
        "the step is processed.",
        forall(
            t,
            b,
            unsettled(t, b)
            >> (
                step_state(t, "updating")
                | parked(t, b)
                | exists(r, table(r, b) & is_(r, "running") & (scheduled_in(r, t) > 0))
                | exists(r, _loads_alone(r))
            ),
        )
        & forall(t, b, unsettled(t, b) >> ~step_state(t, "idle")),
        exists(t, b, unsettled(t, b)),
    ),
    _lemma(
        "what-is-unsettled-and-found-is-counted",
        "What can be found though it is unsettled is counted by an admitted request, or one that will be.",
        forall(
            t,
            b,
            (addressable(b) & unsettled(t, b))
            >> (exists(r, table(r, b) & (place(b) < computed(r)) & ADMITTED) | exists(r, _loads_alone(r))),
        ),
        exists(t, b, addressable(b) & unsettled(t, b)),
    ),
    _lemma(
        "what-a-load-fills-comes-last-and-is-used-by-no-step",
        "Behind a block that a load fills comes no other, and no step touches one; the last known token is such a one.",
        forall(r, t, b, filling(b) >> (~parked(t, b) & ~touches(r, t, b) & ~unsettled(t, b)))
        & forall(r, b, b2, (table(r, b2) & filling(b2) & table(r, b) & (place(b2) <= place(b))) >> filling(b))
        & forall(
            r,
            b,
            ((is_(r, "admitting") | awaits_a_load(r)) & table(r, b) & (place(b) + 1 >= tokens(r))) >> filling(b),
        ),
        exists(b, filling(b)),
        (ASYNC,),
    ),
    _lemma(
        "a-draft-is-not-shared",
        "The block of a guess cannot be found, and nobody else holds it.",
        forall(
            r,
            r2,
            t,
            b,
            (drafted(r, t) & counts(t) & table(r, b) & (place(b) + 1).eq(computed(r)))
            >> (~addressable(b) & (table(r2, b) >> r2.eq(r))),
        ),
        exists(r, t, drafted(r, t)),
        (SPEC,),
    ),
)

SHARES_THE_PREFIX = Invariant(
    id="who-shares-a-block-shares-all-before-it",
    source="found with this model: see hit_chain",
    doc=(
        "Two requests that hold a block hold the same blocks before it: whatever one of them is told of, or computes "
        "again, on the way to that block, the other knows."
    ),
    slices=(SHARE, VICTIM, MIXED),
    formula=forall(
        r, r2, b, b2, (table(r, b) & table(r2, b) & table(r, b2) & (place(b2) <= place(b))) >> table(r2, b2)
    ),
    premise=exists(r, r2, b, r.ne(r2) & table(r, b) & table(r2, b)),
    proved=True,
    proof=(
        "a-visited-request-has-a-block-at-every-place",
        "table-has-one-block-a-place",
        "waiting-holds-no-block",
        "a-visited-request-counts-all-that-it-holds",
    ),
    given=(
        "a-visit-is-within-the-waiting-loop",
        "only-running-requests-are-in-flight",
        "samples-and-drafts-are-scheduled",
    ),
    grounds=(Ground(action="admit", conjunct="free-block"),),
)

SHARING = (SHARES_THE_PREFIX, *LEMMAS)
