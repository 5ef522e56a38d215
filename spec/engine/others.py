"""What happens to one request, block or step leaves the others as they are."""

from __future__ import annotations

from interlock.spec.engine.common import ALLOCATES, SCHEDULES
from interlock.spec.engine.coverage import (
    AFTER_HIT,
    ASYNC,
    BESIDE_GUESS,
    BESIDE_RESET,
    DECODE,
    GUESS_AGAIN,
    LATE,
    LATE_SHARED,
    LATE_SYNC,
    LOOKUP,
    OVERLAP,
    PAIR,
    RESUME,
    RESUMED,
    SHARE,
    SPEC,
    VICTIM,
)
from interlock.spec.engine.vocabulary import (
    addressable,
    b,
    bad,
    broke,
    cached,
    computed,
    confirmed,
    counted,
    delayed,
    drafted,
    entry_lost,
    entry_wrong,
    external,
    filling,
    good,
    in_flight,
    late,
    load_has_failed,
    parked,
    pass_state,
    pass_states,
    place,
    placeholders,
    planned,
    r,
    redo,
    refused,
    role,
    sampling,
    scheduled_in,
    stale_in,
    start,
    t,
    table,
    tainted,
    this_life,
    tokens,
    transfer_state,
    untold,
    withheld,
)
from interlock.spec.language.properties import ActionProperty
from interlock.spec.language.terms import Primed, Term, exists, forall
from interlock.spec.shared.frames import unchanged
from interlock.spec.shared.sorts import block, request

_r, _b, _t = request.var("rv"), block.var("bv"), t.model_copy(update={"name": "tv"})

_LIVES = ("add_request", "preempt", "reset_running", "stop", "finish")
_VISITED = (*SCHEDULES, "hit", "offer_sync", "offer_async", "turn_away", "promote", "retry", "take_over")
_TOLD = (
    "claim", "keep_base", "fail_running", "recover_loading", "fail_loading", "take_failure", "fail_failure",
    "finished_recving", "reject_draft",
)  # fmt: skip
_OF_ONE = (*_LIVES, *_VISITED, *_TOLD)
"""What happens to one request: at the ends of its life, in a visit, and in an update."""

_TWO_REQUESTS = (SHARE, VICTIM, PAIR, BESIDE_RESET, BESIDE_GUESS, AFTER_HIT)

COUNTED_ALONE = ActionProperty(
    id="a-request-is-counted-alone",
    source="contract Q20, I-09, 8.1: each request has its own num_computed_tokens, num_output_placeholders, ...",
    doc="What happens to one request leaves all that is counted of others: computed, awaited, cached, external tokens.",
    slices=_TWO_REQUESTS,
    actions=_OF_ONE,
    formula=forall(
        _r,
        _r.ne(r)
        >> unchanged(
            tokens(_r), computed(_r), in_flight(_r), placeholders(_r), confirmed(_r), cached(_r), counted(_r),
            external(_r),
        ),
    ),
)  # fmt: skip

REFUSED_ALONE = ActionProperty(
    id="a-failed-load-refuses-its-request-alone",
    source="contract R-10, D9, V-09",
    doc="A failed load refuses no other request, and the end of one takes back the refusal of no other.",
    slices=(PAIR,),
    actions=("finish", "stop", "recover_loading", "fail_loading", "take_failure", "fail_failure"),
    formula=forall(_r, _r.ne(r) >> unchanged(refused(_r), load_has_failed(_r))),
)

SCHEDULED_ALONE = ActionProperty(
    id="a-step-goes-on-for-the-others",
    source="contract Q20, Q22: one request is scheduled, or taken back; I-08",
    doc="What happens to one request leaves what every step has scheduled of others, and what of that still counts.",
    slices=_TWO_REQUESTS,
    actions=(*_OF_ONE, "lose_entry", "inflate_entry"),
    formula=forall(
        _r,
        _t,
        _r.ne(r)
        >> unchanged(
            scheduled_in(_r, _t), start(_r, _t), sampling(_r, _t), drafted(_r, _t), stale_in(_r, _t),
            this_life(_r, _t), entry_lost(_r, _t), entry_wrong(_r, _t),
        ),
    )
    & forall(_r, _t, _b, _r.ne(r) >> unchanged(role(_r, _t, _b))),
)  # fmt: skip

HELD_ALONE = ActionProperty(
    id="a-table-is-of-one-request",
    source="contract G1, G4",
    doc="What one request is given or gives back leaves the tables of others as they are, even where they share it.",
    slices=_TWO_REQUESTS,
    actions=_OF_ONE,
    formula=forall(_r, _b, _r.ne(r) >> unchanged(table(_r, _b))),
)


def _other_steps_keep(r_: Term) -> Term:
    """Every step but the action's t is for request ``r_`` what it was."""
    return forall(
        r_, _t,
        _t.ne(t)
        >> unchanged(
            scheduled_in(r_, _t), start(r_, _t), sampling(r_, _t), drafted(r_, _t), stale_in(r_, _t),
            this_life(r_, _t), entry_lost(r_, _t), entry_wrong(r_, _t), tainted(r_, _t),
        ),
    )  # fmt: skip


STEP_ALONE = ActionProperty(
    id="a-step-is-built-and-processed-alone",
    source="contract section 1, 6.1, Q20: schedule() and update_from_output() are about one step",
    doc="What is scheduled in a step, or done with its output, changes nothing of the other that is under way.",
    slices=(DECODE, RESUME, RESUMED, SPEC),
    actions=(*SCHEDULES, "reject_draft", "lose_entry", "inflate_entry", "process_outputs"),
    formula=_other_steps_keep(_r),
)

GIVEN_UP_ALONE = ActionProperty(
    id="what-is-given-up-was-held",
    source="contract G4, Q22, Q31; D1: what loses its hash is of the request whose load failed",
    doc=(
        "A request that loses its blocks, or gives them back, takes no block that it does not hold out of the prefix "
        "cache, ends the load of none, and has none parked."
    ),
    slices=_TWO_REQUESTS,
    actions=(
        "preempt", "reset_running", "stop", "finish", "fail_running", "fail_loading", "finished_recving", "retry",
    ),
    formula=forall(_b, ~table(r, _b) >> unchanged(addressable(_b), filling(_b)))
    & forall(_t, _b, ~table(r, _b) >> unchanged(parked(_t, _b))),
)  # fmt: skip

BLOCK_ALONE = ActionProperty(
    id="a-token-goes-into-one-block",
    source="contract G1 to G3",
    doc="A block that is given, found, computed or published says nothing of others: what they hold, who finds them.",
    slices=(SHARE, OVERLAP, PAIR, ASYNC, DECODE, LATE, LOOKUP, BESIDE_GUESS, GUESS_AGAIN),
    actions=(*ALLOCATES, "compute_held", "hit", "publish_output"),
    formula=forall(_b, _b.ne(b) >> unchanged(addressable(_b), redo(_b), good(_b), filling(_b), planned(_b)))
    & forall(_r, _b, _b.ne(b) >> unchanged(table(_r, _b))),
)

UNTOLD_ALONE = ActionProperty(
    id="a-new-block-says-nothing-of-the-past-of-others",
    source="contract R-44; what the ghost untold means",
    doc="Taking one block from the free queue leaves what is known of others that nobody was told of.",
    slices=(LATE, LATE_SYNC),
    actions=("compute_new", "admit", "admit_refused", "offer_sync", "offer_async"),
    formula=forall(_b, _b.ne(b) >> unchanged(untold(_b))),
)

FAILS_ALONE = ActionProperty(
    id="the-load-of-one-block-fails-alone",
    source="contract R-43, R-44: invalid_block_ids name blocks",
    doc="That the load of one block fails, or its report is withheld, says nothing of the loads of other blocks.",
    slices=(SHARE, LATE, LATE_SYNC),
    actions=("sync_block_fails", "block_load_fails", "withhold_report"),
    formula=forall(_b, _b.ne(b) >> unchanged(bad(_b), withheld(_b), delayed(_b), late(_b))),
)

LOAD_ALONE = ActionProperty(
    id="a-load-ends-alone",
    source="contract L3, R-46: failed_recving and finished_recving name requests",
    doc="However the load of one request ends, those of others are still under way, or have ended as they had.",
    slices=(PAIR,),
    actions=("load_arrives", "load_breaks", "load_vanishes", "expire_load"),
    formula=forall(_r, _r.ne(r) >> unchanged(broke(_r), transfer_state(_r))),
)

DISPATCHED_STILL_WRITES = ActionProperty(
    id="a-step-that-is-out-still-does-what-it-does",
    source="contract G4, Q22, Q23; what the ghost role means",
    doc="Whoever loses its blocks, a step that was dispatched goes on to read and write them.",
    slices=(RESUME, DECODE, SPEC, PAIR),
    actions=("preempt", "reset_running", "finish", "stop"),
    formula=forall(
        _r, _t, _b, pass_state(_t).eq(pass_states["dispatched"]) >> unchanged(role(_r, _t, _b))
    ),
)  # fmt: skip
TAKEN_IS_NEW = ActionProperty(
    id="a-new-block-has-no-past",
    source="contract R-44; what the ghost untold means",
    doc="What nobody was told of a block is over once the block is taken from the free queue.",
    slices=(LATE,),
    actions=("compute_new", "admit", "admit_refused", "offer_async"),
    formula=~Primed(body=untold(b)),
)

STILL_TOLD = ActionProperty(
    id="whoever-counts-a-block-is-told-of-it",
    source="contract R-44; what the ghost untold means",
    doc="That one who counts a wrong block goes leaves it untold only if no other counts it: that one will be told.",
    slices=(LATE_SHARED,),
    actions=("finish", "turn_away", "recover_loading"),
    formula=forall(
        _b,
        (Primed(body=untold(_b)) & ~untold(_b)) >> ~exists(_r, _r.ne(r) & table(_r, _b) & (place(_b) < confirmed(_r))),
    ),
)

OTHERS = (
    COUNTED_ALONE, REFUSED_ALONE, SCHEDULED_ALONE, HELD_ALONE, STEP_ALONE, GIVEN_UP_ALONE, BLOCK_ALONE, UNTOLD_ALONE,
    FAILS_ALONE, LOAD_ALONE, DISPATCHED_STILL_WRITES, TAKEN_IS_NEW, STILL_TOLD,
)  # fmt: skip
