"""What actions and properties of the pipeline say in one word."""

from __future__ import annotations

from interlock.spec.language.terms import Term, exists
from interlock.spec.pipeline.vocabulary import (
    flush_order,
    overwrites,
    shard_state,
    shard_states,
    slot_state,
    slot_states,
    store_order,
    stow_state,
    stow_states,
    t3,
    w2,
)


def building(at: Term) -> Term:
    """schedule() builds the step."""
    return slot_state(at).eq(slot_states["building"])


def dispatched(at: Term) -> Term:
    """The step is scheduled, and its output is not processed."""
    return slot_state(at).eq(slot_states["dispatched"])


def under_way(store: Term) -> Term:
    """Some worker has still to acknowledge the store."""
    return stow_state(store).ne(stow_states["absent"])


def is_open(store: Term) -> Term:
    """No flush of the store was ordered, as the scheduler's books have it."""
    return stow_state(store).one_of(stow_states["planned"], stow_states["in_flight"])


def open_until_delivery(store: Term) -> Term:
    """Open until the last acknowledgement, or until every worker has the metadata that orders the flush."""
    return is_open(store) | (
        stow_state(store).eq(stow_states["flush_ordered"]) & exists(w2, t3, flush_order(w2, store, t3) > 0)
    )


def reallocated(store: Term) -> Term:
    """An unprocessed step overwrites the source of the store."""
    return exists(t3, overwrites(t3, store))


def to_copy(at: Term, store: Term) -> Term:
    """The worker has the store, or is to get it, and has not copied its shard."""
    return shard_state(at, store).eq(shard_states["queued"]) | exists(t3, store_order(at, store, t3) > 0)


def with_worker(at: Term, store: Term) -> Term:
    """The worker has the store, or is to get it, and has not acknowledged it."""
    return shard_state(at, store).ne(shard_states["idle"]) | exists(t3, store_order(at, store, t3) > 0)
