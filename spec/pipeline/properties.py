"""What must hold of stores while several steps are under way."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Ground, Invariant, LeadsTo, Property, Witness
from interlock.spec.language.terms import Primed, card, exists, forall
from interlock.spec.pipeline.books import BOOKS
from interlock.spec.pipeline.lemmas import COUNTING_LEMMAS, EVERY, PIPELINE_LEMMAS
from interlock.spec.pipeline.predicates import dispatched, is_open, open_until_delivery, under_way, with_worker
from interlock.spec.pipeline.settings import DEPTH_ONE, DEPTH_TWO
from interlock.spec.pipeline.vocabulary import (
    acks_due,
    b,
    busy,
    flush_due,
    flush_order,
    fresh,
    j,
    j2,
    overwrites,
    owes,
    shard_state,
    shard_states,
    source,
    spoilt,
    store_order,
    stored,
    t,
    t2,
    used,
    w,
)

_same_allocation = source(j).eq(source(j2)) & (
    (~exists(t, overwrites(t, j)) & ~exists(t, overwrites(t, j2))) | exists(t, overwrites(t, j) & overwrites(t, j2))
)

_COUNTED = (
    "pipeline-reports-are-counted",
    "pipeline-ended-stores-left-nothing",
    "pipeline-orders-are-not-duplicated",
    "pipeline-acknowledgements-owed-are-of-stores-held",
)

NOT_TWICE = Invariant(
    id="no-block-stored-twice-until-delivery",
    source="seeds 004; vLLM PR 41289",
    doc="No two stores of one block in one allocation are open, each until the order of its flush is delivered.",
    slices=(DEPTH_ONE, DEPTH_TWO),
    formula=forall(
        j, j2, (open_until_delivery(j) & open_until_delivery(j2) & j.ne(j2)) >> ~_same_allocation
    ),
    premise=exists(j, j2, j.ne(j2) & open_until_delivery(j) & open_until_delivery(j2) & source(j).eq(source(j2))),
)  # fmt: skip

SOURCE_STABLE = Invariant(
    id="store-source-stable-in-pipeline",
    source="contract I-27 to I-29, R-31, R-32, D10; seeds 003",
    doc=(
        "Every worker copies the source of a store before it overwrites it, at any depth of the pipeline: a dispatched "
        "step that overwrites what is still to copy orders the flush."
    ),
    slices=EVERY,
    formula=forall(w, j, under_way(j) >> ~spoilt(w, j))
    & forall(
        w, j, t, t2,
        (
            under_way(j) & dispatched(t) & overwrites(t, j)
            & (shard_state(w, j).eq(shard_states["queued"]) | (store_order(w, j, t2) > 0))
        )
        >> (flush_order(w, j, t) > 0),
    ),
    premise=exists(j, t, under_way(j) & overwrites(t, j)),
    proved=True,
    proof=(*PIPELINE_LEMMAS, *_COUNTED),
    grounds=(Ground(action="dispatch", conjunct="fenced-are-flushed"),),
)  # fmt: skip

REPORTS_COUNTED = Invariant(
    id="pipeline-reports-are-counted",
    source="contract I-46, R-49, J11",
    doc="A store waits for exactly the workers that still have it and the reports under way, and for at least one.",
    slices=EVERY,
    formula=forall(
        j, under_way(j) >> (acks_due(j).eq(card(w, owes(w, j)) + stored(j)) & (acks_due(j) > 0))
    ),
    premise=exists(j, under_way(j)),
    proved=True,
    proof=(*COUNTING_LEMMAS, *(i for i in _COUNTED if i != "pipeline-reports-are-counted")),
    grounds=(Ground(action="report_shard", conjunct="lifecycle-shard"),),
)  # fmt: skip

ENDED_LEFT_NOTHING = Invariant(
    id="pipeline-ended-stores-left-nothing",
    source="contract I-46, I-58",
    doc="A store ends once: then no worker has it or is to get it, and no report on it is under way.",
    slices=EVERY,
    formula=forall(
        j,
        ~under_way(j)
        >> (
            stored(j).eq(0)
            & forall(w, shard_state(w, j).eq(shard_states["idle"]))
            & forall(w, t, store_order(w, j, t).eq(0))
        ),
    ),
    premise=exists(j, under_way(j)),
    proved=True,
    proof=(*COUNTING_LEMMAS, *(i for i in _COUNTED if i != "pipeline-ended-stores-left-nothing")),
    grounds=(Ground(action="report_shard", conjunct="lifecycle-shard"),),
)

NOT_DUPLICATED = Invariant(
    id="pipeline-orders-are-not-duplicated",
    source="contract R-23, R-49",
    doc="One metadata gives a store to a worker, once, and only while the worker does not have it.",
    slices=EVERY,
    formula=forall(
        w, j, t,
        (store_order(w, j, t) <= 1)
        & ((store_order(w, j, t) > 0) >> shard_state(w, j).eq(shard_states["idle"])),
    )
    & forall(w, j, t, t2, ((store_order(w, j, t) > 0) & (store_order(w, j, t2) > 0)) >> t.eq(t2)),
    premise=exists(w, j, t, store_order(w, j, t) > 0),
    lemma=True,
)  # fmt: skip

OWED_IS_WITH_WORKER = Invariant(
    id="pipeline-acknowledgements-owed-are-of-stores-held",
    source="contract R-49",
    doc="The workers that owe an acknowledgement are those that have the store, or are to get it.",
    slices=EVERY,
    formula=forall(w, j, owes(w, j).eq(with_worker(w, j))),
    premise=exists(w, j, owes(w, j)),
    lemma=True,
)

BUSY_IS_OPEN = Invariant(
    id="pipeline-dedup-set-is-the-open-stores",
    source="seeds 004: an id is in the set if and only if an open store reads it",
    doc="The dedup set names exactly the blocks of the stores that are open in the scheduler's books.",
    slices=EVERY,
    formula=forall(b, busy(b).eq(exists(j, is_open(j) & source(j).eq(b)))),
    premise=exists(b, busy(b)),
)

FLUSH_IS_BARRIER = ActionProperty(
    id="pipeline-flush-is-a-barrier",
    source="contract 2.1, J9, R-31",
    doc="Once a worker has run a step that orders a flush, that store is no longer with it.",
    slices=EVERY,
    actions=("run_step",),
    formula=forall(j, (flush_order(w, j, t) > 0) >> ~Primed(body=with_worker(w, j))),
)

COMPLETES = LeadsTo(
    id="every-planned-store-completes",
    aliases=(),
    source="seeds 002; contract V-06",
    doc="Every store that is planned is acknowledged by all workers, whether or not another step comes.",
    slices=EVERY,
    vars=(j,),
    premise=under_way(j),
    conclusion=~under_way(j),
)

BOUNDARIES = tuple(
    Witness(
        id=f"finish-store-and-reallocation-in-one-metadata-at-{slice_.replace('_', '-')}",
        source="seeds 004: boundary test; contract J5, R-28",
        doc="One metadata has a finish-time store, the reallocation of its block, and a store of the new allocation.",
        slices=(slice_,),
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

UNDER_WAY = Witness(
    id="a-pipelined-store-is-under-way",
    source="contract J4",
    doc="A store is planned: the premise of every-planned-store-completes.",
    slices=EVERY,
    formula=exists(j, under_way(j)),
)

PROPERTIES: tuple[Property, ...] = (
    UNDER_WAY, NOT_TWICE, SOURCE_STABLE, REPORTS_COUNTED, ENDED_LEFT_NOTHING, NOT_DUPLICATED, OWED_IS_WITH_WORKER,
    BUSY_IS_OPEN, FLUSH_IS_BARRIER, COMPLETES, *BOUNDARIES, AHEAD, *BOOKS,
)  # fmt: skip
