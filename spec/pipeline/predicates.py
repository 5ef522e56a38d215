"""What actions and properties of the pipeline say in one word."""

from __future__ import annotations

from interlock.spec.language.terms import TRUE, Term, exists, forall, ite
from interlock.spec.pipeline.vocabulary import (
    acks_due,
    b2,
    comeback_state,
    comeback_states,
    finish_untold,
    held,
    j3,
    load_order,
    loads,
    overwrites,
    pipeline_idle,
    shard_state,
    shard_states,
    slot_state,
    slot_states,
    source,
    store_order,
    stow_state,
    stow_states,
    t3,
    used,
)


def building(at: Term) -> Term:
    """schedule() builds the step."""
    return slot_state(at).eq(slot_states["building"])


def dispatched(at: Term) -> Term:
    """The step is scheduled, and its output is not processed."""
    return slot_state(at).eq(slot_states["dispatched"])


def under_way(job: Term) -> Term:
    """Some worker has still to acknowledge the job."""
    return stow_state(job).ne(stow_states["absent"])


def is_open(job: Term) -> Term:
    """The job is under way, and no flush of it was ordered, as the scheduler's books have it."""
    return stow_state(job).one_of(stow_states["planned"], stow_states["in_flight"])


def open_store(job: Term) -> Term:
    """An open job that is a store: the dedup set has its block."""
    return is_open(job) & ~loads(job)


def last_report(job: Term) -> Term:
    """The acknowledgement at hand is the last one that the job waits for."""
    return acks_due(job) <= 1


def reallocated(job: Term) -> Term:
    """An unprocessed step overwrites the source of the job."""
    return exists(t3, overwrites(t3, job))


def is_filled(block: Term) -> Term:
    """A load that is under way writes the block."""
    return exists(j3, under_way(j3) & loads(j3) & source(j3).eq(block))


def carried(at: Term, job: Term, step: Term) -> Term:
    """The metadata of the step has the job, and the worker has not run it."""
    return (store_order(at, job, step) > 0) | (load_order(at, job, step) > 0)


def to_copy(at: Term, job: Term) -> Term:
    """The worker has the job, or is to get it, and has not copied its shard."""
    return shard_state(at, job).eq(shard_states["queued"]) | exists(t3, carried(at, job, t3))


def waits_again(block: Term) -> Term:
    """The request that was preempted, and lost the block, waits."""
    return comeback_state(block).eq(comeback_states["waits"])


def all_finished() -> Term:
    """No tracked request goes on: each has finished, or is held for the load that it ended with."""
    return forall(b2, ~waits_again(b2) & (used(b2) >> held(b2)))


def last_flush_is_due(job: Term) -> Term:
    """All tracked requests have finished, and ``pipeline_idle`` says that the last metadata flushes this open job."""
    before_plan = pipeline_idle.is_("flush_before_plan") & stow_state(job).ne(stow_states["planned"])
    return ite(pipeline_idle.is_("flush"), TRUE, before_plan) & all_finished() & is_open(job)


def work_is_reported() -> Term:
    """The connector reports pending work: a job is under way. (To tell of a finish, the engine steps by itself.)"""
    return pipeline_idle.is_("flush", "drain") & exists(j3, under_way(j3))


def a_request_is_left() -> Term:
    """A request has blocks or waits for them, or no metadata has said yet that it has finished."""
    return finish_untold() | exists(b2, used(b2) | waits_again(b2))
