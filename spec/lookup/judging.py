"""The words of properties: said anew, and not in those of the guards, so that a case that one side forgets is noticed.

What a lookup asks for is said there from what it counts, and here from what is known of the chunks.
"""

from __future__ import annotations

from interlock.spec.language.terms import Term, exists, forall
from interlock.spec.lookup.predicates import key_is
from interlock.spec.lookup.vocabulary import (
    ahead,
    covers,
    deferring_group,
    key_state,
    key_states,
    pending_chunk,
    position,
    unresolved_chunk,
)

_p, _q, _head = position.var("pw"), position.var("qw"), position.var("head")

LATER_NAMES_NO_HIT = deferring_group.is_("keeps_bound") | unresolved_chunk.is_("sticky") | pending_chunk.is_("sticky")
"""A group that says 'later' may leave open what hit it has."""


def may_have(g: Term, q: Term) -> Term:
    """Nothing that a hit of group g needs, if it ends with q, is known to be missing."""
    return forall(_p, covers(g, _p, q) >> ~key_is(g, _p, "miss"))


def is_to_come(g: Term, q: Term) -> Term:
    """A chunk that a hit of g needs, if it ends with q, may be there later, and is not there now."""
    return exists(_p, covers(g, _p, q) & ~key_states.one_of(key_state(g, _p), "miss", "ready"))


def reaches_further(g: Term, g2: Term) -> Term:
    """Some hit needs of group g the chunk with which the prompt begins, and of g2 it does not."""
    return ~forall(_head, _q, (covers(g, _head, _q) & ~exists(_p, ahead(_p, _head))) >> covers(g2, _head, _q))
