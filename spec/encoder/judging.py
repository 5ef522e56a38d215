"""Who waits, in the words of properties: by the states that are left, and not by those that guards list."""

from __future__ import annotations

from interlock.spec.encoder.vocabulary import visit_state, visit_states
from interlock.spec.language.terms import Term


def is_queued(r: Term) -> Term:
    """Request r has come, has not ended, and neither runs nor loads: a visit is to admit it."""
    return ~visit_states.one_of(
        visit_state(r), "absent", "loading", "running", "stalled", "held", "delayed", "finished"
    )
