"""Derived predicates: what groups have, and who is to be asked first."""

from __future__ import annotations

from interlock.spec.language.terms import Term, exists, forall
from interlock.spec.lookup.vocabulary import (
    ahead,
    covers,
    key_state,
    key_states,
    lookup_state,
    lookup_states,
    position,
    prompt_order,
    request,
    windowed,
)

_r = request.var("rx")
_p, _q = position.var("px"), position.var("qx")


def upto(p: Term, q: Term) -> Term:
    """Position p is q, or comes before it."""
    return p.eq(q) | ahead(p, q)


def searching(r: Term) -> Term:
    """The lookup of r is under way."""
    return lookup_state(r).eq(lookup_states["searching"])


def matched(r: Term) -> Term:
    """The lookup of r has answered with a hit."""
    return lookup_state(r).eq(lookup_states["matched"])


def in_visit(r: Term) -> Term:
    """The scheduler visits r: its lookup is under way, or its hit is being allocated."""
    return lookup_states.one_of(lookup_state(r), "searching", "matched", "missed")


def no_visit() -> Term:
    """No request is being visited, so the tier may change."""
    return forall(_r, ~in_visit(_r))


def has(g: Term, q: Term) -> Term:
    """Group g has, or is getting, all that a hit needs that ends with q."""
    return forall(_p, covers(g, _p, q) >> key_state(g, _p).ne(key_states["miss"]))


def awaits(g: Term, q: Term) -> Term:
    """A chunk that a hit of g needs, if it ends with q, is still being stored."""
    return exists(_p, covers(g, _p, q) & key_state(g, _p).eq(key_states["pending"]))


def wider(g: Term, g2: Term) -> Term:
    """The window of g is wider than that of g2: its hits need the start of the prompt up to a later end."""
    return exists(_p, _q, prompt_order.is_first(_p) & covers(g, _p, _q) & ~covers(g2, _p, _q))


def full(g: Term) -> Term:
    """g is a full-attention group: a hit needs all chunks up to its end."""
    return ~windowed(g)
