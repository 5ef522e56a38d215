"""What is in the blocks that a request counts: right, or known to be wrong, or a failure is still to be reported."""

from __future__ import annotations

from interlock.spec.engine.common import ADMITTED, PROCESSED, counts_invalid
from interlock.spec.engine.coverage import (
    ASYNC,
    DECODE,
    EVERY,
    LATE,
    LATE_SHARED,
    LATE_SYNC,
    LATE_SYNC_SHARED,
    MIXED,
    RESUME,
)
from interlock.spec.engine.holding import HOLDING, computes, step_state
from interlock.spec.engine.judging import awaits_a_load
from interlock.spec.engine.predicates import at, is_, report_is_due
from interlock.spec.engine.sharing import SHARING
from interlock.spec.engine.vocabulary import (
    addressable,
    affected,
    b,
    b2,
    b3,
    broke,
    claimed,
    computed,
    failed_msg,
    good,
    in_flight,
    invalid,
    load_meta,
    place,
    planned,
    r,
    r2,
    r3,
    redo,
    role,
    roles,
    step_meta,
    sync_meta,
    t,
    t2,
    table,
    transfer_state,
    transfer_states,
    untold,
)
from interlock.spec.language.properties import Ground, Invariant, lemmas_of
from interlock.spec.language.terms import Term, exists, forall

_lemma = lemmas_of("computed-within-valid-prefix", (DECODE, ASYNC))

_IN_RUN_LOOP = at("run_loop", "no_wait")


def _excused(r_: Term, b_: Term) -> Term:
    """In the table of ``r_``, at or before ``b_``, a failure is to be reported, or nobody will be told of it."""
    return exists(
        b3,
        table(r_, b3) & (place(b3) <= place(b_)) & (place(b3) < computed(r_) - in_flight(r_))
        & (untold(b3) | report_is_due(b3)),
    )  # fmt: skip


def _computed_soon(r_: Term, b_: Term) -> Term:
    """A step computes ``b_``, or is to; while running requests are visited, one for another may be taken back."""
    return exists(r3, t, computes(r3, t, b_) & ((step_state(t, "building") & _IN_RUN_LOOP) >> r3.eq(r_)))


_loaded_soon = exists(t, sync_meta(t, b) > 0)
_still_loads = (load_meta(r, b) > 0) | (
    is_(r, "loading", "loading_failed")
    & (transfer_state(r).eq(transfer_states["vanished"]) | broke(r) | exists(t, failed_msg(t, r) > 0))
)
_counts_behind_invalid = ADMITTED & affected(r) & counts_invalid(b2) & table(r, b) & (place(b2) <= place(b))
"""r was rolled back in this update, and counts an invalid block b2 still, and b behind it."""
_counted = ~is_(r, "held") & table(r, b) & (place(b) < computed(r))

LEMMAS = (
    _lemma(
        "what-a-request-counts-is-right-or-excused",
        "What a request counts is right, or owed, or computed or loaded by a step that has not run, or still to be "
        "loaded for it, or it comes behind a processed block of which a failure is to be reported.",
        forall(
            r,
            b,
            _counted
            >> (good(b) | redo(b) | _computed_soon(r, b) | _loaded_soon | _excused(r, b) | (~ADMITTED & _still_loads)),
        ),
        exists(r, b, _counted),
    ),
    _lemma(
        "what-is-found-is-right-or-excused",
        "What the prefix cache can find is right, or about to be, or one who holds it counts it behind a failure that "
        "is to be reported, or nobody will be told.",
        forall(
            b,
            addressable(b)
            >> (
                good(b)
                | exists(r, t, computes(r, t, b))
                | _loaded_soon
                | untold(b)
                | report_is_due(b)
                | exists(r, ~is_(r, "held") & table(r, b) & _excused(r, b))
            ),
        ),
        exists(b, addressable(b)),
    ),
    _lemma(
        "what-is-found-is-not-owed",
        "What the prefix cache can find is not to be computed again, unless the step that is being built does so.",
        forall(b, addressable(b) >> (~redo(b) | planned(b)))
        & forall(r, b, (is_(r, "admitting") & table(r, b)) >> (~redo(b) | planned(b))),
        exists(b, addressable(b)),
    ),
    _lemma(
        "a-step-being-built-goes-on-from-nothing-owed",
        "Nothing that comes before what the step being built computes is owed, unless it computes that, too.",
        forall(
            r,
            t,
            b,
            b2,
            (step_state(t, "building") & computes(r, t, b) & table(r, b2) & (place(b2) < place(b)))
            >> (~redo(b2) | (planned(b2) & (_IN_RUN_LOOP >> computes(r, t, b2)))),
        ),
        exists(r, t, b, step_state(t, "building") & computes(r, t, b)),
        (DECODE,),
    ),
    _lemma(
        "a-step-goes-on-from-what-is-right-or-excused",
        "Who counts a block that the step with the worker computes holds before it what is right when the step runs, "
        "or the block is owed or computed once more, or excused.",
        forall(
            r,
            r2,
            t,
            b,
            b2,
            ((step_meta(t) > 0) & computes(r2, t, b) & _counted & table(r, b2) & (place(b2) < place(b)))
            >> (
                good(b2)
                | (sync_meta(t, b2) > 0)
                | exists(r3, computes(r3, t, b2))
                | redo(b)
                | _excused(r, b)
                | exists(
                    r3,
                    t2,
                    step_state(t2, "building") & computes(r3, t2, b) & (_IN_RUN_LOOP >> r3.eq(r)),
                )
            ),
        ),
        exists(r, t, b, role(r, t, b).eq(roles["read"])),
    ),
    _lemma(
        "claims-are-of-an-update-and-of-what-is-not-found",
        "Blocks are invalid, or claimed, within an update only; what is claimed is owed, what is invalid is not found.",
        forall(b, invalid(b) >> (at("updating") & ~addressable(b)))
        & forall(b, claimed(b) >> (at("updating") & redo(b)))
        & forall(r, affected(r) >> (at("updating") & ~awaits_a_load(r))),
        exists(b, claimed(b)),
        (DECODE,),
    ),
    _lemma(
        "who-was-rolled-back-owes-what-comes-behind-an-invalid-block",
        "What an admitted request that was rolled back in this update holds behind an invalid block, or at it, is owed "
        "and not found, if it counts that block.",
        forall(r, b, b2, _counts_behind_invalid >> (redo(b) & ~addressable(b))),
        exists(r, b, b2, _counts_behind_invalid),
        (LATE_SYNC_SHARED,),
    ),
)

_soon = exists(r2, t, role(r2, t, b).eq(roles["computed"])) | exists(t, sync_meta(t, b) > 0)
_due_before = exists(
    b2,
    table(r, b2) & (place(b2) <= place(b)) & (untold(b2) | report_is_due(b2) | exists(t, sync_meta(t, b2) > 0)),
)
_counts = ADMITTED & table(r, b) & (place(b) < PROCESSED)

VALID_PREFIX = Invariant(
    id="computed-within-valid-prefix",
    source="seeds 001; vLLM PR 38096",
    doc=(
        "What a request counts as computed and processed is right, or known to be wrong and computed again by "
        "another, or the report on it, or on a block before it, is still to be dealt with. At any pipeline depth, "
        "with sharing, resets, preemption, asynchronous and late reports. It needs hit_chain=same_blocks from two "
        "requests and four blocks on. If a report is late, and who would have been told of it has ended, what was "
        "computed from the failed block can be found (`untold`): of that, and of what comes behind it, nothing is "
        "said. See nothing-untold-is-found."
    ),
    slices=(RESUME, *(s for s in EVERY if s != RESUME), MIXED),
    formula=forall(r, b, _counts >> (good(b) | redo(b) | _soon | _due_before)),
    premise=exists(r, b, _counts),
    proved=True,
    proof=(
        *(lemma.id for lemma in (*LEMMAS, *SHARING, *HOLDING)),
        "table-has-one-block-a-place",
    ),
    given=(
        "output-counters-nonnegative",
        "placeholders-are-owed",
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
        "prompts-are-known",
    ),
    grounds=(Ground(action="process_outputs", conjunct="scanned-first"),),
)

_PROMPT_REPORTS = tuple(s for s in (*EVERY, MIXED) if s not in (LATE, LATE_SYNC, LATE_SHARED, LATE_SYNC_SHARED))

NOTHING_UNTOLD = Invariant(
    id="nothing-untold-is-found",
    source="contract R-44: a report comes with the step, or that of the next; what the ghost untold means",
    doc=(
        "No block that can be found was let go, wrong, by the last who counted it and was still to be told of the "
        "failure that it comes from. It is false if a report is late, which the contract (R-44) forbids. Random walks "
        "beyond the slices, without late reports, have found no such block either."
    ),
    slices=_PROMPT_REPORTS,
    only_in_slices="a report that is late, and whose request has ended",
    formula=forall(b, ~untold(b)),
    premise=exists(r, b, table(r, b)),
)

CONTENTS = (VALID_PREFIX, NOTHING_UNTOLD, *LEMMAS, *HOLDING)
