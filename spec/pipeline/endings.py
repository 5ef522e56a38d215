"""What comes of jobs and blocks once their requests have ended: a load's request aborted, a preemption; rest."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Invariant, LeadsTo, Property
from interlock.spec.language.terms import Primed, exists, forall
from interlock.spec.pipeline.judging import is_open
from interlock.spec.pipeline.predicates import building, under_way, waits_again
from interlock.spec.pipeline.settings import (
    EVERY,
    WITH_LOADS,
    WITH_PREEMPTION,
)
from interlock.spec.pipeline.vocabulary import (
    b,
    b2,
    finish_untold,
    flush_due,
    fresh,
    held,
    j,
    j2,
    leftover,
    loads,
    pipeline_idle,
    resting,
    returned,
    slot_state,
    slot_states,
    source,
    stored,
    t,
    t2,
    used,
)
from interlock.spec.shared.frames import unchanged

_REPORTS = pipeline_idle.is_("flush", "drain")

COMPLETE = LeadsTo(
    id="issued-jobs-complete-in-pipeline",
    aliases=("every-planned-store-completes",),
    source="vLLM PR 42611; seeds 002; contract V-06",
    doc="Every job that is planned is acknowledged by all workers, even if no request arrives any more.",
    slices=EVERY,
    vars=(j,),
    premise=under_way(j),
    conclusion=~under_way(j),
)

RESTS = Invariant(
    id="engine-rests-with-nothing-pending-in-pipeline",
    policy=True,
    source="contract R-58, V-06; seeds 002",
    doc="Where the connector reports pending work, an engine at rest has no step, no open job, no request, no report.",
    slices=EVERY,
    applies=_REPORTS,
    formula=resting()
    >> (
        forall(t, slot_state(t).eq(slot_states["idle"]))
        & forall(j, ~under_way(j) & stored(j).eq(0))
        & forall(b, ~used(b) & ~waits_again(b))
        & ~finish_untold()
    ),
    premise=resting(),
)

FINISHES_TOLD = LeadsTo(
    id="finished-requests-are-told-in-pipeline",
    source="contract R-26, section 1 engine loop",
    doc="A request that has finished is told by some metadata: the engine makes a step for it, arrivals or not.",
    slices=EVERY,
    vars=(),
    premise=finish_untold(),
    conclusion=~finish_untold(),
)

HELD_RELEASED = LeadsTo(
    id="held-blocks-are-released-in-pipeline",
    source="contract V-01, V-02, R-20; seeds 002",
    doc="The block of a request that was aborted while it was loading is given back, whether or not a request arrives.",
    slices=WITH_LOADS,
    vars=(b,),
    premise=held(b),
    conclusion=~used(b),
)

TARGET_IN_USE = Invariant(
    id="block-being-loaded-is-in-use-in-pipeline",
    source="contract I-24, I-25, L5",
    doc="What a load fills is nobody else's, whether its request waits or was aborted, and nothing stores it.",
    slices=WITH_LOADS,
    formula=forall(j, (under_way(j) & loads(j)) >> used(source(j)))
    & forall(b, held(b) >> exists(j, under_way(j) & loads(j) & source(j).eq(b)))
    & forall(
        j, j2, (under_way(j) & loads(j) & is_open(j2) & source(j2).eq(source(j)) & j.ne(j2)) >> flush_due(j2)
    ),
    premise=exists(j, under_way(j) & loads(j)),
)  # fmt: skip

PREEMPTED_STORES_ONLY = ActionProperty(
    id="preempted-request-has-stores-only-in-pipeline",
    source="seeds 002; contract 2.1 flush sources (asserted there)",
    doc="A request that is preempted has its block, and no load under way, so what its preemption flushes are stores.",
    slices=WITH_PREEMPTION,
    actions=("preempt",),
    formula=used(b) & ~exists(j, under_way(j) & loads(j) & source(j).eq(b)),
)

PREEMPTED_GOES_ON = ActionProperty(
    id="a-preemption-is-no-finish-in-pipeline",
    source="contract R-60, R-26",
    doc=(
        "A request that is preempted has not finished: no metadata tells of it as one that has, or stores what it "
        "left, and it waits, without its block."
    ),
    slices=WITH_PREEMPTION,
    actions=("preempt",),
    formula=unchanged(finish_untold(), leftover(b)) & Primed(body=waits_again(b) & ~used(b)),
)

ONCE = ActionProperty(
    id="a-request-finishes-once-in-pipeline",
    source="contract R-26, Q31",
    doc="The request that finishes has its block and has not finished before; the block that it keeps is then held.",
    slices=EVERY,
    actions=("finish_request",),
    formula=used(b) & ~held(b) & Primed(body=used(b).eq(held(b))),
)
EACH_END_TOLD = ActionProperty(
    id="every-end-is-to-be-told-in-pipeline",
    source="contract R-26, Q27, Q31, R-52",
    doc="However a request ends, also while it loads or waits after its preemption, the next metadata tells of it.",
    slices=EVERY,
    actions=("finish_request", "finish_preempted"),
    formula=Primed(body=finish_untold()),
)
LEFT_UNTIL_GIVEN_OUT = Invariant(
    id="what-is-left-over-is-still-there-in-pipeline",
    source="contract J1, J5, R-28",
    doc=(
        "What a request has left unstored may be given out again only by the schedule() whose metadata is the last "
        "that may store it, and flushes it: no step that has gone out computes the block for another."
    ),
    slices=EVERY,
    formula=forall(b, (leftover(b) & used(b)) >> fresh(b)),
    premise=exists(b, leftover(b)),
)
LEFT_FOR_ONE_METADATA = ActionProperty(
    id="one-metadata-stores-what-is-left-over-in-pipeline",
    source="contract J1, R-26, R-28",
    doc="The metadata that tells of a finish is the last one that may store what the request has left.",
    slices=EVERY,
    actions=("dispatch",),
    formula=forall(b, ~Primed(body=leftover(b))),
)
BETWEEN = ActionProperty(
    id="requests-end-and-outputs-come-between-schedules",
    source="contract 6.1: one thread schedules and processes outputs",
    doc="While a step is being scheduled no request ends, no output is processed and no report is heard.",
    slices=EVERY,
    actions=("finish_request", "finish_preempted", "update_from_output", "acknowledge"),
    formula=forall(t2, ~building(t2)),
)

COMES_BACK = ActionProperty(
    id="a-preempted-request-comes-back-with-blocks",
    source="contract Q9, Q10",
    doc=(
        "Who comes back was preempted, and waits; it comes with a block that the schedule() under way has allocated, "
        "and with which no other came back: afterwards the block is in use, and its."
    ),
    slices=WITH_PREEMPTION,
    actions=("resume_request",),
    formula=waits_again(b)
    & exists(t2, building(t2))
    & fresh(b2)
    & ~returned(b2)
    & Primed(body=used(b2) & fresh(b2) & returned(b2) & ~waits_again(b)),
)

ENDINGS: tuple[Property, ...] = (
    COMPLETE, RESTS, FINISHES_TOLD, HELD_RELEASED, TARGET_IN_USE, PREEMPTED_STORES_ONLY, PREEMPTED_GOES_ON,
    ONCE, EACH_END_TOLD, LEFT_UNTIL_GIVEN_OUT, LEFT_FOR_ONE_METADATA, BETWEEN, COMES_BACK,
)  # fmt: skip
