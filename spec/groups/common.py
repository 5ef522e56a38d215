"""What the actions of both halves share: conjuncts, and the updates of a store and of an eviction."""

from __future__ import annotations

from interlock.spec.groups.hits import is_part
from interlock.spec.groups.predicates import (
    counts,
    has_key,
    in_demand,
    offered,
    older_key,
    present,
    store_covers,
    stored,
    touches,
    visit_open,
)
from interlock.spec.groups.vocabulary import (
    b,
    c,
    c2,
    chunk_key,
    cursor,
    fenced,
    g,
    g2,
    in_step,
    listed_now,
    occupied,
    owed,
    p,
    p2,
    passed,
    r,
    recency,
    seen,
    slot_group,
    slot_position,
    source,
    sourced,
    stored_for,
    to_flush,
    used_slots,
    wanted,
)
from interlock.spec.language.actions import Update, assign, assign_all, need
from interlock.spec.language.terms import Term, exists, ite
from interlock.spec.language.variables import Site

SCHEDULER, WORKER = Site.SCHEDULER, Site.WORKER


BETWEEN_STEPS = need("between-steps", ~in_step())
BEFORE_SCAN = need("before-scan", ~exists(c2, listed_now(c2)))
VISIT_IS_ATOMIC = need("visit-is-atomic", ~visit_open())
AT_CURSOR = need("at-cursor", cursor(r).eq(p))
NOT_PASSED = need("not-passed", ~passed(r, g), policy=True)
STORE_GUARD = (
    AT_CURSOR,
    NOT_PASSED,
    need("covered", store_covers(g, p), policy=True),
    need("in-demand", in_demand(g, p), policy=True),
    need("key-is-new", ~ite(chunk_key.is_("hash"), present(g, p), stored(g, p)), policy=True),
)
SEE = assign_all(g2, p2, to=seen(g2, p2), value=True, when=counts(g2, p2))
"""A lookup counts the chunks that it has seen."""
EVICT_GUARD = (
    need("not-offered", ~offered(slot_position(c))),
    VISIT_IS_ATOMIC,
)


def _group(x: Term) -> Term:
    """The group of slot x, of which the one at hand is just getting its key."""
    return ite(x.eq(c), g, slot_group(x))


def _position(x: Term) -> Term:
    return ite(x.eq(c), p, slot_position(x))


def store_updates() -> tuple[Update, ...]:
    """Slot c is reserved for the chunk at p of g; it and what a hit up to it needs become recent."""
    return (
        assign(slot_group(c), g),
        assign(slot_position(c), p),
        assign(used_slots(), used_slots() + 1),
        assign(passed(r, g), True),
        *recency.touch(
            lambda x: touches(slot_group(x), slot_position(x), p),
            # Of two chunks of one rank the new one is the more recent.
            lambda x, y: older_key(
                _group(x), _position(x), _group(y), _position(y), y.eq(c) | (x.ne(c) & recency.before(x, y))
            ),
            joining=c,
        ),
        assign(owed(g, p), True),
        assign_all(c2, to=wanted(c2), value=c2.eq(c) | needed_slot(c2, p)),
    )


def needed_slot(x: Term, q: Term) -> Term:
    """Slot x is in use for a chunk that a hit that ends with q needs."""
    return occupied(x) & is_part(slot_group(x), slot_position(x), q)


def fail_updates(when: Term) -> tuple[Update, ...]:
    """If so, slot c, whose store is open, is empty again, and what is fenced for it is free of it."""
    updates = (
        assign(used_slots(), used_slots() - 1),
        *recency.remove(c),
        assign_all(g, p, to=owed(g, p), value=owed(g, p) & exists(c2, c2.ne(c) & has_key(c2, g, p))),
        *closed_updates(),
    )
    return tuple(u.model_copy(update={"when": u.when & when}) for u in updates)


def closed_updates() -> tuple[Update, ...]:
    """The store of c is over: its fence falls."""
    return (
        assign(sourced(c), False),
        assign_all(b, to=source(c, b), value=False),
        assign_all(r, to=stored_for(c, r), value=False),
        assign(fenced(c), False),
        assign(to_flush(c), False),
    )


def evict_updates() -> tuple[Update, ...]:
    """Slot c is empty again."""
    g_, p_ = slot_group(c), slot_position(c)
    return (
        assign(used_slots(), used_slots() - 1),
        *recency.remove(c),
        assign(owed(g_, p_), owed(g_, p_) & exists(c2, c2.ne(c) & has_key(c2, g_, p_))),
    )
