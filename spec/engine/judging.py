"""The words of properties: said anew, and not in those of the guards, so that a case that one side forgets is noticed.

Guards list the states in which something is so; here they are those that are left.
"""

from __future__ import annotations

from interlock.spec.engine.vocabulary import (
    parked,
    pass_state,
    pass_states,
    request,
    slot,
    status,
    status_states,
    table,
)
from interlock.spec.language.terms import Term, exists

_rw, _tw = request.var("rw"), slot.var("tw")


def is_in_use(b: Term) -> Term:
    """Some request has block b in its table, or it is parked until a step is processed."""
    return exists(_rw, table(_rw, b)) | exists(_tw, parked(_tw, b))


def has_left(t: Term) -> Term:
    """Step t was dispatched, and its output is not processed to the end."""
    return ~pass_states.one_of(pass_state(t), "idle", "building")


def awaits_a_load(r: Term) -> Term:
    """Request r was admitted for a load, and no visit has taken it up since; it has not ended."""
    return ~status_states.one_of(
        status(r), "absent", "waiting", "deferred_by_lookup", "admitting", "promoted", "running", "preempted", "held"
    )
