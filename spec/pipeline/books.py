"""What the books of a step say while it is built, handed over and run."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Invariant, LeadsTo, Property, Witness
from interlock.spec.language.terms import exists, forall
from interlock.spec.pipeline.judging import in_metadata, is_a_target, not_after
from interlock.spec.pipeline.predicates import building, dispatched
from interlock.spec.pipeline.settings import DEEP, DEPTH_TWO, EVERY
from interlock.spec.pipeline.vocabulary import (
    b,
    before,
    forward_order,
    fresh,
    has_forward,
    j,
    loads,
    names,
    overwrites,
    returned,
    scanned,
    slot_state,
    slot_states,
    source,
    step_order,
    stow_state,
    stow_states,
    t,
    t2,
    used,
    w,
)

_idle = slot_state(t).eq(slot_states["idle"])
_planned = exists(j, stow_state(j).eq(stow_states["planned"]) & ~loads(j) & source(j).eq(b))

BOOKS: tuple[Property, ...] = (
    Invariant(
        id="slots-are-ordered-by-dispatch",
        source="contract 6.1 worker step, R-24",
        doc="Unprocessed steps are in the order of dispatch, and nothing else is.",
        slices=DEEP,
        formula=forall(t, t2, before(t, t2) >> (dispatched(t) & dispatched(t2) & ~before(t2, t)))
        & forall(t, t2, (dispatched(t) & dispatched(t2) & t.ne(t2)) >> (before(t, t2) | before(t2, t))),
        premise=exists(t, t2, before(t, t2)),
    ),
    Invariant(
        id="a-slot-that-overwrites-comes-last",
        source="contract R-24, J5, I-28",
        doc="A step that overwrites a source is unprocessed, and the step that carries the job does not come later.",
        slices=EVERY,
        formula=forall(t, j, overwrites(t, j) >> ~_idle)
        & forall(w, j, t, t2, (in_metadata(w, j, t2) & overwrites(t, j)) >> not_after(t2, t)),
        premise=exists(t, j, overwrites(t, j)),
    ),
    Invariant(
        id="an-idle-slot-has-no-step",
        source="contract R-24",
        doc="Nothing is computed, and no flush is named, in a slot that has no step.",
        slices=EVERY,
        formula=forall(t, _idle >> (~has_forward(t) & forall(j, ~names(t, j)))),
        premise=exists(t, _idle),
    ),
    Invariant(
        id="a-step-that-computes-has-a-request",
        source="contract R-25",
        doc="A step that is being built computes something only if some request has blocks, and if it has given one.",
        slices=EVERY,
        formula=forall(t, (building(t) & has_forward(t)) >> exists(b, used(b) & ~is_a_target(b)))
        & forall(t, b, (building(t) & fresh(b) & ~is_a_target(b)) >> has_forward(t)),
        premise=exists(t, building(t) & has_forward(t)),
    ),
    Invariant(
        id="blocks-are-fresh-within-schedule-only",
        source="contract G1, I-28",
        doc=(
            "A block counts as newly allocated, and as one with which a request comes back, while the step that it was "
            "allocated in is built, and no longer."
        ),
        slices=EVERY,
        formula=forall(b, (fresh(b) >> exists(t, building(t))) & (returned(b) >> fresh(b))),
        premise=exists(b, fresh(b)),
    ),
    Invariant(
        id="a-fresh-block-was-scanned-in-this-schedule",
        source="contract J2, J4",
        doc="What was planned of a block in an allocation before says nothing of the one that has just begun.",
        slices=EVERY,
        formula=forall(b, (fresh(b) & scanned(b)) >> _planned),
        premise=exists(b, fresh(b) & scanned(b)),
    ),
    Invariant(
        id="workers-are-told-of-forwards",
        source="contract R-35",
        doc="A worker that has a step to run is told whether it has a forward, and of no other step.",
        slices=EVERY,
        formula=forall(
            w,
            t,
            ((step_order(w, t) > 0) >> (forward_order(w, t) > 0).eq(has_forward(t)))
            & ((forward_order(w, t) > 0) >> (step_order(w, t) > 0)),
        ),
        premise=exists(w, t, step_order(w, t) > 0),
    ),
    ActionProperty(
        id="a-store-goes-with-a-step-that-computes",
        source="contract J1, R-25",
        doc="What a running request has is stored by steps that compute something, not by an empty one.",
        slices=EVERY,
        actions=("plan_store",),
        formula=has_forward(t),
    ),
    Witness(
        id="a-step-computes-without-allocating",
        source="contract R-25, J1",
        doc="A block of an earlier step is stored by one that only goes on computing.",
        slices=EVERY,
        actions=("plan_store",),
        formula=~fresh(b),
    ),
    Witness(
        id="a-worker-runs-ahead-of-the-output",
        source="contract R-24, section 1 engine loop",
        doc="A worker gets a step before the output of the one before it has been processed.",
        slices=(DEPTH_TWO,),
        actions=("hand_over",),
        formula=exists(t2, before(t2, t)),
    ),
    Witness(
        id="a-step-is-dispatched",
        source="contract R-24",
        doc="A step is with the executor: the premise of every-dispatched-step-is-processed.",
        slices=EVERY,
        formula=exists(t, dispatched(t)),
    ),
    LeadsTo(
        id="every-dispatched-step-is-processed",
        source="contract section 1 engine loop",
        doc="A step that was dispatched is run by all workers, and its output processed.",
        slices=EVERY,
        vars=(t,),
        premise=dispatched(t),
        conclusion=~dispatched(t),
    ),
)
