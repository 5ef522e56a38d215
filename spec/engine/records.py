"""What events leave behind: the scheduler's books of blocks and steps agree with what really goes on."""

from __future__ import annotations

from interlock.spec.engine.common import ALLOCATES, COMPUTES, OVERLAPPED, PROCESSED, SCHEDULES, TO_RUN, VISITS
from interlock.spec.engine.coverage import (
    AFTER_HIT,
    ASYNC,
    BESIDE_GUESS,
    CORE,
    DECODE,
    EVERY,
    GUESS_AGAIN,
    HAND,
    LATE,
    LIVE,
    LOOKUP,
    OVERLAP,
    PAIR,
    PARK,
    RESUME,
    SECOND,
    SHARE,
    SPEC,
    STOPPED,
    VICTIM,
)
from interlock.spec.engine.judging import is_in_use
from interlock.spec.engine.predicates import at, is_, step_is
from interlock.spec.engine.vocabulary import (
    PROMPT,
    addressable,
    b,
    b2,
    computed,
    external,
    filling,
    good,
    loop,
    loops,
    parked,
    place,
    planned,
    r,
    r2,
    redo,
    role,
    roles,
    scheduled_in,
    stale_in,
    start,
    sync_meta,
    t,
    t2,
    table,
    this_life,
    tokens,
    unsettled,
    zero_meta,
)
from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.terms import Primed, card, exists, forall

# --- blocks and tables


NEW_HAS_NO_PAST = ActionProperty(
    id="new-block-has-no-past",
    source="contract G1, G4",
    doc="A block that is allocated holds nothing that counts, and nobody owes its contents to anybody.",
    slices=(*CORE, SPEC, LOOKUP, LATE, STOPPED, BESIDE_GUESS),
    actions=ALLOCATES,
    formula=Primed(body=table(r, b) & ~good(b) & ~redo(b)),
)

ONE_BLOCK_A_PLACE = Invariant(
    id="table-has-one-block-a-place",
    source="contract G1, I-11",
    doc="No two blocks of a request are for the same token.",
    slices=(*CORE, SPEC, GUESS_AGAIN),
    formula=forall(r, b, b2, (table(r, b) & table(r, b2) & b.ne(b2)) >> place(b).ne(place(b2))),
    premise=exists(r, b, table(r, b)),
)

COMPUTED_IS_HELD = Invariant(
    id="computed-tokens-have-blocks",
    source="contract I-11, G1",
    doc="A request holds a block for every token that it counts as computed.",
    slices=(*CORE, SPEC, LOOKUP),
    formula=forall(r, computed(r) <= card(b, table(r, b))),
    premise=exists(r, computed(r) > 0),
)

NO_WRITE_TO_FREE = Invariant(
    id="no-step-writes-a-free-block",
    source="contract G8, I-26; vllm #45357",
    doc="A block is not free as long as a step is to write it.",
    slices=(*CORE, SPEC, HAND, STOPPED),
    formula=forall(r, t, b, COMPUTES >> is_in_use(b)),
    premise=exists(r, t, b, COMPUTES),
)

PARKED_UNTIL_PROCESSED = Invariant(
    id="parked-until-processed",
    source="contract G8: deferred_frees are freed once the step is processed",
    doc="A block waits only for a step whose output is still to be processed.",
    slices=(PARK, RESUME, STOPPED),
    applies_in={STOPPED: OVERLAPPED},
    formula=forall(t, b, parked(t, b) >> step_is("dispatched")),
    premise=exists(t, b, parked(t, b)),
)

_newly_parked = ~parked(t2, b2) & Primed(body=parked(t2, b2))

PARKED_FOR_ITS_STEP = ActionProperty(
    id="only-scheduled-blocks-are-parked",
    source="contract G8",
    doc="Blocks wait only for a step that has scheduled their request.",
    slices=(PARK, RESUME, HAND, STOPPED),
    actions=("preempt", "reset_running", "finish", "retry", "stop", "finished_recving"),
    formula=forall(t2, b2, _newly_parked >> (table(r, b2) & (scheduled_in(r, t2) > 0))),
)

HASHED_WHEN_SCHEDULED = ActionProperty(
    id="scheduled-block-is-found-if-its-token-is-known",
    source="contract G3, R-05; async_scheduler.py:74-78",
    doc="The prefix cache can find a block as soon as it is scheduled, or loaded for the step, if its token is known.",
    slices=(*CORE, SPEC, LOOKUP),
    actions=(*SCHEDULES, "offer_sync"),
    formula=Primed(body=addressable(b).eq(place(b) < tokens(r))),
)

HASHED_WHEN_PROMOTED = ActionProperty(
    id="loaded-prefix-is-found",
    source="contract Q13, I-34",
    doc="What a load has brought can be found once its request is promoted, but not what is known to be wrong.",
    slices=(PARK, ASYNC),
    actions=("promote",),
    formula=forall(b, (table(r, b) & (place(b) < computed(r)) & ~redo(b)) >> Primed(body=addressable(b))),
)

PUBLISHES_ITS_OWN = ActionProperty(
    id="a-request-publishes-its-own-blocks",
    source="contract G3",
    doc="Outputs make a block of their own request addressable.",
    slices=(DECODE, SHARE),
    applies_in={DECODE: OVERLAPPED},
    actions=("publish_output",),
    formula=table(r, b) & Primed(body=addressable(b)),
)

PUBLISHES_PROCESSED = ActionProperty(
    id="published-block-is-processed",
    source="contract G3; async_scheduler.py:74-78: computed tokens less placeholders are cached",
    doc="The block of an output token is made addressable only when the step that computes it is processed, too.",
    slices=(DECODE,),
    applies=OVERLAPPED,
    actions=("publish_output",),
    formula=(place(b) >= PROMPT) >> (place(b) < PROCESSED),
)

# --- steps

COMPUTES_WHAT_IT_SCHEDULES = Invariant(
    id="a-step-computes-what-it-schedules",
    source="contract Q20; R-22: num_scheduled_tokens",
    doc="Until it has run, a step computes exactly the tokens of a request that it has scheduled, each in its block.",
    slices=(*CORE, SPEC, LOOKUP),
    formula=forall(
        r,
        t,
        (TO_RUN & this_life(r, t))
        >> (
            card(b, COMPUTES).eq(scheduled_in(r, t))
            & forall(
                b,
                COMPUTES >> (table(r, b) & (start(r, t) <= place(b)) & (place(b) < start(r, t) + scheduled_in(r, t))),
            )
        ),
    ),
    premise=exists(r, t, TO_RUN & this_life(r, t)),
)

TOUCHES_FOR_SCHEDULED = Invariant(
    id="a-step-touches-blocks-of-what-it-schedules",
    source="contract I-08, Q22",
    doc="A step reads or writes blocks only for requests that it schedules; one that was preempted is not among them.",
    slices=(PARK, RESUME),
    formula=forall(r, t, b, role(r, t, b).ne(roles["none"]) >> (scheduled_in(r, t) > 0)),
    premise=exists(r, t, b, COMPUTES),
)

PLANNED_IS_COMPUTED = Invariant(
    id="planned-blocks-are-computed-by-the-step",
    source="contract Q20, Q22",
    doc="While a step is built, the blocks that count as planned are those that it computes for some request.",
    slices=(*CORE, SPEC, LOOKUP),
    formula=forall(b, planned(b).eq(exists(r, t, step_is("building") & COMPUTES))),
    premise=exists(b, planned(b)),
)

UNSETTLED_UNTIL_RUN = Invariant(
    id="unsettled-blocks-are-computed-or-loaded",
    source="contract D1, G8",
    doc="The scheduler knows of every block that a step computes or loads; of a step being built, of no other.",
    slices=(*CORE, SPEC, LOOKUP),
    formula=forall(
        t,
        b,
        ((exists(r, COMPUTES) | (sync_meta(t, b) > 0)) >> unsettled(t, b))
        & ((step_is("building") & unsettled(t, b)) >> (exists(r, COMPUTES) | (sync_meta(t, b) > 0))),
    ),
    premise=exists(t, b, unsettled(t, b)),
)

STALE_IS_PAST = Invariant(
    id="stale-output-is-of-an-earlier-life",
    source="contract I-09, Q22",
    doc="What is stale was scheduled once, and is no part of what its request counts as computed now.",
    slices=(PARK, RESUME, SPEC, HAND, OVERLAP),
    applies_in={SPEC: OVERLAPPED},
    formula=forall(
        r,
        t,
        (stale_in(r, t) >> ((scheduled_in(r, t) > 0) & ~this_life(r, t)))
        & (this_life(r, t) >> (is_(r, "running") & (scheduled_in(r, t) > 0))),
    ),
    premise=exists(r, t, stale_in(r, t)),
)

OWED_NO_MORE = ActionProperty(
    id="what-a-step-computes-is-owed-no-more",
    source="seeds 001; contract Q24",
    doc="Once a step that computes a wrong block again is under way, nobody owes that block.",
    slices=(DECODE, RESUME),
    actions=("dispatch",),
    formula=forall(b, exists(r, COMPUTES) >> Primed(body=~redo(b))),
)

METADATA_GOES_WITH_STEP = Invariant(
    id="metadata-goes-with-its-step",
    source="contract R-22, R-23",
    doc="Orders to load or to zero for a step are there only until the step has run.",
    slices=(DECODE, RESUME),
    formula=forall(t, b, ((sync_meta(t, b) > 0) | (zero_meta(t, b) > 0)) >> TO_RUN),
    premise=exists(t, b, sync_meta(t, b) > 0),
)

CALLS_BETWEEN_STEPS = ActionProperty(
    id="calls-come-between-steps",
    source="contract section 10: schedule() and update_from_output() are atomic to callers",
    doc="Requests arrive, end and are reset between the scheduler's calls, and outputs are published there.",
    slices=(PARK, DECODE, RESUME),
    actions=("add_request", "finish", "reset_running", "publish_output"),
    formula=at("between"),
)

ARRIVES_ONCE = ActionProperty(
    id="an-engine-request-arrives-once",
    source="contract Q1, I-01, Q32",
    doc="A request is added under an id that is free: whoever had it has ended, and no load of it is awaited.",
    slices=EVERY,
    actions=("add_request",),
    formula=is_(r, "absent"),
)

RUNNING_COME_FIRST = ActionProperty(
    id="waiting-requests-come-after-the-running-ones",
    source="contract Q22, R-22",
    doc="Waiting requests are visited when the running ones have been, and not in a pass that preempts.",
    slices=(*CORE, LIVE, SECOND),
    actions=(*VISITS, "decode"),
    formula=is_(r, "running") | at("wait_loop"),
)

NO_VISITS_AFTER_PREEMPTION = ActionProperty(
    id="no-visits-after-a-preemption",
    source="contract Q22: the waiting loop is skipped after a preemption",
    doc="A pass that has preempted a request visits no waiting one.",
    slices=(PARK, SPEC),
    actions=("preempt",),
    formula=Primed(body=loop().eq(loops["no_wait"])),
)

ASKED_ONCE_A_PASS = ActionProperty(
    id="a-skipped-request-is-asked-in-a-later-pass",
    source="contract Q4, R-02",
    doc="A connector that says: ask me later, is not asked again in the same pass.",
    slices=(LIVE,),
    actions=("ask_again",),
    formula=~at("no_wait", "wait_loop", "updating"),
)

_VISITS_ONE = (
    *VISITS, "compute_new", "compute_held", "decode", "draft", "turn_away", "defer_by_lookup", "take_over",
)  # fmt: skip

ONE_VISIT_AT_A_TIME = ActionProperty(
    id="one-request-is-visited-at-a-time",
    source="contract Q7 to Q11: the loops of schedule() go from one request to the next",
    doc="While the visit of a waiting request is under way, the scheduler does nothing for another.",
    slices=(SHARE, PAIR, VICTIM, LATE, AFTER_HIT, BESIDE_GUESS),
    actions=_VISITS_ONE,
    formula=~exists(r2, r2.ne(r) & is_(r2, "admitting")),
)

TURNED_AWAY_WITH_NOTHING = ActionProperty(
    id="turned-away-request-has-nothing",
    source="contract Q7",
    doc="A request for which there is no block waits as before, nothing was allocated to it, and the loop is over.",
    slices=(SHARE, PAIR, VICTIM),
    actions=("turn_away",),
    formula=at("wait_loop")
    & external(r).eq(0)
    & forall(b, is_in_use(b) & (table(r, b) >> (addressable(b) & ~filling(b))))
    & Primed(
        body=is_(r, "waiting", "preempted") & computed(r).eq(0) & forall(b, ~table(r, b)) & loop().eq(loops["no_room"])
    ),
)

RECORDS = (
    ONE_VISIT_AT_A_TIME,
    TURNED_AWAY_WITH_NOTHING,
    NEW_HAS_NO_PAST,
    ONE_BLOCK_A_PLACE,
    COMPUTED_IS_HELD,
    NO_WRITE_TO_FREE,
    PARKED_UNTIL_PROCESSED,
    PARKED_FOR_ITS_STEP,
    HASHED_WHEN_SCHEDULED,
    HASHED_WHEN_PROMOTED,
    PUBLISHES_ITS_OWN,
    PUBLISHES_PROCESSED,
    COMPUTES_WHAT_IT_SCHEDULES,
    TOUCHES_FOR_SCHEDULED,
    PLANNED_IS_COMPUTED,
    UNSETTLED_UNTIL_RUN,
    STALE_IS_PAST,
    OWED_NO_MORE,
    METADATA_GOES_WITH_STEP,
    CALLS_BETWEEN_STEPS,
    ARRIVES_ONCE,
    RUNNING_COME_FIRST,
    NO_VISITS_AFTER_PREEMPTION,
    ASKED_ONCE_A_PASS,
)
