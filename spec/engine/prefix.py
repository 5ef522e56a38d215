"""What counts as computed and processed, at any pipeline depth and for any number of requests and blocks.

``computed-within-valid-prefix`` speaks of what is in the blocks, which depends on the workers, too: see ``contents``.
Proved for any size, in one proof, is what of it the scheduler knows: that what counts as processed is so, and that an
update leaves no block counted that was reported invalid and that nobody computes again.
"""

from __future__ import annotations

from interlock.spec.engine.common import ADMITTED, PROCESSED, RECOMPUTED, counts_invalid
from interlock.spec.engine.coverage import (
    ASYNC,
    DECODE,
    HAND,
    LATE,
    LATE_SYNC,
    OVERLAP,
    OVERLAPPING,
    PARK,
    RESUME,
    SHARE,
    SPEC,
)
from interlock.spec.engine.lemmas import LEMMAS, counts
from interlock.spec.engine.predicates import at
from interlock.spec.engine.vocabulary import (
    affected,
    b,
    before,
    claimed,
    computed,
    confirmed,
    in_flight,
    invalid,
    pass_state,
    pass_states,
    r,
    redo,
    scheduled_in,
    start,
    t,
    t2,
    table,
)
from interlock.spec.language.properties import Ground, Invariant
from interlock.spec.language.terms import Term, exists, forall

_COUNTERS = (
    "computed-nonnegative", "placeholders-are-owed", *(lemma.id for lemma in LEMMAS),
)  # fmt: skip


def _end(t_: Term) -> Term:
    """The place after the last token of r in step ``t_``."""
    return start(r, t_) + scheduled_in(r, t_)


STEPS_ADJOIN = Invariant(
    id="steps-adjoin",
    source="lemma of counted-tokens-are-confirmed",
    doc="A step begins where what is processed ends, or where a step before it ends.",
    slices=OVERLAPPING,
    formula=forall(
        r,
        t2,
        counts(t2)
        >> (
            start(r, t2).eq(PROCESSED)
            | exists(
                t,
                counts(t)
                & t.ne(t2)
                & _end(t).eq(start(r, t2))
                & (before(t, t2) | pass_state(t2).eq(pass_states["building"])),
            )
        ),
    ),
    premise=exists(r, t, t2, counts(t) & counts(t2) & before(t, t2)),
    lemma=True,
)

LAST_STEP_ENDS_IT = Invariant(
    id="what-is-in-flight-ends-with-a-step",
    source="lemma of counted-tokens-are-confirmed",
    doc="If something is in flight, a step ends where what is computed ends.",
    slices=OVERLAPPING,
    formula=forall(r, in_flight(r).eq(0) | exists(t, counts(t) & _end(t).eq(computed(r)))),
    premise=exists(r, in_flight(r) > 0),
    lemma=True,
)

COUNTED_IS_CONFIRMED = Invariant(
    id="counted-tokens-are-confirmed",
    source="seeds 001: the base of recovery is what is computed less what is in flight; vLLM PR 38096",
    doc=(
        "What a request counts as computed, less what is in flight, is what was found, loaded or computed by steps "
        "whose output is processed, without a gap, and no rollback has undone since: no more, and no less."
    ),
    slices=(RESUME, SHARE, OVERLAP, SPEC, DECODE, PARK, ASYNC, HAND),
    formula=forall(r, confirmed(r).eq(PROCESSED)),
    premise=exists(r, PROCESSED > 0),
    proved=True,
    # What is said of invalid blocks is proved with it: two proofs would ask for all that they share twice.
    proof=(
        "steps-adjoin",
        "what-is-in-flight-ends-with-a-step",
        "claims-are-of-an-update-and-owed",
        "invalid-block-that-counts-is-recomputed",
    ),
    given=_COUNTERS,
    grounds=(Ground(action="take_over", conjunct="counts-a-wrong-block"),),
)

MARKS_ARE_OF_AN_UPDATE = Invariant(
    id="claims-are-of-an-update-and-owed",
    source="lemma of invalid-block-that-counts-is-recomputed",
    doc="Blocks are claimed and requests rolled back within an update only, and what is claimed is owed.",
    slices=(DECODE, SHARE, OVERLAP),
    formula=forall(b, claimed(b) >> (at("updating") & redo(b))) & forall(r, affected(r) >> at("updating")),
    premise=exists(b, claimed(b)),
    lemma=True,
)

_FAILED_LATER = (LATE_SYNC, DECODE, SHARE, OVERLAP, LATE)

INVALID_IS_OWED = Invariant(
    id="invalid-block-that-counts-is-recomputed",
    source="contract Q24, 5(b); seeds 001",
    doc=(
        "Once an update has rolled a request back, what it counts as computed, less what is in flight, ends before the "
        "first block of its table that was reported invalid and that nobody is to compute again."
    ),
    slices=_FAILED_LATER,
    applies_in=dict.fromkeys(_FAILED_LATER, RECOMPUTED),
    formula=forall(
        r,
        b,
        (ADMITTED & affected(r) & counts_invalid(b)) >> redo(b),
    ),
    premise=exists(r, b, affected(r) & table(r, b) & invalid(b)),
)

PREFIX = (STEPS_ADJOIN, LAST_STEP_ENDS_IT, COUNTED_IS_CONFIRMED, MARKS_ARE_OF_AN_UPDATE, INVALID_IS_OWED)
