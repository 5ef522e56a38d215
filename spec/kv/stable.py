"""Why the source of a store is stable until it has been read: nothing that may write it can do so before the copy."""

from __future__ import annotations

from interlock.spec.kv.coverage import (
    BROKEN,
    EVERY,
    FINISH,
    IDLE,
    PARTIAL,
    RESET,
    RESET_LOAD,
    THREE,
    TINY,
    WITH_CONTENT,
    WITH_LOADS,
)
from interlock.spec.kv.judging import live_store, load_under_way, stores_outlive_no_hash
from interlock.spec.kv.lemmas import WELL_COUNTED
from interlock.spec.kv.vocabulary import (
    b,
    copy_state,
    copy_states,
    due,
    flush_meta,
    fresh,
    h,
    hashed,
    j,
    j2,
    job_block,
    job_state,
    job_states,
    kept,
    load_value,
    must_flush,
    phase,
    phases,
    r,
    reads_current,
    step,
    store_meta,
    w,
)
from interlock.spec.language.properties import Ground, Invariant, lemmas_of
from interlock.spec.language.terms import exists, forall

_EXECUTING = phase().eq(phases["executing"])
_QUEUED = copy_state(w, j).eq(copy_states["store_queued"])
_TO_COPY = _QUEUED | (store_meta(w, j) > 0)
_FLUSHED_FIRST = flush_meta(w, j) > 0
_LOADS_INTO_IT = load_under_way(j2) & job_block(j2).eq(job_block(j))
_FLUSHING = tuple(s for s in EVERY if s not in (IDLE, THREE))
_REALLOCATING = tuple(s for s in _FLUSHING if s not in (RESET, RESET_LOAD, PARTIAL, BROKEN))
"""Where a block is given to another request while a store of it is open."""


_lemma = lemmas_of("store-source-is-not-written-before-its-copy", EVERY, stores_outlive_no_hash())


STABLE_LEMMAS = (
    _lemma(
        "a-current-source-is-addressable",
        "The block that a store reads is addressable until it is allocated again.",
        forall(j, (live_store(j) & reads_current(j)) >> hashed(job_block(j))),
        exists(j, live_store(j) & reads_current(j)),
    ),
    _lemma(
        "a-queued-source-was-computed-before",
        "What a worker is to copy, its next forward does not compute, if it has not been allocated again.",
        forall(
            w, j,
            (live_store(j) & _QUEUED & reads_current(j)) >> (~due(job_block(j)) | (_EXECUTING & step(w).eq(0))),
        ),
        exists(w, j, live_store(j) & _QUEUED & reads_current(j)),
        WITH_CONTENT,
    ),
    _lemma(
        "a-reallocated-source-is-flushed-first",
        "A store whose source was allocated again is flushed before the forward of that step, if it is still to copy.",
        forall(w, j, (live_store(j) & _TO_COPY & ~reads_current(j)) >> (must_flush(j) | _FLUSHED_FIRST)),
        exists(w, j, live_store(j) & _TO_COPY & ~reads_current(j)),
        _REALLOCATING,
    ),
    _lemma(
        "an-ordered-flush-is-on-its-way",
        "Where a worker is still to copy a store whose flush was ordered, the order is on its way to it.",
        forall(
            w, j,
            (live_store(j) & _TO_COPY & job_state(j).eq(job_states["flush_requested"])) >> _FLUSHED_FIRST,
        ),
        exists(w, j, live_store(j) & _TO_COPY & job_state(j).eq(job_states["flush_requested"])),
        tuple(s for s in EVERY if s != RESET_LOAD),
    ),
    _lemma(
        "flushes-are-ordered-with-the-step",
        "No flush is still to be ordered once the metadata has gone.",
        forall(j, must_flush(j) >> ~_EXECUTING),
        exists(j, must_flush(j)),
        _FLUSHING,
    ),
    _lemma(
        "a-block-being-filled-is-not-addressable",
        "The block that a load fills, stale or not, cannot be found, and a value is owed to it.",
        forall(
            j,
            load_under_way(j) >> (~hashed(job_block(j)) & exists(h, load_value(job_block(j), h))),
        ),
        exists(j, load_under_way(j)),
        WITH_LOADS,
    ),
    _lemma(
        "two-loads-fill-two-blocks",
        "No two loads, stale or not, fill one block: what one of them fails to bring, the other does not bring either.",
        forall(
            j, j2,
            (load_under_way(j) & load_under_way(j2) & job_block(j).eq(job_block(j2))) >> j.eq(j2),
        ),
        exists(j, load_under_way(j)),
        WITH_LOADS,
    ),
    _lemma(
        "what-is-kept-is-addressable-or-fresh",
        "What a finished request may still store is addressable, unless it was allocated again since.",
        forall(r, b, h, (kept(r, b, h) & ~fresh(b)) >> hashed(b)),
        exists(r, b, h, kept(r, b, h)),
        (TINY, FINISH),
    ),
    _lemma(
        "a-fresh-block-has-no-queued-load",
        "The load into a block that was allocated in this schedule() is with no worker yet.",
        forall(
            w, j,
            (load_under_way(j) & fresh(job_block(j))) >> copy_state(w, j).eq(copy_states["idle"]),
        ),
        exists(j, load_under_way(j) & fresh(job_block(j))),
        WITH_LOADS,
    ),
)  # fmt: skip

SOURCE_UNWRITTEN = Invariant(
    id="store-source-is-not-written-before-its-copy",
    source="contract I-27 to I-29; seeds 003",
    doc=(
        "Nothing writes the source of a store at a worker that has still to copy it: the forward that is to run there "
        "computes it only after the store's flush, and no load that is queued there, or flushed first, fills it."
    ),
    slices=WITH_CONTENT,
    applies=stores_outlive_no_hash(),
    formula=forall(
        w, j,
        (live_store(j) & _QUEUED & ~_FLUSHED_FIRST)
        >> (
            ~(due(job_block(j)) & (step(w) > 0))
            & ~exists(j2, _LOADS_INTO_IT & ((flush_meta(w, j2) > 0) & (step(w) > 0)))
        ),
    )
    & forall(
        w, j, j2,
        (live_store(j) & _TO_COPY & _LOADS_INTO_IT) >> copy_state(w, j2).ne(copy_states["load_queued"]),
    ),
    premise=exists(w, j, live_store(j) & _QUEUED),
    proved=True,
    proof=(
        *(lemma.id for lemma in STABLE_LEMMAS),
        "jobs-in-flight-go-their-way",
        "allocations-are-fresh-inside-schedule", "load-target-stays-owned", "held-block-is-used",
        "a-step-message-per-worker",
        *WELL_COUNTED,
    ),
    grounds=(Ground(action="build_connector_meta", conjunct="fenced-are-flushed"),),
)  # fmt: skip

STABLE = (SOURCE_UNWRITTEN, *STABLE_LEMMAS)
