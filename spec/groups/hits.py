"""What a hit needs, said in the properties' own words.

Guards and effects have words of their own (predicates.py). They are not used here, so that a change
of what a lookup asks about, a load restores or a touch makes recent is not a change of what it must.
"""

from __future__ import annotations

from interlock.spec.groups.predicates import ready, running
from interlock.spec.groups.vocabulary import (
    chunk,
    coverage,
    cursor,
    group,
    hit_counted,
    passed,
    pinned,
    position,
    precedes,
    prompt_end,
    request,
    reuse_count,
    seen,
    slot_group,
    slot_position,
    slot_state,
    slot_states,
    window,
    windowed,
)
from interlock.spec.language.terms import Term, exists, forall

_c, _g, _r = chunk.var("cz"), group.var("gz"), request.var("rz")
_p, _m, _n, _k = position.var("pz"), position.var("mz"), position.var("nz"), position.var("kz")


def in_last_window(p: Term, q: Term) -> Term:
    """Counted back from q, and with q, position p is among as many as the window has."""
    one_behind = exists(_m, precedes(p, _m) & (precedes(_m, q) | _m.eq(q)))
    two_behind = exists(_m, _n, precedes(p, _m) & precedes(_m, _n) & (precedes(_n, q) | _n.eq(q)))
    fits = (window.is_("one") & ~one_behind) | (window.is_("two") & ~two_behind)
    return ~precedes(q, p) & fits


def is_part(g: Term, p: Term, q: Term) -> Term:
    """A hit that ends with q cannot do without the chunk at p of group g."""
    return ~precedes(q, p) & (~windowed(g) | in_last_window(p, q))


def _a_slot(g: Term, p: Term, *states: str) -> Term:
    """A slot for the chunk at p of g is in one of these states."""
    return exists(_c, slot_states.one_of(slot_state(_c), *states) & slot_group(_c).eq(g) & slot_position(_c).eq(p))


def is_stored(g: Term, p: Term) -> Term:
    """Lookups see the chunk at p of g."""
    return _a_slot(g, p, "ready")


def is_kept(g: Term, p: Term) -> Term:
    """The chunk at p of g is stored, or being stored."""
    return _a_slot(g, p, "pending", "ready")


def restores(g: Term, p: Term, q: Term) -> Term:
    """The load of a hit that ends with q writes the chunk at p of g: where loads are wider, the one before a window."""
    nearer = exists(_k, precedes(p, _k) & precedes(_k, q) & ~in_last_window(_k, q))
    next_to_window = windowed(g) & precedes(p, q) & ~in_last_window(p, q) & ~nearer
    return is_part(g, p, q) | (coverage.is_("load_wider") & next_to_window)


def ends_a_hit(q: Term) -> Term:
    """A hit may be as long as up to q: some are not where the last chunk of a prompt is to be computed."""
    return exists(_m, precedes(q, _m)) | prompt_end.is_("inside", "kept")


def counts_for_stores(g: Term, p: Term) -> Term:
    """No store scan leaves out the chunk at p of g because no lookup has asked for it."""
    return seen(g, p) | reuse_count.is_("off")


def is_next(p: Term, q: Term) -> Term:
    """q comes after p, and before all the others that do."""
    return precedes(p, q) & forall(_m, precedes(p, _m) >> ~precedes(_m, q))


def could_be_loaded(q: Term) -> Term:
    """Every group has ready what a hit that ends with q cannot do without."""
    return forall(_g, _p, is_part(_g, _p, q) >> is_stored(_g, _p))


def only_waits(q: Term) -> Term:
    """A hit that ends with q could be loaded but for stores that are under way."""
    return forall(_g, _p, is_part(_g, _p, q) >> is_kept(_g, _p)) & ~could_be_loaded(q)


def to_be_kept(r: Term, g: Term, p: Term, q: Term, began: Term) -> Term:
    """When r hits up to q: what that hit needs, and of windows what r started with, at ``began``, and has come to."""
    since = windowed(g) & hit_counted(r) & (in_last_window(p, began) | precedes(began, p)) & ~precedes(q, p)
    return is_part(g, p, q) | since


def could_go(c: Term) -> Term:
    """Nothing keeps slot c: lookups see it, no hit has it pinned, and no store scan is at its position."""
    at_work = exists(_r, running(_r) & cursor(_r).eq(slot_position(c)) & exists(_g, ~passed(_r, _g)))
    return ready(c) & ~exists(_r, pinned(_r, c)) & ~at_work
