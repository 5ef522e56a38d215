"""The words of properties: said anew, and not in those of the guards, so that a case that one side forgets is noticed.

Guards list the states in which something is so; here they are those that are left.
"""

from __future__ import annotations

from interlock.spec.language.terms import Term, exists
from interlock.spec.pipeline.predicates import building, dispatched, under_way
from interlock.spec.pipeline.vocabulary import (
    before,
    flush_order,
    j3,
    load_order,
    loads,
    shard_state,
    shard_states,
    source,
    store_order,
    stow_state,
    stow_states,
    t3,
    w2,
)


def is_open(job: Term) -> Term:
    """The job is under way, and by the scheduler's books no flush of it was ordered."""
    return ~stow_state(job).one_of(stow_states["absent"], stow_states["flush_ordered"])


def open_store(job: Term) -> Term:
    """A store that is under way, and of which no flush was ordered."""
    return ~loads(job) & is_open(job)


def open_until_delivery(job: Term) -> Term:
    """A store, open until the last acknowledgement, or until every worker has the metadata that orders the flush."""
    delivered = ~exists(w2, t3, flush_order(w2, job, t3) > 0)
    return ~loads(job) & (is_open(job) | (stow_state(job).eq(stow_states["flush_ordered"]) & ~delivered))


def is_a_target(block: Term) -> Term:
    """Some job that is under way loads into the block."""
    return exists(j3, loads(j3) & under_way(j3) & source(j3).eq(block))


def in_metadata(at: Term, job: Term, step: Term) -> Term:
    """The step, which the worker has not run, gives it the job."""
    return (store_order(at, job, step) + load_order(at, job, step)) > 0


def uncopied(at: Term, job: Term) -> Term:
    """The worker has not copied its shard of the job, which it has, or which some step is to give it."""
    return exists(t3, in_metadata(at, job, t3)) | ~shard_state(at, job).one_of(
        shard_states["idle"], shard_states["copied"]
    )


def with_worker(at: Term, job: Term) -> Term:
    """The worker has the job, or is to get it, and has not acknowledged it."""
    return shard_state(at, job).ne(shard_states["idle"]) | exists(t3, in_metadata(at, job, t3))


def not_after(step: Term, other: Term) -> Term:
    """Workers run the step before the other one, or the two are the same."""
    return step.eq(other) | before(step, other) | (dispatched(step) & building(other))
