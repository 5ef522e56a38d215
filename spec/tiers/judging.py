"""The words of properties: said anew, and not in those of the guards, so that a case that one side forgets is noticed.

Guards list the states in which something is so; here they are those that are left.
"""

from __future__ import annotations

from interlock.spec.language.terms import Term
from interlock.spec.tiers.predicates import is_kind
from interlock.spec.tiers.tasks_vocabulary import task_state, task_states
from interlock.spec.tiers.vocabulary import (
    cpu_slot_state,
    cpu_slot_states,
    operation_state,
    operation_states,
    record_state,
    record_states,
    slot_key,
)


def live(o: Term) -> Term:
    """Operation o has been planned, and has not ended."""
    return ~operation_states.one_of(operation_state(o), "absent", "retrieved")


def writes(o: Term) -> Term:
    """Operation o is live, and its slot is where it copies to."""
    return live(o) & ~is_kind(o, "cascade", "retrieval")


def has_pin(o: Term) -> Term:
    """Operation o is live, and its slot is what it copies: it has a pin."""
    return live(o) & ~is_kind(o, "promotion", "fill")


def has_hit(r: Term, h: Term, c: Term) -> Term:
    """Request r has a hit on key h that it has not used, and slot c is the one that lookup sees."""
    visible = ~cpu_slot_states.one_of(cpu_slot_state(c), "absent", "pending", "stale")
    return visible & slot_key(c).eq(h) & record_state(r, h).eq(record_states["granted"])


def open_task(t: Term) -> Term:
    """Task t has been created, has not ended, and nobody has given it up."""
    return ~task_states.one_of(task_state(t), "absent", "given_up")
