"""Derived predicates: what a hit needs, what a lookup finds, who is protected."""

from __future__ import annotations

from interlock.spec.groups.vocabulary import (
    block,
    chunk,
    coverage,
    cursor,
    first_hit,
    group,
    group_fences,
    groups_known,
    hit_count,
    hit_counted,
    hit_pin,
    occupied,
    passed,
    pinned,
    position,
    precedes,
    prompt_end,
    prompt_state,
    prompt_states,
    recency,
    recorded,
    request,
    reuse_count,
    seen,
    sequence,
    slot_group,
    slot_position,
    slot_state,
    slot_states,
    table,
    touch_order,
    window,
    windowed,
)
from interlock.spec.language.terms import FALSE, Term, exists, forall, ite

_r, _g, _c, _b = request.var("rx"), group.var("gx"), chunk.var("cx"), block.var("bx")
_p = position.var("px")
_m, _n = position.var("mx"), position.var("nx")


def upto(p: Term, q: Term) -> Term:
    """Position p is q, or comes before it."""
    return p.eq(q) | precedes(p, q)


def follows(p: Term, q: Term) -> Term:
    """q is the position right after p."""
    return precedes(p, q) & ~exists(_m, precedes(p, _m) & precedes(_m, q))


def in_window(p: Term, q: Term) -> Term:
    """p is in the last window of a hit that ends with q."""
    return p.eq(q) | (window.is_("two") & follows(p, q))


def just_before_window(p: Term, q: Term) -> Term:
    """p is the position right before the last window of a hit that ends with q."""
    return ite(window.is_("one"), follows(p, q), exists(_n, follows(p, _n) & follows(_n, q)))


def needs(g: Term, p: Term, q: Term) -> Term:
    """A hit that ends with q needs the chunk at p of group g."""
    return ite(windowed(g), in_window(p, q), upto(p, q))


def asks_about(g: Term, p: Term, q: Term) -> Term:
    """Before it answers with a hit that ends with q, the lookup asks about the chunk at p of group g."""
    return ite(groups_known.is_("single"), upto(p, q), needs(g, p, q))


def load_covers(g: Term, p: Term, q: Term) -> Term:
    """The load of a hit that ends with q restores the chunk at p of group g."""
    wider = coverage.is_("load_wider") & windowed(g) & just_before_window(p, q)
    return needs(g, p, q) | wider


def store_covers(g: Term, p: Term) -> Term:
    """Stores keep the chunk: all of them, or of windowed groups the last window less one chunk."""
    kept = ite(window.is_("two"), sequence.is_last(p), FALSE)
    return ~coverage.is_("store_narrower") | ~windowed(g) | kept


def has_key(c: Term, g: Term, p: Term) -> Term:
    """Slot c is in use for the chunk at p of group g."""
    return occupied(c) & slot_group(c).eq(g) & slot_position(c).eq(p)


def ready(c: Term) -> Term:
    """Lookups see slot c."""
    return slot_state(c).eq(slot_states["ready"])


def stored(g: Term, p: Term) -> Term:
    """A ready slot holds the chunk."""
    return exists(_c, ready(_c) & slot_group(_c).eq(g) & slot_position(_c).eq(p))


def present(g: Term, p: Term) -> Term:
    """A slot holds the chunk, or a store of it is under way."""
    return exists(_c, has_key(_c, g, p))


def found(q: Term) -> Term:
    """All chunks that the lookup asks about for q are ready."""
    if_asked = forall(_g, _p, asks_about(_g, _p, q) >> stored(_g, _p))
    return ite(coverage.is_("lookup_empty"), FALSE, if_asked)


def under_way(q: Term) -> Term:
    """All chunks that the lookup asks about for q are ready or on their way, and some are on their way."""
    if_asked = forall(_g, _p, asks_about(_g, _p, q) >> present(_g, _p)) & ~found(q)
    return ite(coverage.is_("lookup_empty"), FALSE, if_asked)


def may_end(q: Term) -> Term:
    """A hit may end with q, where the prompt's end allows it."""
    return ~prompt_end.is_("dropped") | ~sequence.is_last(q)


def with_hit(r: Term) -> Term:
    """Request r has a hit that is to be loaded or is being loaded."""
    return prompt_states.one_of(prompt_state(r), "matched", "loading", "held")


def reading(r: Term) -> Term:
    """A load for request r is open."""
    return prompt_states.one_of(prompt_state(r), "loading", "held")


def running(r: Term) -> Term:
    """Request r is scheduled: it computes, and its chunks are stored."""
    return prompt_state(r).eq(prompt_states["running"])


def takes(c: Term, q: Term) -> Term:
    """The load of a hit that ends with q reads slot c."""
    return ready(c) & load_covers(slot_group(c), slot_position(c), q)


def is_pinned(c: Term) -> Term:
    """Some request's hit keeps slot c."""
    return exists(_r, pinned(_r, c))


def offered(p: Term) -> Term:
    """The store scan of a running request is at position p, and not done with it."""
    return exists(_r, running(_r) & cursor(_r).eq(p) & ~forall(_g, passed(_r, _g)))


def evictable(c: Term) -> Term:
    """Slot c may be evicted now: ready, not pinned, and not offered to the store that wants its room."""
    return ready(c) & ~is_pinned(c) & ~offered(slot_position(c))


def visit_open() -> Term:
    """A lookup has answered and its request is not yet allocated, where that is one visit."""
    return hit_pin.is_("visit") & exists(_r, prompt_state(_r).eq(prompt_states["matched"]))


def in_demand(g: Term, p: Term) -> Term:
    """The chunk may be stored: it has been seen by a lookup, if that counts."""
    return reuse_count.is_("off") | seen(g, p)


def counts(g: Term, p: Term) -> Term:
    """A lookup counts the chunk as seen: all of the prompt, or what is not behind the first miss."""
    before_miss = forall(_p, precedes(_p, p) >> stored(g, _p))
    return reuse_count.is_("all") | (reuse_count.is_("before_miss") & before_miss)


def touches(g: Term, p: Term, q: Term) -> Term:
    """A hit that ends with q makes the chunk recent."""
    return ite(touch_order.is_("full"), upto(p, q), needs(g, p, q))


def from_window(p: Term, h: Term) -> Term:
    """p is in the last window of a hit that ends with h, or behind it."""
    return in_window(p, h) | precedes(h, p)


def keeps(r: Term, g: Term, p: Term, q: Term, first: Term) -> Term:
    """What the request started with, at ``first``, and has come to since, a lookup that hits up to q is to keep."""
    again = windowed(g) & hit_counted(r) & from_window(p, first) & upto(p, q)
    return needs(g, p, q) | again


def lookup_touches(r: Term, g: Term, p: Term, q: Term) -> Term:
    """A lookup of r that answers with a hit that ends with q makes the chunk recent."""
    again = ~hit_count.is_("unused") & keeps(r, g, p, q, first_hit(r))
    return touches(g, p, q) | again


def counts_anew(r: Term) -> Term:
    """num_hit_blocks of request r is set to the hit with which it starts now."""
    return hit_count.is_("last") | ~hit_counted(r)


def fenced_when_planned(g: Term) -> Term:
    """The source of a store of group g is fenced when the store is planned, and not only when its request ends."""
    return ite(group_fences.is_("proper"), windowed(g), ~windowed(g))


def older_key(g: Term, p: Term, g2: Term, p2: Term, tie: Term) -> Term:
    """In a touch, the chunk at p of g comes before (is evicted before) the one at p2 of g2.

    Windowed before full, then the later position first, so that the head is evicted last; ``tie``
    decides between chunks of one position in two groups of one kind.
    """
    later = ite(touch_order.is_("reversed"), precedes(p, p2), precedes(p2, p))
    same_kind = windowed(g).eq(windowed(g2))
    return ite(same_kind, later | (p.eq(p2) & tie), windowed(g))


def is_free(b: Term) -> Term:
    """No table has block b."""
    return ~exists(_r, _g, _p, table(_r, _g, _p, b))


def no_record(r: Term, g: Term, p: Term) -> Term:
    """The connector knows no block of r for the chunk: never had one, or has forgotten it."""
    return ~exists(_b, recorded(r, g, p, _b))


def has_left(r: Term, g: Term, p: Term) -> Term:
    """r's table has no block for the chunk: it never had one, or its window has left it."""
    return ~exists(_b, table(r, g, p, _b))


def evicted_first(c: Term) -> Term:
    """Of the slots that may be evicted, c is the least recently used."""
    return forall(_c, recency.before(_c, c) >> ~evictable(_c))
