"""What must be able to happen at either depth: guards against properties that hold because nothing does."""

from __future__ import annotations

from interlock.spec.language.properties import Property, Witness
from interlock.spec.language.terms import TRUE, Primed, Term, exists, forall
from interlock.spec.pipeline.flushes import FLUSHES
from interlock.spec.pipeline.judging import in_metadata, open_store
from interlock.spec.pipeline.predicates import dispatched, under_way, waits_again
from interlock.spec.pipeline.settings import (
    DEPTH_ONE,
    DEPTH_TWO,
    DEPTH_TWO_LOAD,
    DEPTH_TWO_PREEMPT,
    EVERY,
    WITH_LOADS,
    WITH_PREEMPTION,
)
from interlock.spec.pipeline.vocabulary import (
    b,
    finish_untold,
    flush_due,
    flush_order,
    fresh,
    handed,
    held,
    j,
    j2,
    loads,
    lost,
    overwrites,
    pipeline_finish_store,
    pipeline_idle,
    source,
    store_order,
    stow_state,
    stow_states,
    t,
    t2,
    t3,
    used,
    w,
)

PREMISES = (
    Witness(
        id="a-pipelined-job-is-under-way",
        source="contract J4",
        doc="A job is planned: the premise of issued-jobs-complete-in-pipeline.",
        slices=EVERY,
        formula=exists(j, under_way(j)),
    ),
    Witness(
        id="a-finish-is-still-to-be-told",
        source="contract R-26",
        doc="A request has finished: the premise of finished-requests-are-told-in-pipeline.",
        slices=EVERY,
        formula=finish_untold(),
    ),
    Witness(
        id="a-block-is-held-for-its-load",
        source="contract L5; seeds 002",
        doc="A request was aborted while it was loading: the premise of held-blocks-are-released-in-pipeline.",
        slices=WITH_LOADS,
        formula=exists(b, held(b)),
    ),
)

BOUNDARIES = tuple(
    Witness(
        id=f"finish-store-and-reallocation-in-one-metadata-at-{slice_.replace('_', '-')}",
        source="seeds 004: boundary test; contract J5, R-28",
        doc="One metadata has a finish-time store, the reallocation of its block, and a store of the new allocation.",
        slices=(slice_,),
        applies=pipeline_finish_store.is_("yes"),
        actions=("dispatch",),
        formula=exists(
            b, j, j2,
            fresh(b) & used(b) & overwrites(t, j) & under_way(j2) & ~overwrites(t, j2) & under_way(j)
            & source(j).eq(b) & source(j2).eq(b)
            & forall(w, (store_order(w, j, t) > 0) & (flush_order(w, j, t) > 0) & (store_order(w, j2, t) > 0)),
        ),
    )
    for slice_ in (DEPTH_ONE, DEPTH_TWO)
)  # fmt: skip

AHEAD = Witness(
    id="a-store-is-planned-before-its-source-step-has-run",
    source="contract R-24",
    doc="A flush is ordered while the step that carries the store has not been run.",
    slices=(DEPTH_TWO,),
    actions=("order_flush",),
    formula=exists(t2, w, dispatched(t2) & (store_order(w, j, t2) > 0) & flush_due(j)),
)

_flushed_here = stow_state(j).eq(stow_states["flush_ordered"]) & exists(w, flush_order(w, j, t) > 0)
_given_out_since = exists(t3, overwrites(t3, j))
_for_the_end = _flushed_here & ~_given_out_since & ~lost(j)


def _flush_at(slice_: str, what: str, doc: str, formula: Term, applies: Term = FLUSHES) -> Witness:
    """A dispatch that orders such a flush: what happens at one depth says nothing of the other."""
    return Witness(
        id=f"{what}-at-{slice_.replace('_', '-')}", source="seeds 002", doc=doc, slices=(slice_,), applies=applies,
        actions=("dispatch",), formula=formula,
    )  # fmt: skip


WITNESSES: tuple[Property, ...] = (
    *PREMISES,
    *BOUNDARIES,
    AHEAD,
    Witness(
        id="a-preempted-request-ends",
        source="contract Q27, R-52",
        doc="A request is aborted while it waits after its preemption, which the next metadata has to tell.",
        slices=WITH_PREEMPTION,
        actions=("finish_preempted",),
        formula=~finish_untold() & Primed(body=finish_untold()),
    ),
    *(
        _flush_at(
            s, "last-step-flushes-a-store",
            "All requests have finished: the metadata flushes a store whose block nobody was given since.",
            exists(j, _for_the_end & ~loads(j)),
        )
        for s in (DEPTH_ONE, DEPTH_TWO)
    ),
    *(
        _flush_at(
            s, "last-step-flushes-a-finish-store",
            "The last metadata plans a store and orders its flush.",
            exists(j, _for_the_end & exists(w, store_order(w, j, t) > 0)),
            pipeline_idle.is_("flush") & pipeline_finish_store.is_("yes"),
        )
        for s in (DEPTH_ONE, DEPTH_TWO)
    ),
    *(
        _flush_at(
            s, "last-step-flushes-a-load",
            "All requests have ended, one of them while it was loading: the flush names the load.",
            exists(j, _for_the_end & loads(j) & held(source(j))),
        )
        for s in WITH_LOADS
    ),
    *(
        _flush_at(
            s, f"last-step-flushes-a-{kind}-ahead-of-its-step",
            "The last metadata is built, and orders the flush, before any worker has run the step that has the job.",
            exists(
                j, t2,
                _for_the_end & of_kind & t2.ne(t) & forall(w, in_metadata(w, j, t2) & ~handed(w, t2)),
            ),
        )
        for s, kind, of_kind in ((DEPTH_TWO, "store", ~loads(j)), (DEPTH_TWO_LOAD, "load", loads(j)))
    ),
    *(
        _flush_at(
            s, "preemption-flushes-a-store",
            "A store is flushed because its request was preempted; nobody was given the block since.",
            exists(j, _flushed_here & lost(j) & ~_given_out_since & ~used(source(j))),
            TRUE,
        )
        for s in WITH_PREEMPTION
    ),
    Witness(
        id="a-request-is-preempted-while-its-store-is-unprocessed",
        source="seeds 002; contract R-24",
        doc="A request is preempted before a worker has run the step that stores its block.",
        slices=(DEPTH_TWO_PREEMPT,),
        actions=("preempt",),
        formula=exists(j, t2, open_store(j) & source(j).eq(b) & forall(w, in_metadata(w, j, t2) & ~handed(w, t2))),
    ),
    *(
        Witness(
            id=f"a-preempted-request-keeps-the-jobs-open-at-{s.replace('_', '-')}",
            source="seeds 002: all tracked requests have finished",
            doc="No block is in use, but a preempted request waits: that is not the last step, and flushes no load.",
            slices=(s,),
            actions=("dispatch",),
            formula=forall(b, used(b) >> held(b))
            & exists(b, waits_again(b))
            & exists(j, stow_state(j).eq(stow_states["in_flight"])),
        )
        for s in WITH_PREEMPTION
    ),
)  # fmt: skip
