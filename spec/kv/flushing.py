"""What a flush writes: the content oracle of stores that a worker copies before its forward, stale ones among them."""

from __future__ import annotations

from interlock.spec.kv.coverage import PARTIAL, RESET, RESET_LOAD, RESET_PREFIXES, TINY
from interlock.spec.kv.judging import live, stale, store_under_way
from interlock.spec.kv.vocabulary import (
    c,
    copy_state,
    copy_states,
    cpu_value,
    flush_meta,
    gpu_value,
    h,
    j,
    j2,
    job_block,
    job_chunk,
    store_meta,
    w,
)
from interlock.spec.language.properties import ActionProperty
from interlock.spec.language.terms import Primed, Term, exists, forall


def _is_copied_first(j: Term) -> Term:
    """Worker w copies store j before the forward that it begins."""
    still_to_copy = copy_state(w, j).eq(copy_states["store_queued"]) | (store_meta(w, j) > 0)
    return store_under_way(j) & still_to_copy & (flush_meta(w, j) > 0)


def _into(j: Term, c: Term) -> Term:
    return _is_copied_first(j) & job_chunk(j).eq(c)


_before, _after = cpu_value(w, c, h), Primed(body=cpu_value(w, c, h))

FLUSH_SAVES_ITS_SOURCE = ActionProperty(
    id="a-flush-saves-what-its-source-holds",
    source="contract J9, R-31, I-31; the content oracle",
    doc=(
        "What a worker's flush puts into a chunk is what the source holds there before the forward, and nothing else; "
        "of a live and a stale store of one chunk the live one is the later. (It restates the action.)"
    ),
    slices=(TINY, RESET, RESET_LOAD, RESET_PREFIXES, PARTIAL),
    only_in_slices="no log shows a worker's flush, and each would be asked about every chunk",
    actions=("run_step",),
    formula=forall(j, c, h, (_into(j, c) & live(j)) >> _after.eq(gpu_value(w, job_block(j), h)))
    & forall(c, h, _after >> (_before | exists(j, _into(j, c) & gpu_value(w, job_block(j), h))))
    & forall(
        j, c, h,
        (_into(j, c) & stale(j) & ~exists(j2, _into(j2, c) & live(j2)) & gpu_value(w, job_block(j), h)) >> _after,
    ),
)  # fmt: skip

FLUSHING = (FLUSH_SAVES_ITS_SOURCE,)
