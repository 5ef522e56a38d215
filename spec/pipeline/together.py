"""What several blocks, jobs and workers must be able to do at once, and how far ahead the scheduler may be."""

from __future__ import annotations

from interlock.spec.language.properties import Property, Witness
from interlock.spec.language.terms import exists
from interlock.spec.pipeline.judging import is_a_target, open_store
from interlock.spec.pipeline.predicates import dispatched, under_way
from interlock.spec.pipeline.settings import (
    DEEP,
    DEPTH_ONE,
    DEPTH_ONE_LOAD,
    DEPTH_ONE_LOAD_PAIR,
    DEPTH_ONE_PREEMPT_BLOCKS,
    LOADS_AND_STORES,
    WITH_PREEMPTION,
)
from interlock.spec.pipeline.vocabulary import (
    acks_due,
    b,
    b2,
    busy,
    finish_untold,
    held,
    j,
    j2,
    loads,
    scanned,
    source,
    stow_state,
    stow_states,
    t2,
    used,
)

TOGETHER: tuple[Property, ...] = (
    *(
        Witness(
            id=f"a-{what}-is-planned-beside-that-of-another-block",
            source="contract J4; seeds 004: the dedup set is of blocks",
            doc="A block is stored while the store of another block is open.",
            slices=(DEPTH_ONE,),
            actions=(action,),
            formula=exists(b2, b2.ne(b) & busy(b2)),
        )
        for what, action in (("store", "plan_store"), ("finish-store", "plan_finish_store"))
    ),
    *(
        Witness(
            id=f"a-{what}-is-planned-in-the-metadata-of-another-store",
            source="contract J2, J4, J6",
            doc="One scan plans the stores of several blocks, all of which one metadata has.",
            slices=(DEPTH_ONE,),
            actions=(action,),
            formula=exists(j2, stow_state(j2).eq(stow_states["planned"]) & source(j2).ne(b)),
        )
        for what, action in (("store", "plan_store"), ("finish-store", "plan_finish_store"))
    ),
    Witness(
        id="a-finish-leaves-the-jobs-of-others-open",
        source="seeds 002: all tracked requests have finished",
        doc="A request has finished and another goes on: the metadata leaves the store of the other open.",
        slices=(DEPTH_ONE,),
        actions=("dispatch",),
        formula=finish_untold() & exists(j, stow_state(j).eq(stow_states["in_flight"]) & used(source(j))),
    ),
    Witness(
        id="a-block-is-stored-while-another-is-loaded",
        source="contract L2, J2",
        doc="A load keeps its own block from being computed and stored, and no other.",
        slices=(DEPTH_ONE_LOAD,),
        actions=("plan_store",),
        formula=exists(b2, b2.ne(b) & is_a_target(b2)),
    ),
    Witness(
        id="a-load-takes-the-block-of-an-open-store",
        source="contract 2.1 flush sources (load dst), I-27",
        doc="A block is to be loaded into while a store of what it held is open: the same metadata flushes that.",
        slices=LOADS_AND_STORES,
        actions=("plan_load",),
        formula=exists(j2, open_store(j2) & source(j2).eq(b)),
    ),
    Witness(
        id="a-held-block-waits-for-the-other-worker",
        source="contract R-49, L3, L5, Q32",
        doc="One worker has loaded the block of an aborted request, the other one has not: the block stays held.",
        slices=(DEPTH_ONE_LOAD_PAIR,),
        actions=("acknowledge",),
        formula=loads(j) & held(source(j)) & (acks_due(j) > 1),
    ),
    Witness(
        id="a-request-arrives-before-the-output",
        source="contract R-24, section 1 engine loop",
        doc="A request that has just arrived is scheduled while a step is unprocessed.",
        slices=DEEP,
        actions=("schedule_arrival",),
        formula=exists(t2, dispatched(t2)),
    ),
    Witness(
        id="a-request-is-preempted-unscanned",
        source="contract Q22, J2",
        doc="A request is preempted before any store of its block was planned.",
        slices=WITH_PREEMPTION,
        actions=("preempt",),
        formula=~scanned(b),
    ),
    Witness(
        id="a-request-is-preempted-while-its-block-is-still-flushed",
        source="contract Q22, J9, I-28",
        doc="A request is preempted before all workers have acknowledged the store of what its block held before.",
        slices=WITH_PREEMPTION,
        actions=("preempt",),
        formula=exists(j, under_way(j) & ~open_store(j) & ~loads(j) & source(j).eq(b)),
    ),
    Witness(
        id="a-request-is-preempted-beside-the-store-of-another",
        source="contract 2.1 flush sources, V-14",
        doc="A request is preempted while the store of another block is open, which is none of its own.",
        slices=(DEPTH_ONE_PREEMPT_BLOCKS,),
        actions=("preempt",),
        formula=exists(b2, b2.ne(b) & busy(b2) & used(b2)),
    ),
)  # fmt: skip
