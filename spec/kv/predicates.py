"""Derived predicates: the words in which guards and properties are said."""

from __future__ import annotations

from interlock.spec.kv.vocabulary import (
    b2,
    block_hash,
    chunk,
    chunk_hash,
    chunk_state,
    chunk_states,
    copy_state,
    copy_states,
    hashed,
    holds,
    in_flight,
    job,
    job_block,
    job_chunk,
    job_loads,
    job_state,
    job_states,
    load_meta,
    phase,
    phases,
    r2,
    source_hold,
    store_dedup,
    store_meta,
)
from interlock.spec.language.terms import TRUE, Term, exists, forall, ite

_j, _c = job.var("jx"), chunk.var("cx")


def live(j: Term) -> Term:
    """Job j has been planned and has not ended."""
    return job_state(j).one_of(
        job_states["planned"],
        job_states["store_in_flight"],
        job_states["load_in_flight"],
        job_states["flush_requested"],
    )


def ended(j: Term) -> Term:
    """Job j has completed or failed, and the next metadata forgets it."""
    return job_state(j).one_of(job_states["completed"], job_states["failed"])


def open_store(j: Term) -> Term:
    """Store j is open: from the metadata that carries it until its last acknowledgement or its flush order."""
    return ~job_loads(j) & job_state(j).one_of(job_states["planned"], job_states["store_in_flight"])


def open_load(j: Term) -> Term:
    """Load j is planned or in flight."""
    return job_loads(j) & job_state(j).one_of(job_states["planned"], job_states["load_in_flight"])


def is_read_by_store(b: Term, *, besides: Term | None = None) -> Term:
    """Some store that has not ended reads block b (another one than job ``besides``)."""
    other = TRUE if besides is None else _j.ne(besides)
    return exists(_j, other & live(_j) & ~job_loads(_j) & job_block(_j).eq(b))


def is_filled_by_open_load(b: Term) -> Term:
    """Some open load writes block b."""
    return exists(_j, open_load(_j) & job_block(_j).eq(b))


def is_read_by_open_load(c: Term) -> Term:
    """Some open load reads chunk c: the chunk is pinned."""
    return exists(_j, open_load(_j) & job_chunk(_j).eq(c))


def serves(b: Term) -> Term:
    """A ready chunk holds the hash of block b."""
    return exists(_c, chunk_state(_c).eq(chunk_states["ready"]) & chunk_hash(_c).eq(block_hash(b)))


def held_by_another(b: Term, r: Term) -> Term:
    """A request other than r holds block b."""
    return exists(r2, r2.ne(r) & holds(r2, b))


def dedup_says_skip(b: Term, h: Term) -> Term:
    """What ``store_dedup`` knows of a store of block b, holding prefix h, under way.

    Bookkeeping only, as a scheduler has it.
    """
    planned_now = exists(_j, job_state(_j).eq(job_states["planned"]) & ~job_loads(_j) & job_block(_j).eq(b))
    same_hash = exists(b2, in_flight(b2) & hashed(b2) & block_hash(b2).eq(h))
    return ite(store_dedup.is_("per_step"), planned_now, ite(store_dedup.is_("in_flight"), in_flight(b), same_hash))


def no_room() -> Term:
    """No chunk is absent, and none can be evicted."""
    return forall(
        _c,
        chunk_state(_c).eq(chunk_states["pending"])
        | (chunk_state(_c).eq(chunk_states["ready"]) & is_read_by_open_load(_c)),
    )


def between_steps() -> Term:
    """The scheduler may act: no step is with the workers (pipeline depth 1)."""
    return phase().ne(phases["executing"])


def with_worker(w: Term, j: Term) -> Term:
    """Worker w still owes a report on job j: the job is on its way to it, or in its hands."""
    return (store_meta(w, j) > 0) | (load_meta(w, j) > 0) | copy_state(w, j).ne(copy_states["idle"])


def pins() -> Term:
    """Sources of stores are held by a reference."""
    return source_hold.is_("pin")
