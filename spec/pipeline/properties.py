"""What must hold of stores while several steps are under way."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Ground, Invariant, Property
from interlock.spec.language.terms import Primed, card, exists, forall
from interlock.spec.pipeline.books import BOOKS
from interlock.spec.pipeline.endings import ENDINGS
from interlock.spec.pipeline.flushes import FLUSH_REASONS
from interlock.spec.pipeline.judging import in_metadata, open_store, open_until_delivery, uncopied, with_worker
from interlock.spec.pipeline.lemmas import PIPELINE_LEMMAS
from interlock.spec.pipeline.others import OTHERS
from interlock.spec.pipeline.predicates import dispatched, under_way
from interlock.spec.pipeline.settings import DEPTH_ONE, DEPTH_TWO, EVERY
from interlock.spec.pipeline.together import TOGETHER
from interlock.spec.pipeline.vocabulary import (
    acks_due,
    b,
    before,
    busy,
    flush_order,
    j,
    j2,
    load_order,
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
    w,
)
from interlock.spec.pipeline.witnesses import WITNESSES

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
        "step that overwrites what is still to copy, or one before it, orders the flush."
    ),
    slices=EVERY,
    formula=forall(w, j, under_way(j) >> ~spoilt(w, j))
    & forall(
        w, j, t,
        (under_way(j) & dispatched(t) & overwrites(t, j) & uncopied(w, j))
        >> exists(t2, (flush_order(w, j, t2) > 0) & (t2.eq(t) | before(t2, t))),
    ),
    premise=exists(j, t, under_way(j) & overwrites(t, j)),
    proved=True,
    proof=(*PIPELINE_LEMMAS, *_COUNTED),
    grounds=(Ground(action="dispatch", conjunct="fenced-are-flushed"),),
)  # fmt: skip

REPORTS_COUNTED = Invariant(
    id="pipeline-reports-are-counted",
    source="contract I-46, R-49, J11",
    doc="A job waits for exactly the workers that still have it and the reports under way, and for at least one.",
    slices=EVERY,
    formula=forall(
        j, under_way(j) >> (acks_due(j).eq(card(w, owes(w, j)) + stored(j)) & (acks_due(j) > 0))
    ),
    premise=exists(j, under_way(j)),
    proved=True,
    proof=tuple(i for i in _COUNTED if i != "pipeline-reports-are-counted"),
    grounds=(Ground(action="report_shard", conjunct="lifecycle-shard"),),
)  # fmt: skip

ENDED_LEFT_NOTHING = Invariant(
    id="pipeline-ended-stores-left-nothing",
    source="contract I-46, I-58",
    doc="A job ends once: then no worker has it or is to get it, and no report on it is under way.",
    slices=EVERY,
    formula=forall(
        j,
        ~under_way(j)
        >> (
            stored(j).eq(0)
            & forall(w, shard_state(w, j).eq(shard_states["idle"]))
            & forall(w, t, ~in_metadata(w, j, t))
        ),
    ),
    premise=exists(j, under_way(j)),
    proved=True,
    proof=tuple(i for i in _COUNTED if i != "pipeline-ended-stores-left-nothing"),
    grounds=(Ground(action="report_shard", conjunct="lifecycle-shard"),),
)

NOT_DUPLICATED = Invariant(
    id="pipeline-orders-are-not-duplicated",
    source="contract R-23, R-49",
    doc="One metadata gives a job to a worker, once, and only while the worker does not have it.",
    slices=EVERY,
    formula=forall(
        w, j, t,
        ((store_order(w, j, t) + load_order(w, j, t)) <= 1)
        & (in_metadata(w, j, t) >> shard_state(w, j).eq(shard_states["idle"])),
    )
    & forall(w, j, t, t2, (in_metadata(w, j, t) & in_metadata(w, j, t2)) >> t.eq(t2)),
    premise=exists(w, j, t, in_metadata(w, j, t)),
    lemma=True,
)  # fmt: skip

OWED_IS_WITH_WORKER = Invariant(
    id="pipeline-acknowledgements-owed-are-of-stores-held",
    source="contract R-49",
    doc="The workers that owe an acknowledgement are those that have the job, or are to get it.",
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
    formula=forall(b, busy(b).eq(exists(j, open_store(j) & source(j).eq(b)))),
    premise=exists(b, busy(b)),
)

REPORTED_IS_COPIED = ActionProperty(
    id="pipeline-a-report-follows-the-copy",
    source="contract J10, R-34, R-42",
    doc="A worker reports a job once it has copied its shard, and not while the copy is still to come.",
    slices=EVERY,
    actions=("report_shard",),
    formula=shard_state(w, j).eq(shard_states["copied"]),
)
FLUSH_IS_BARRIER = ActionProperty(
    id="pipeline-flush-is-a-barrier",
    source="contract 2.1, J9, R-31",
    doc="Once a worker has run a step that orders a flush, that job is no longer with it.",
    slices=EVERY,
    actions=("run_step",),
    formula=forall(j, (flush_order(w, j, t) > 0) >> ~Primed(body=with_worker(w, j))),
)

PROPERTIES: tuple[Property, ...] = (
    NOT_TWICE, SOURCE_STABLE, REPORTS_COUNTED, ENDED_LEFT_NOTHING, NOT_DUPLICATED, OWED_IS_WITH_WORKER,
    BUSY_IS_OPEN, REPORTED_IS_COPIED, FLUSH_IS_BARRIER, *FLUSH_REASONS, *ENDINGS, *WITNESSES, *TOGETHER, *BOOKS,
    *OTHERS,
)  # fmt: skip
