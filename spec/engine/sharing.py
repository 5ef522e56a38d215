"""Who shares a block shares all before it: what the rule of hits (`hit_chain`) comes to, at any size."""

from __future__ import annotations

from interlock.spec.engine.common import RECOMPUTED
from interlock.spec.engine.coverage import DECODE, MIXED, OVERLAP, SHARE, VICTIM
from interlock.spec.engine.predicates import is_
from interlock.spec.engine.vocabulary import (
    addressable,
    b,
    b2,
    computed,
    invalid_hash,
    place,
    planned,
    r,
    r2,
    redo,
    table,
)
from interlock.spec.language.properties import Ground, Invariant, lemmas_of
from interlock.spec.language.terms import exists, forall

_lemma = lemmas_of("who-shares-a-block-shares-all-before-it", (SHARE, VICTIM))

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
        *(lemma.id for lemma in LEMMAS),
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

FOUND_IS_NOT_OWED = Invariant(
    id="what-is-found-is-not-owed",
    source="contract D1; found with this model",
    doc="What the prefix cache can find is not known to be wrong, unless the step being built computes it again.",
    slices=(SHARE, OVERLAP, DECODE),
    applies=invalid_hash.is_("evict"),
    applies_in=dict.fromkeys((SHARE, OVERLAP, DECODE), RECOMPUTED),
    formula=forall(b, addressable(b) >> (~redo(b) | planned(b))),
    premise=exists(b, redo(b)) & exists(b, addressable(b)),
)

SHARING = (SHARES_THE_PREFIX, FOUND_IS_NOT_OWED, *LEMMAS)
