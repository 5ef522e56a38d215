"""What loads leave behind, and what is done about those that fail."""

from __future__ import annotations

from interlock.spec.engine.common import ADMITTED, COMPUTES, PROCESSED, RECOMPUTED, counts_invalid
from interlock.spec.engine.coverage import (
    ASYNC,
    BESIDE_GUESS,
    DECODE,
    HAND,
    LATE,
    LATE_SYNC,
    LATE_SYNC_SHARED,
    LIVE,
    OVERLAP,
    PAIR,
    PARK,
    RESUME,
    SHARE,
    SHARED_OWN,
    SPEC,
)
from interlock.spec.engine.judging import awaits_a_load
from interlock.spec.engine.predicates import IN_SCHEDULE, at, is_, step_is
from interlock.spec.engine.vocabulary import (
    PROMPT,
    affected,
    b,
    b2,
    b3,
    bad,
    broke,
    claimed,
    computed,
    delayed,
    entry_lost,
    entry_wrong,
    external,
    filling,
    good,
    in_flight,
    invalid,
    invalid_msg,
    late,
    load_has_failed,
    load_meta,
    place,
    r,
    r2,
    recovery_base,
    redo,
    refused,
    scheduled_in,
    shared_recompute,
    step_output,
    sync_meta,
    t,
    t2,
    table,
    tokens,
    transfer_state,
    transfer_states,
    withheld,
)
from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.terms import Primed, Term, exists, forall, ite

# --- loads

LOADING_HAS_BLOCKS = Invariant(
    id="loading-request-has-blocks-to-fill",
    source="contract Q8, R-05",
    doc="A request waits for a load only if there is a block to fill, and expects a token unless the load failed.",
    slices=(PARK, ASYNC, LATE),
    formula=forall(
        r,
        (awaits_a_load(r) >> exists(b, table(r, b) & filling(b)))
        & (is_(r, "loading", "received") >> (computed(r) > 0)),
    ),
    premise=exists(r, is_(r, "loading")),
)

PROMOTED_HAS_PREFIX = ActionProperty(
    id="promoted-request-has-a-valid-prefix",
    source="contract Q13, Q15",
    doc="A request of whose load nothing is valid is not promoted: it is looked up anew.",
    slices=(PARK, ASYNC),
    actions=("promote",),
    formula=Primed(body=computed(r) > 0),
)

BROKEN_HAS_ENDED = Invariant(
    id="broken-load-has-ended",
    source="contract Q17, R-46",
    doc="The worker has a failure of a whole load to report only if that load has ended: each is reported once.",
    slices=(PARK, ASYNC),
    formula=forall(r, broke(r) >> transfer_state(r).eq(transfer_states["ended"])),
    premise=exists(r, broke(r)),
)

FAILED_IS_NOT_FILLED = ActionProperty(
    id="failed-block-is-not-filled",
    source="contract R-43, R-44",
    doc="A block whose load fails is to be reported, and is filled by nothing any more.",
    slices=(DECODE, ASYNC, PARK),
    actions=("sync_block_fails", "block_load_fails"),
    formula=Primed(body=bad(b) & forall(t2, sync_meta(t2, b).eq(0)) & forall(r2, load_meta(r2, b).eq(0))),
)

FAILS_AT_THE_WORKER = ActionProperty(
    id="loads-of-a-step-fail-at-the-worker",
    source="contract R-44",
    doc="A load that goes with a step fails when the step has been dispatched and has not run.",
    slices=(DECODE,),
    actions=("sync_block_fails",),
    formula=step_is("dispatched") & step_output(t).eq(0),
)

LOAD_FILLS_ITS_BLOCKS = ActionProperty(
    id="a-load-fills-its-blocks-only",
    source="contract L3, R-43",
    doc="The end of a load makes those blocks right whose load did not fail, and no others.",
    slices=(PARK, ASYNC),
    actions=("load_arrives",),
    formula=forall(b, Primed(body=good(b)).eq(good(b) | (load_meta(r, b) > 0))),
)

STEP_MAKES_RIGHT_ITS_OWN = ActionProperty(
    id="a-step-makes-right-what-it-loads-or-computes",
    source="contract R-33, R-44",
    doc="A block that was wrong is right after a step only if the step has loaded or computed it.",
    slices=(DECODE, PARK),
    actions=("run_forward",),
    formula=forall(b, (~good(b) & Primed(body=good(b))) >> ((sync_meta(t, b) > 0) | exists(r, COMPUTES))),
)

REPORTED_ONCE = ActionProperty(
    id="a-failed-load-is-reported-once",
    source="contract R-43, R-44: in the step's output, or that of the next",
    doc="The failure of a block is in the next step's output and then forgotten; a withheld one comes a step later.",
    slices=(DECODE, PARK, LATE_SYNC),
    actions=("run_forward",),
    formula=forall(
        b,
        bad(b) >> Primed(body=bad(b)).eq(withheld(b))
        & (Primed(body=invalid_msg(t, b) > 0).eq(bad(b) & ~withheld(b)))
        & Primed(body=~withheld(b) & (delayed(b) >> bad(b))),
    ),
)

ONLY_FAILURES_ARE_LATE = Invariant(
    id="only-failures-are-withheld",
    source="contract R-43, R-44, 5(b)",
    doc="What is withheld is a failure, and it counts as late only until it is reported.",
    slices=(LATE_SYNC, LATE),
    formula=forall(b, (withheld(b) >> bad(b)) & (late(b) >> (bad(b) | exists(t, invalid_msg(t, b) > 0)))),
    premise=exists(b, withheld(b)),
)

REPORTS_WITH_STEP = Invariant(
    id="reports-come-with-their-step",
    source="contract 6.1: invalid_block_ids are part of the output",
    doc="A report of invalid blocks is there from when its step has run until its output is processed.",
    slices=(DECODE, ASYNC),
    formula=forall(t, b, (invalid_msg(t, b) > 0) >> (step_output(t) > 0)),
    premise=exists(t, b, invalid_msg(t, b) > 0),
)

# --- recovery

ENTRIES_OF_THE_STEP = Invariant(
    id="wrong-entries-are-of-the-step-being-processed",
    source="seeds 001",
    doc="An entry of the scheduled-tokens map can be wrong only for a request of the step whose output came with it.",
    slices=(RESUME,),
    formula=forall(r, t, (entry_lost(r, t) | entry_wrong(r, t)) >> (step_is("updating") & (scheduled_in(r, t) > 0))),
    premise=exists(r, t, entry_lost(r, t) & entry_wrong(r, t)),
)

_ROLLS_BACK = ("claim", "keep_base")
_FROM_IN_FLIGHT = RECOMPUTED & recovery_base.is_("computed_minus_in_flight")


def _another_has_gone_back_to(b_: Term) -> Term:
    return exists(r2, r2.ne(r) & affected(r2) & table(r2, b_) & (computed(r2) <= place(b_)))


ROLLED_BACK_ONCE = ActionProperty(
    id="a-request-is-rolled-back-once-an-update",
    source="contract Q24, 5(b)",
    doc="An admitted request is rolled back in an update, for an invalid block among its processed tokens, and once.",
    slices=(DECODE, SHARE, OVERLAP, LATE),
    applies=_FROM_IN_FLIGHT,
    actions=_ROLLS_BACK,
    formula=step_is("updating") & ADMITTED & ~affected(r) & Primed(body=affected(r)) & exists(b2, counts_invalid(b2)),
)

CLAIM_GOES_BELOW = ActionProperty(
    id="a-claim-is-of-an-invalid-block",
    source="contract Q24, 5(b)",
    doc="A request that claims a block goes back to it; it was invalid, counted as processed, and claimed by nobody.",
    slices=(DECODE, SHARE, LATE),
    applies=_FROM_IN_FLIGHT,
    actions=("claim",),
    formula=counts_invalid(b)
    & ~_another_has_gone_back_to(b)
    & forall(b2, Primed(body=claimed(b2)).eq(claimed(b2) | counts_invalid(b2)))
    & Primed(body=computed(r)).eq(place(b)),
)

KEEPS_PROCESSED = ActionProperty(
    id="a-sharer-keeps-what-was-processed",
    source="contract 5(b); seeds 001",
    doc="A request whose invalid blocks others compute again counts what was processed, and nothing in flight.",
    slices=(SHARE, OVERLAP),
    applies=_FROM_IN_FLIGHT,
    actions=("keep_base",),
    formula=Primed(body=computed(r)).eq(PROCESSED) & Primed(body=in_flight(r)).eq(0),
)

OTHERS_COMPUTE_ALL = ActionProperty(
    id="who-keeps-its-base-has-nothing-to-compute-again",
    source="contract Q24, 5(b); seeds 001",
    doc="A request keeps what was processed only if others compute all of its invalid blocks again.",
    slices=(SHARE, OVERLAP, SHARED_OWN),
    applies=_FROM_IN_FLIGHT,
    actions=("keep_base",),
    formula=forall(b2, counts_invalid(b2) >> _another_has_gone_back_to(b2)),
)

BEYOND_IS_OWED = ActionProperty(
    id="what-lies-beyond-is-owed",
    source="contract Q24; seeds 001",
    doc="What a request that is rolled back holds beyond the tokens that it counts is to be computed again.",
    slices=(DECODE, SHARE),
    applies=RECOMPUTED,
    actions=(*_ROLLS_BACK, "take_over"),
    formula=forall(b2, (table(r, b2) & (place(b2) >= Primed(body=computed(r)))) >> Primed(body=redo(b2))),
)

BEHIND_IS_OWED = ActionProperty(
    id="what-comes-behind-an-invalid-block-is-owed",
    source="contract 5(b); found with this model: who computed it from the invalid block may have ended",
    doc="What a request that is rolled back holds behind its first invalid block is to be computed again.",
    slices=(DECODE, SHARE, OVERLAP, LATE_SYNC_SHARED),
    applies=_FROM_IN_FLIGHT & shared_recompute.is_("awaited"),
    actions=_ROLLS_BACK,
    formula=forall(
        b2,
        (table(r, b2) & exists(b3, counts_invalid(b3) & (place(b3) <= place(b2)))) >> Primed(body=redo(b2)),
    ),
)

TAKEN_OVER = ActionProperty(
    id="a-block-is-taken-over-if-nobody-else-will",
    source="found with this model: the request that was to compute a shared block again was aborted or preempted",
    doc="A request goes back to a wrong block that it counts, in schedule(), if no other will come to it.",
    slices=(SHARE,),
    applies=RECOMPUTED,
    actions=("take_over",),
    formula=at(*IN_SCHEDULE)
    & table(r, b)
    & redo(b)
    & (place(b) < computed(r))
    & ~exists(r2, r2.ne(r) & is_(r2, "running", "promoted") & table(r2, b) & (computed(r2) <= place(b)))
    & ~exists(b2, table(r, b2) & redo(b2) & (place(b2) < place(b)))
    & Primed(body=computed(r)).eq(place(b)),
)

IN_THEIR_UPDATE = ActionProperty(
    id="reports-are-taken-in-their-update",
    source="contract 6.1, section 10",
    doc="Reports and outputs are taken when the output of their step is processed, at no other time.",
    slices=(PARK, ASYNC, SPEC, OVERLAP, HAND),
    actions=(
        "recover_loading", "take_failure", "finished_recving", "reject_draft", "stop", "claim", "keep_base",
        "fail_running", "fail_loading", "fail_failure",
    ),
    formula=step_is("updating"),
)  # fmt: skip

FAILED_BLOCKS_FIRST = ActionProperty(
    id="failed-blocks-come-before-the-end-of-a-load",
    source="contract 6.1: failures come before finished_recving",
    doc="When the end of a load is taken, no block that its request counts is still known as failed.",
    slices=(PARK, ASYNC),
    actions=("finished_recving",),
    formula=~exists(b, table(r, b) & invalid(b) & (place(b) < computed(r))),
)

FAILED_BLOCKS_BEFORE_OUTPUTS = ActionProperty(
    id="failed-blocks-come-before-outputs",
    source="contract 6.1: failures come before the loop over outputs; Q24",
    doc="When an output is taken, who counted a failed block as processed has been rolled back, or has ended.",
    slices=(DECODE, SPEC, BESIDE_GUESS),
    applies=_FROM_IN_FLIGHT,
    actions=("stop", "reject_draft", "process_outputs"),
    formula=forall(
        r2,
        b2,
        (is_(r2, "running", "promoted") & ~affected(r2) & table(r2, b2) & (place(b2) < computed(r2) - in_flight(r2)))
        >> ~invalid(b2),
    ),
)

FAILURE_IS_NOTED = ActionProperty(
    id="a-failed-load-is-noted",
    source="contract Q16, Q17, R-10",
    doc="Of a request of which a load has failed it is known that one did, until it ends.",
    slices=(PAIR, LIVE),
    applies=RECOMPUTED,
    actions=("recover_loading", "take_failure"),
    formula=is_(r, "held") | Primed(body=load_has_failed(r) & refused(r)),
)

_local = computed(r) - external(r)
_left = Primed(body=computed(r))

LOSES_EXTERNAL_FIRST = ActionProperty(
    id="a-failed-load-goes-back-to-its-first-failed-block",
    source="contract Q16; seeds 001: external tokens are those beyond the local hits",
    doc="Of a load with failed blocks what comes before the first of them counts; what is lost was external.",
    slices=(PARK, ASYNC),
    applies=RECOMPUTED,
    actions=("recover_loading",),
    formula=(_left < computed(r))
    & forall(b2, (table(r, b2) & invalid(b2)) >> (place(b2) >= _left))
    & exists(b2, table(r, b2) & invalid(b2) & place(b2).eq(_left))
    & ((tokens(r) <= PROMPT) >> Primed(body=external(r)).eq(ite(_left <= _local, 0, _left - _local))),
)

NOBODY_FAILS = ActionProperty(
    id="no-request-fails-if-loads-are-recomputed",
    source="contract Q16, Q17, Q24: kv_load_failure_policy",
    doc="Under the policy recompute a failed load ends no request.",
    slices=(PARK, ASYNC, DECODE, SHARE),
    applies=RECOMPUTED,
    actions=(*_ROLLS_BACK, "recover_loading", "take_failure", "fail_running", "fail_loading", "fail_failure"),
    formula=is_(r, "held") | Primed(body=~is_(r, "absent", "held")),
)

RECOVERY = (
    LOADING_HAS_BLOCKS,
    PROMOTED_HAS_PREFIX,
    BROKEN_HAS_ENDED,
    FAILED_IS_NOT_FILLED,
    FAILS_AT_THE_WORKER,
    LOAD_FILLS_ITS_BLOCKS,
    STEP_MAKES_RIGHT_ITS_OWN,
    REPORTED_ONCE,
    ONLY_FAILURES_ARE_LATE,
    REPORTS_WITH_STEP,
    ENTRIES_OF_THE_STEP,
    ROLLED_BACK_ONCE,
    CLAIM_GOES_BELOW,
    KEEPS_PROCESSED,
    OTHERS_COMPUTE_ALL,
    BEYOND_IS_OWED,
    BEHIND_IS_OWED,
    TAKEN_OVER,
    IN_THEIR_UPDATE,
    FAILED_BLOCKS_FIRST,
    FAILED_BLOCKS_BEFORE_OUTPUTS,
    FAILURE_IS_NOTED,
    LOSES_EXTERNAL_FIRST,
    NOBODY_FAILS,
)
