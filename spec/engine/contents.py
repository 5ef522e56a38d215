"""What is in the blocks that a request counts: proved at any size, as far as it shares none of them.

``computed-within-valid-prefix`` is checked in slices, and not proved: what is proved ends at the first block that was
taken from the prefix cache.
"""

from __future__ import annotations

from interlock.spec.engine.common import ADMITTED, ALLOCATES, PROCESSED
from interlock.spec.engine.coverage import ASYNC, CORE, DECODE, PARK, RESUME, SPEC, VICTIM
from interlock.spec.engine.holding import HOLDING, computes
from interlock.spec.engine.predicates import at, is_, report_is_due, waits_for_load
from interlock.spec.engine.vocabulary import (
    affected,
    b,
    b2,
    broke,
    claimed,
    computed,
    due,
    failed_msg,
    found,
    good,
    invalid,
    load_meta,
    place,
    r,
    r2,
    redo,
    role,
    roles,
    step_meta,
    sync_meta,
    t,
    table,
    this_life,
    transfer_state,
    transfer_states,
)
from interlock.spec.language.properties import ActionProperty, Ground, Invariant, lemmas_of
from interlock.spec.language.terms import Primed, exists, forall

_lemma = lemmas_of("computed-within-valid-prefix-of-its-own", (DECODE, ASYNC))

_soon = exists(r2, t, computes(r2, t, b)) | exists(t, sync_meta(t, b) > 0)
_excused = exists(
    b2,
    table(r, b2) & (place(b2) <= place(b)) & (found(b2) | (due(b2) & (place(b2) < PROCESSED))),
)
_still_loads = (load_meta(r, b) > 0) | (
    is_(r, "loading", "loading_failed")
    & (transfer_state(r).eq(transfer_states["vanished"]) | broke(r) | exists(t, failed_msg(t, r) > 0))
)
_counted = table(r, b) & (place(b) < computed(r))

LEMMAS = (
    _lemma(
        "what-a-request-computes-is-right-or-excused",
        "What an admitted request counts as computed, in flight or not, is right, or owed, or computed or "
        "loaded by a step that has not run, or comes behind a block that was found, or behind a processed "
        "one whose load failed.",
        forall(r, b, (ADMITTED & _counted) >> (good(b) | redo(b) | _soon | _excused)),
        exists(r, b, ADMITTED & _counted),
    ),
    _lemma(
        "what-a-request-waits-for-is-right-or-excused",
        "What a request that is not admitted counts is right, or still to be loaded, or the load failed and "
        "it will hear.",
        forall(
            r,
            b,
            (~ADMITTED & ~is_(r, "held") & _counted)
            >> (good(b) | exists(t, sync_meta(t, b) > 0) | _excused | _still_loads),
        ),
        exists(r, b, ~ADMITTED & _counted),
    ),
    _lemma(
        "a-step-reads-what-is-right-or-excused",
        "What the step that is with the worker reads for the present life of a request is right when it runs.",
        forall(
            r,
            t,
            b,
            ((step_meta(t) > 0) & this_life(r, t) & role(r, t, b).eq(roles["read"]))
            >> (_excused | good(b) | (sync_meta(t, b) > 0)),
        ),
        exists(r, t, b, role(r, t, b).eq(roles["read"])),
    ),
    _lemma(
        "what-a-step-reads-it-does-not-compute",
        "What a step reads for a request is computed in the same step by nobody, unless the block was found.",
        forall(
            r,
            r2,
            t,
            b,
            (this_life(r, t) & role(r, t, b).eq(roles["read"]) & computes(r2, t, b)) >> found(b),
        ),
        exists(r, t, b, role(r, t, b).eq(roles["read"])),
    ),
    _lemma(
        "a-failure-is-known-until-it-is-dealt-with",
        "As long as the failure of a load is not dealt with, a worker knows of it, or its report is under way.",
        forall(b, due(b) >> report_is_due(b)),
        exists(b, due(b)),
    ),
    _lemma(
        "only-admitted-requests-owe",
        "A block that is to be computed again is of an admitted request, or has been found.",
        forall(r, b, (redo(b) & table(r, b)) >> (found(b) | ADMITTED)),
        exists(b, redo(b)),
        (DECODE,),
    ),
    _lemma(
        "a-step-reads-nothing-owed",
        "A step reads no block that is to be computed again, unless it was found.",
        forall(r, t, b, (role(r, t, b).eq(roles["read"]) & this_life(r, t)) >> (~redo(b) | found(b))),
        exists(r, t, b, role(r, t, b).eq(roles["read"])),
        (DECODE,),
    ),
    _lemma(
        "claims-are-of-those-rolled-back",
        "Blocks are invalid, or claimed, within an update only; who holds a claimed one was rolled back, or shares it.",
        forall(b, invalid(b) >> at("updating"))
        & forall(r, b, claimed(b) >> (at("updating") & (table(r, b) >> (affected(r) | found(b)))))
        & forall(r, affected(r) >> (at("updating") & ~waits_for_load(r))),
        exists(b, claimed(b)),
        (DECODE,),
    ),
    _lemma(
        "rolled-back-below-what-is-invalid",
        "Who was rolled back in this update counts no block that it reports invalid, but one that was found.",
        forall(
            r,
            b,
            (ADMITTED & affected(r) & table(r, b) & invalid(b) & (place(b) < PROCESSED)) >> found(b),
        ),
        exists(r, b, affected(r) & table(r, b)),
        (DECODE,),
    ),
)

_counts = ADMITTED & table(r, b) & (place(b) < PROCESSED)
_known = exists(b2, table(r, b2) & (place(b2) <= place(b)) & (found(b2) | due(b2)))
OWN = Invariant(
    id="computed-within-valid-prefix-of-its-own",
    source="seeds 001; vLLM PR 38096",
    doc=(
        "computed-within-valid-prefix, of a request up to the first of its blocks that it or another has taken from "
        "the prefix cache: what it counts as computed and processed is right, or to be computed again, or computed "
        "or loaded by a step that has not run, or it comes behind a block whose load failed and no update has dealt "
        "with it. Late reports, resets, and blocks that come to others while steps are under way are included."
    ),
    slices=(RESUME, DECODE, ASYNC, PARK, VICTIM),
    formula=forall(r, b, _counts >> (good(b) | redo(b) | _soon | _known)),
    premise=exists(r, b, _counts & ~exists(b2, table(r, b2) & (place(b2) <= place(b)) & found(b2))),
    proved=True,
    proof=(*(lemma.id for lemma in (*LEMMAS, *HOLDING)), "table-has-one-block-a-place"),
    given=(
        "output-counters-nonnegative",
        "a-step-begins-where-one-ended",
        "steps-do-not-overlap",
        "unprocessed-steps-are-ordered",
        "the-step-being-processed-is-the-oldest",
        "idle-steps-schedule-nothing",
        "samples-and-drafts-are-scheduled",
        "nothing-comes-after-a-draft",
        "a-step-being-built-is-not-stale",
        "one-step-is-built-or-processed-at-a-time",
        "a-visit-is-within-the-waiting-loop",
        "only-running-requests-are-in-flight",
    ),
    grounds=(Ground(action="process_outputs", conjunct="scanned-first"),),
)

NEW_IS_NOT_FOUND = ActionProperty(
    id="new-block-is-not-found",
    source="contract G1; what the ghost found means",
    doc="A block that is allocated has been taken from the prefix cache by nobody.",
    slices=(*CORE, SPEC),
    actions=ALLOCATES,
    formula=Primed(body=~found(b)),
)

CONTENTS = (OWN, NEW_IS_NOT_FOUND, *LEMMAS, *HOLDING)
