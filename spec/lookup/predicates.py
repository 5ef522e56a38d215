"""Derived predicates: what groups have, and who is to be asked first."""

from __future__ import annotations

from interlock.spec.language.terms import Term, exists, forall
from interlock.spec.lookup.vocabulary import (
    ahead,
    bound,
    covers,
    deferring_group,
    key_state,
    key_states,
    lookup_state,
    lookup_states,
    pending_chunk,
    position,
    prompt_order,
    request,
    unresolved_chunk,
    windowed,
)

_r = request.var("rx")
_p, _q = position.var("px"), position.var("qx")
_met, _end, _before = position.var("met"), position.var("end"), position.var("before")


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


def nobody_asks() -> Term:
    """No request is being looked up, or waits for it."""
    return forall(_r, lookup_state(_r).eq(lookup_states["absent"]))


def key_is(g: Term, p: Term, state: str) -> Term:
    """The key of the chunk of g at p is in a state."""
    return key_state(g, p).eq(key_states[state])


def awaits(g: Term, q: Term) -> Term:
    """A chunk that a hit of g needs, if it ends with q, is still being stored, or looked for."""
    return exists(_p, covers(g, _p, q) & key_states.one_of(key_state(g, _p), "pending", "unresolved"))


_SOME_STICK = unresolved_chunk.is_("sticky") | pending_chunk.is_("sticky")


def _is_missing(g: Term, p: Term) -> Term:
    """The lookup takes the chunk for one that is not there."""
    return (
        key_is(g, p, "miss")
        | (pending_chunk.is_("missing") & key_is(g, p, "pending"))
        | (unresolved_chunk.is_("missing") & key_is(g, p, "unresolved"))
    )


def _is_sticky(g: Term, p: Term) -> Term:
    """The chunk does not count, and a group that comes across it says 'later'."""
    return (pending_chunk.is_("sticky") & key_is(g, p, "pending")) | (
        unresolved_chunk.is_("sticky") & key_is(g, p, "unresolved")
    )


def has(g: Term, q: Term) -> Term:
    """Group g counts all that a hit needs that ends with q."""
    return forall(_p, covers(g, _p, q) >> ~(_is_missing(g, _p) | _is_sticky(g, _p)))


def longest(g: Term, q: Term, end: Term) -> Term:
    """No hit of g that ends behind q, up to the end, has all that it needs."""
    return forall(_q, (ahead(q, _q) & upto(_q, end)) >> ~has(g, _q))


def says_only_later(r: Term, g: Term) -> Term:
    """Asked up to the bound of r, group g names no hit: its answer is None.

    With ``keeps_bound`` because its longest hit has something to come; with ``sticky`` because of what it came
    across on its way: of a full group before the first miss, of a windowed one behind the hit that it has found.
    """
    to_come = exists(_end, upto(_end, bound(r)) & has(g, _end) & longest(g, _end, bound(r)) & awaits(g, _end))
    on_its_way = forall(_end, (upto(_end, bound(r)) & has(g, _end)) >> ahead(_end, _met)) & (
        windowed(g) | forall(_before, ahead(_before, _met) >> ~_is_missing(g, _before))
    )
    came_across = exists(_met, upto(_met, bound(r)) & _is_sticky(g, _met) & on_its_way)
    return (deferring_group.is_("keeps_bound") & to_come) | (_SOME_STICK & came_across)


def wider(g: Term, g2: Term) -> Term:
    """The window of g is wider than that of g2: its hits need the start of the prompt up to a later end."""
    return exists(_p, _q, prompt_order.is_first(_p) & covers(g, _p, _q) & ~covers(g2, _p, _q))


def full(g: Term) -> Term:
    """g is a full-attention group: a hit needs all chunks up to its end."""
    return ~windowed(g)
