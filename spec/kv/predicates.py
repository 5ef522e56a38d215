"""Derived predicates: the words in which guards and properties are said."""

from __future__ import annotations

from interlock.spec.kv.vocabulary import (
    b2,
    block_hash,
    block_state,
    block_states,
    chunk,
    chunk_hash,
    chunk_state,
    chunk_states,
    hashed,
    holds,
    idle,
    in_flight,
    job,
    job_block,
    job_chunk,
    job_loads,
    job_request,
    job_state,
    job_states,
    kv_reset,
    phase,
    phases,
    r2,
    request_state,
    request_states,
    source_hold,
    stale_work,
    store_dedup,
    store_mode,
)
from interlock.spec.language.terms import TRUE, Term, exists, forall, ite

_j, _c = job.var("jx"), chunk.var("cx")


def live(j: Term) -> Term:
    """Job j has been planned and has not ended."""
    return job_states.one_of(job_state(j), "planned", "store_in_flight", "load_in_flight", "flush_requested")


def stale(j: Term) -> Term:
    """A reset has forgotten job j, which workers have yet to report on."""
    return job_state(j).eq(job_states["stale"])


def under_way(j: Term) -> Term:
    """Some worker has yet to report on job j, live or stale."""
    return live(j) | stale(j)


def live_store(j: Term) -> Term:
    """Store j has been planned and has not ended."""
    return live(j) & ~job_loads(j)


def stale_load(j: Term) -> Term:
    """A reset has forgotten load j, which workers have yet to report on."""
    return stale(j) & job_loads(j)


def store_under_way(j: Term) -> Term:
    """Some worker has yet to report on store j, live or stale."""
    return under_way(j) & ~job_loads(j)


def load_under_way(j: Term) -> Term:
    """Some worker has yet to report on load j, live or stale."""
    return under_way(j) & job_loads(j)


def ended(j: Term) -> Term:
    """Job j has completed or failed, and the next metadata forgets it."""
    return job_states.one_of(job_state(j), "completed", "failed")


def open_store(j: Term) -> Term:
    """Store j is open: from the metadata that carries it until its last acknowledgement or its flush order."""
    return ~job_loads(j) & job_states.one_of(job_state(j), "planned", "store_in_flight")


def open_load(j: Term) -> Term:
    """Load j has not ended; a flush order may make it end sooner."""
    return job_loads(j) & live(j)


def has_request(j: Term) -> Term:
    """Job j, which is under way, is some request's: all are but lazy stores."""
    return store_mode.is_("eager") | job_loads(j)


def is_of(j: Term, r: Term) -> Term:
    """Job j, which is under way, is one of request r's."""
    return has_request(j) & job_request(j).eq(r)


def is_read_by_store(b: Term, *, besides: Term | None = None) -> Term:
    """Some store that is under way reads block b (another one than job ``besides``)."""
    other = TRUE if besides is None else _j.ne(besides)
    return exists(_j, other & store_under_way(_j) & job_block(_j).eq(b))


def is_filled_by_load(b: Term) -> Term:
    """Some load that is under way writes block b."""
    return exists(_j, load_under_way(_j) & job_block(_j).eq(b))


def is_read_by_open_load(c: Term) -> Term:
    """Some open load reads chunk c: the chunk is pinned. Under ``hold`` one that a reset has forgotten pins it too."""
    return exists(_j, (open_load(_j) | (kv_reset.is_("hold") & stale_load(_j))) & job_chunk(_j).eq(c))


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


def tracked_and_unfinished(r: Term) -> Term:
    """The connector has been asked about r, which goes on. A request in the queue that nobody asked about is not."""
    return request_states.one_of(request_state(r), "preempted", "loading", "scheduled") | (
        request_state(r).eq(request_states["waiting"]) & exists(b2, holds(r, b2))
    )


def flush_is_due(j: Term) -> Term:
    """All tracked requests have finished, and ``idle`` says that the last metadata flushes job j. It does not yet."""
    chosen = ite(idle.is_("flush"), TRUE, idle.is_("flush_before_plan") & job_state(j).ne(job_states["planned"]))
    to_order = live(j) & job_state(j).ne(job_states["flush_requested"])
    return chosen & forall(r2, ~tracked_and_unfinished(r2)) & to_order


def work_is_reported() -> Term:
    """The connector reports pending work: a job is open, or a request has just finished and may be stored.

    Here the engine knows of the latter itself (:func:`something_to_do`); one that asks its connector only does not.
    """
    just_finished = exists(r2, request_state(r2).eq(request_states["finished"]))
    forgotten = stale_work.is_("included") & exists(_j, stale(_j))
    return idle.is_("flush", "drain") & (just_finished | exists(_j, live(_j)) | forgotten)


def something_to_do() -> Term:
    """The engine has a reason to step: a request (also one that has just finished), or work that is reported."""
    return exists(r2, request_state(r2).ne(request_states["absent"])) | work_is_reported()


def pool_is_free() -> Term:
    """No GPU block is in use, so a reset of the prefix cache succeeds."""
    return forall(b2, block_state(b2).eq(block_states["free"]))


def forgets_jobs() -> Term:
    """A reset makes the tier forget the jobs that workers have yet to report on."""
    return kv_reset.is_("forget", "flush", "hold")


def clears_chunks() -> Term:
    """A reset makes the tier forget what is ready; under ``hold`` only if no worker has yet to report on a job."""
    return forgets_jobs() & (~kv_reset.is_("hold") | ~exists(_j, under_way(_j)))


def reset_succeeds() -> Term:
    """What the caller of a reset learns: no GPU block is in use, and the tier has done its part, or says so."""
    return pool_is_free() & (kv_reset.is_("ignored") | clears_chunks())


def pins() -> Term:
    """Sources of stores are held by a reference."""
    return source_hold.is_("pin")
