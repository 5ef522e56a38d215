"""Lemmas: what the scheduler's bookkeeping means, in terms of jobs and messages."""

from __future__ import annotations

from interlock.spec.kv.coverage import EVERY, TWO_JOBS
from interlock.spec.kv.judging import ended, open_store, under_way, with_worker
from interlock.spec.kv.vocabulary import (
    b,
    copy_state,
    copy_states,
    done,
    flush_meta,
    in_flight,
    j,
    j2,
    job_block,
    job_loads,
    job_state,
    job_states,
    load_meta,
    must_flush,
    output,
    pending_count,
    phase,
    phases,
    reads_current,
    step,
    store_meta,
    store_mode,
    undone,
    w,
)
from interlock.spec.language.properties import Ground, Invariant
from interlock.spec.language.terms import card, exists, forall, ite

WELL_COUNTED = ("ended-jobs-left-nothing", "reports-are-counted", "messages-are-not-duplicated")
"""What every proof needs, so that no count leaves its range and nobody speaks of a job that is no more."""

SET_NAMES_OPEN = Invariant(
    id="dedup-set-names-open-stores",
    source="seeds 004: else the block would be skipped for ever",
    doc="A block in the dedup set is read by an open store. (Of lazy stores none is in it.)",
    slices=EVERY,
    applies=store_mode.is_("eager"),
    formula=forall(b, in_flight(b) >> exists(j, open_store(j) & job_block(j).eq(b))),
    premise=exists(b, in_flight(b)),
    lemma=True,
    proved=True,
    proof=("jobs-in-flight-go-their-way", *WELL_COUNTED),
    grounds=(Ground(action="plan_store", conjunct="lifecycle-job"),),
)
OPEN_IN_SET = Invariant(
    id="open-stores-are-in-dedup-set",
    source="seeds 004",
    doc="The block that an open store reads is in the dedup set, if it is an eager store: lazy ones need none.",
    slices=EVERY,
    formula=forall(j, open_store(j) >> (store_mode.is_("lazy") | in_flight(job_block(j)))),
    lemma=True,
)
ONE_OPEN = Invariant(
    id="one-open-store-per-block",
    source="seeds 004; stronger than needed: of whatever allocation",
    doc="No two open stores read the same block.",
    slices=TWO_JOBS,
    formula=forall(j, j2, (open_store(j) & open_store(j2) & job_block(j).eq(job_block(j2))) >> j.eq(j2)),
    lemma=True,
)
ENDED_LEFT_NOTHING = Invariant(
    id="ended-jobs-left-nothing",
    source="contract I-46, I-58",
    doc=(
        "A job ends once: when it is no longer under way it has no report under way, no copy at any worker, and no "
        "worker is still to get it."
    ),
    slices=EVERY,
    formula=forall(
        j,
        ~under_way(j)
        >> (
            done(j).eq(0)
            & undone(j).eq(0)
            & forall(w, store_meta(w, j).eq(0) & load_meta(w, j).eq(0) & copy_state(w, j).eq(copy_states["idle"]))
        ),
    ),
    premise=exists(j, ended(j)),
    proved=True,
    proof=tuple(i for i in WELL_COUNTED if i != "ended-jobs-left-nothing"),
    grounds=(
        Ground(action="report", conjunct="lifecycle-copy"),
        Ground(action="report_failure", conjunct="lifecycle-copy"),
    ),
)
REPORTS_COUNTED = Invariant(
    id="reports-are-counted",
    aliases=("I-46",),
    source="contract I-46, 2.3",
    doc=(
        "A job waits for exactly the workers that still have it and the reports under way: the count is never "
        "negative, no worker reports twice, and the job ends with the last report and not before."
    ),
    slices=EVERY,
    formula=forall(
        j,
        under_way(j)
        >> (pending_count(j).eq(card(w, with_worker(w, j)) + done(j) + undone(j)) & (pending_count(j) > 0)),
    ),
    premise=exists(j, under_way(j)),
    proved=True,
    proof=tuple(i for i in WELL_COUNTED if i != "reports-are-counted"),
    grounds=(
        Ground(action="report", conjunct="lifecycle-copy"),
        Ground(action="report_failure", conjunct="lifecycle-copy"),
    ),
)
NOT_DUPLICATED = Invariant(
    id="messages-are-not-duplicated",
    source="contract R-23, R-49",
    doc="Metadata names a job to a worker once, and only while the worker does not have it yet.",
    slices=EVERY,
    formula=forall(
        w, j,
        (store_meta(w, j) <= 1) & (load_meta(w, j) <= 1)
        & ((store_meta(w, j) > 0) >> ~(load_meta(w, j) > 0))
        & (((store_meta(w, j) > 0) | (load_meta(w, j) > 0)) >> copy_state(w, j).eq(copy_states["idle"])),
    ),
    lemma=True,
)  # fmt: skip
STEP_MESSAGES = Invariant(
    id="a-step-message-per-worker",
    source="contract R-23, pipeline depth 1",
    doc="A worker has a step to run, or an output to deliver, only while a step is executing.",
    slices=EVERY,
    formula=forall(
        w,
        ite(phase().eq(phases["executing"]), (step(w) + output(w)).eq(1), (step(w) + output(w)).eq(0)),
    ),
    lemma=True,
)
METADATA_ARRIVES = Invariant(
    id="metadata-arrives-with-its-step",
    source="contract R-23; channel discipline with_step",
    doc=(
        "Metadata under way belongs to the step being built or to one that its worker has still to run; a flush "
        "order may outlive its job, but not the step."
    ),
    slices=EVERY,
    formula=forall(
        w, j,
        ((store_meta(w, j) > 0) | (load_meta(w, j) > 0) | (flush_meta(w, j) > 0))
        >> (
            (phase().eq(phases["scheduling"]) & under_way(j))
            | (phase().eq(phases["executing"]) & (step(w) > 0))
        ),
    ),
    lemma=True,
)  # fmt: skip
GO_THEIR_WAY = Invariant(
    id="jobs-in-flight-go-their-way",
    source="contract J6, L2",
    doc="What is in flight as a load is a load, and what is in flight as a store is a store.",
    slices=EVERY,
    formula=forall(
        j,
        (job_state(j).eq(job_states["load_in_flight"]) >> job_loads(j))
        & (job_state(j).eq(job_states["store_in_flight"]) >> ~job_loads(j)),
    ),
    premise=exists(j, job_states.one_of(job_state(j), "load_in_flight", "store_in_flight")),
    lemma=True,
)
PLANNED_NOW = Invariant(
    id="planned-jobs-go-with-this-metadata",
    source="contract R-23",
    doc="A job is planned inside schedule() only: its metadata takes it to the workers.",
    slices=EVERY,
    formula=forall(j, job_state(j).eq(job_states["planned"]) >> phase().eq(phases["scheduling"])),
    lemma=True,
)
FENCE_IS_TRUE = Invariant(
    id="fence-marks-reallocated-sources",
    source="contract I-27, I-28",
    doc="An open store whose source was allocated again must be flushed by this step's metadata.",
    slices=EVERY,
    formula=forall(j, open_store(j) >> (reads_current(j) | must_flush(j))),
    lemma=True,
)

LEMMAS = (
    SET_NAMES_OPEN,
    OPEN_IN_SET,
    ONE_OPEN,
    ENDED_LEFT_NOTHING,
    REPORTS_COUNTED,
    NOT_DUPLICATED,
    STEP_MESSAGES,
    METADATA_ARRIVES,
    GO_THEIR_WAY,
    PLANNED_NOW,
    FENCE_IS_TRUE,
)
