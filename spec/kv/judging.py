"""The words of properties: said anew, and not in those of the guards, so that a case that one side forgets is noticed.

Guards list the states in which something is so; here they are those that are left.
"""

from __future__ import annotations

from interlock.spec.kv.predicates import pins
from interlock.spec.kv.vocabulary import (
    b2,
    block_hash,
    block_state,
    block_states,
    chunk,
    chunk_hash,
    chunk_state,
    chunk_states,
    copy_state,
    copy_states,
    idle,
    job,
    job_block,
    job_loads,
    job_request,
    job_state,
    job_states,
    kv_reset,
    load_meta,
    store_meta,
    store_mode,
)
from interlock.spec.language.terms import Term, exists, forall

_j, _c = job.var("jw"), chunk.var("cw")


def live(j: Term) -> Term:
    """Job j has been planned, has not ended, and no reset has forgotten it."""
    return ~job_states.one_of(job_state(j), "absent", "completed", "failed", "stale")


def under_way(j: Term) -> Term:
    """Job j has been planned, and has not ended."""
    return ~job_states.one_of(job_state(j), "absent", "completed", "failed")


def stale(j: Term) -> Term:
    """Job j has been planned, has not ended, and a reset has forgotten it."""
    return job_state(j).eq(job_states["stale"])


def ended(j: Term) -> Term:
    """Job j has ended, and there is still a record of it."""
    return ~under_way(j) & job_state(j).ne(job_states["absent"])


def live_store(j: Term) -> Term:
    """Job j is live, and a store."""
    return ~job_loads(j) & live(j)


def live_load(j: Term) -> Term:
    """Job j is live, and a load."""
    return job_loads(j) & live(j)


def stale_load(j: Term) -> Term:
    """Job j is stale, and a load."""
    return job_loads(j) & stale(j)


def store_under_way(j: Term) -> Term:
    """Job j is under way, and a store."""
    return ~job_loads(j) & under_way(j)


def load_under_way(j: Term) -> Term:
    """Job j is under way, and a load."""
    return job_loads(j) & under_way(j)


def open_store(j: Term) -> Term:
    """Job j is a live store whose flush has not been ordered."""
    return live_store(j) & job_state(j).ne(job_states["flush_requested"])


def of_some_request(j: Term) -> Term:
    """Job j, which is under way, belongs to a request: all loads do, and all stores but lazy ones."""
    return job_loads(j) | ~store_mode.is_("lazy")


def belongs_to(j: Term, r: Term) -> Term:
    """Job j, which is under way, belongs to request r."""
    return job_request(j).eq(r) & of_some_request(j)


def is_a_source(b: Term) -> Term:
    """A store that is under way reads block b."""
    return exists(_j, store_under_way(_j) & job_block(_j).eq(b))


def is_a_target(b: Term) -> Term:
    """A load that is under way writes block b."""
    return exists(_j, load_under_way(_j) & job_block(_j).eq(b))


def is_stored(b: Term) -> Term:
    """Lookup finds, in some chunk, the prefix that block b is addressed by."""
    return ~forall(_c, chunk_state(_c).eq(chunk_states["ready"]) >> chunk_hash(_c).ne(block_hash(b)))


def no_block_is_used() -> Term:
    """Every GPU block is in the free queue."""
    return ~exists(b2, block_state(b2).eq(block_states["used"]))


def tier_refuses() -> Term:
    """The tier tells the caller of a reset that it is not done: it never is, or not while some job is under way."""
    return kv_reset.is_("unsupported") | (kv_reset.is_("hold") & exists(_j, under_way(_j)))


def stores_outlive_no_hash() -> Term:
    """No reset, under these switches, takes the hash of a block that a live store reads: the store goes, or fails."""
    return ~kv_reset.is_("ignored", "unsupported") | (kv_reset.is_("unsupported") & pins())


def with_worker(w: Term, j: Term) -> Term:
    """Worker w still owes a report on job j: the job is on its way to it, or in its hands."""
    return (store_meta(w, j) > 0) | (load_meta(w, j) > 0) | copy_state(w, j).ne(copy_states["idle"])


def flushes_ever() -> Term:
    """Some flush is ordered under these switches: by a fence, after a reset, or of the last step."""
    return ~pins() | kv_reset.is_("flush") | idle.is_("flush", "flush_before_plan")
