"""Why a metadata orders a flush: the last step, a block that is given out again, a preemption; and for nothing else."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Invariant, Property
from interlock.spec.language.terms import Primed, exists, forall
from interlock.spec.pipeline.judging import is_open
from interlock.spec.pipeline.predicates import under_way, waits_again
from interlock.spec.pipeline.settings import EVERY, WITH_PREEMPTION
from interlock.spec.pipeline.vocabulary import (
    b,
    flush_due,
    held,
    j,
    loads,
    lost,
    overwrites,
    pipeline_idle,
    source,
    stow_state,
    stow_states,
    t,
    used,
)

FLUSHES = pipeline_idle.is_("flush", "flush_before_plan")

# Said here in its own words, and not in those of the rule that it checks.
_nobody_goes_on = forall(b, ~waits_again(b) & ~(used(b) & ~held(b)))
LAST_STEP_FLUSHES = ActionProperty(
    id="last-step-flushes-every-job-in-pipeline",
    policy=True,
    source="vLLM PR 42611; seeds 002",
    doc=(
        "Once all tracked requests have finished, the metadata leaves no job without a flush order: stores and loads, "
        "of this step and of those that are unprocessed."
    ),
    slices=EVERY,
    applies=FLUSHES,
    actions=("dispatch",),
    formula=_nobody_goes_on >> forall(j, under_way(j) >> stow_state(j).eq(stow_states["flush_ordered"])),
)

FLUSHED_FOR_A_REASON = ActionProperty(
    id="nothing-else-is-flushed-in-pipeline",
    source="contract 2.1 flush sources, J5, J9, I-28; vLLM PR 42611; seeds 002",
    doc=(
        "A flush makes a step wait: it is ordered of a job whose block this step gives out again, of a store whose "
        "request was preempted, and of any job once all tracked requests have finished; of no other."
    ),
    slices=EVERY,
    actions=("order_flush",),
    formula=overwrites(t, j) | lost(j) | (FLUSHES & _nobody_goes_on),
)

PREEMPTED_FLUSHED = Invariant(
    id="preempted-stores-are-flushed-in-pipeline",
    policy=True,
    source="seeds 002; contract 2.1 flush sources, I-27, V-14",
    doc="An open store whose request has been preempted is flushed by the metadata of that schedule().",
    slices=WITH_PREEMPTION,
    formula=forall(j, (lost(j) & is_open(j)) >> (flush_due(j) & ~loads(j))),
    premise=exists(j, lost(j) & is_open(j)),
)

PREEMPTION_SPARES_OTHERS = ActionProperty(
    id="a-preemption-flushes-its-own-stores-only-in-pipeline",
    source="contract 2.1 flush sources, I-27, V-14",
    doc="What a preemption has flushed are stores of the blocks that it takes.",
    slices=WITH_PREEMPTION,
    actions=("preempt",),
    formula=forall(
        j, (Primed(body=flush_due(j) | lost(j)) & ~(flush_due(j) | lost(j))) >> (source(j).eq(b) & ~loads(j))
    ),
)  # fmt: skip

FLUSH_REASONS: tuple[Property, ...] = (
    LAST_STEP_FLUSHES, FLUSHED_FOR_A_REASON, PREEMPTED_FLUSHED, PREEMPTION_SPARES_OTHERS,
)  # fmt: skip
