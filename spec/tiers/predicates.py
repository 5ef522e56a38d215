"""Derived predicates: the words in which guards and properties are said."""

from __future__ import annotations

from interlock.spec.language.terms import Term, exists, ite
from interlock.spec.shared.sorts import chunk, request
from interlock.spec.tiers.vocabulary import (
    cancelled_prefetch,
    client_state,
    client_states,
    completion_names,
    cpu_slot_state,
    cpu_slot_states,
    entry_state,
    entry_states,
    evict_when,
    failed_read,
    operation,
    operation_for,
    operation_kind,
    operation_kinds,
    operation_slot,
    operation_state,
    operation_states,
    record_state,
    record_states,
    slot_key,
    slot_pins,
)

_c, _o, _r = chunk.var("cx"), operation.var("ox"), request.var("rx")


def live(o: Term) -> Term:
    """Operation o is planned or in flight."""
    return operation_states.one_of(operation_state(o), "planned", "in_flight")


def in_flight(o: Term) -> Term:
    """Operation o is in flight."""
    return operation_state(o).eq(operation_states["in_flight"])


def is_kind(o: Term, *kinds: str) -> Term:
    """Operation o, which is there, is of one of these kinds."""
    return operation_kinds.one_of(operation_kind(o), *kinds)


def fills(o: Term) -> Term:
    """Operation o is live and writes a slot."""
    return live(o) & is_kind(o, "promotion", "fill")


def reads(o: Term) -> Term:
    """Operation o is live and reads a slot: it has a pin."""
    return live(o) & is_kind(o, "cascade", "retrieval")


def is_ready(c: Term) -> Term:
    """Slot c is a hit for lookup."""
    return cpu_slot_state(c).eq(cpu_slot_states["ready"])


def in_sight(c: Term, h: Term) -> Term:
    """Slot c holds key h, or is to hold it: lookup sees it."""
    return cpu_slot_states.one_of(cpu_slot_state(c), "pending", "ready") & slot_key(c).eq(h)


def is_cached(h: Term) -> Term:
    """Some slot holds key h or is to hold it."""
    return exists(_c, in_sight(_c, h))


def is_granted_on(r: Term, h: Term, c: Term) -> Term:
    """Request r has a hit on key h in slot c, and so a pin."""
    return (
        record_state(r, h).eq(record_states["granted"])
        & cpu_slot_state(c).eq(cpu_slot_states["ready"])
        & slot_key(c).eq(h)
    )


def waits_for(r: Term, h: Term) -> Term:
    """Request r is to ask again for key h."""
    return record_state(r, h).eq(record_states["recorded"])


def is_waiting(r: Term) -> Term:
    """Request r is waiting to be scheduled."""
    return client_state(r).eq(client_states["waiting"])


def is_offered(r: Term, h: Term) -> Term:
    """What request r is told of key h in the second tier; a kept verdict says yes without looking."""
    ready = entry_state(h).eq(entry_states["ready"])
    return ite(failed_read.is_("verdict_kept"), ready | waits_for(r, h), ready)


def may_collect(o: Term) -> Term:
    """The slot of fill or promotion o is taken at its end, although its request may be gone."""
    alive = exists(_r, operation_for(o, _r) & client_states.one_of(client_state(_r), "waiting", "running"))
    return ite(cancelled_prefetch.is_("collected"), True, alive)


def names(o: Term, o2: Term) -> Term:
    """The report on promotion o is taken for one on o2."""
    same_request = exists(_r, operation_for(o, _r) & operation_for(o2, _r))
    return ite(
        completion_names.is_("round"),
        o2.eq(o),
        ite(is_kind(o, "promotion"), is_kind(o2, "promotion") & same_request, o2.eq(o)),
    )


def is_last_user(o: Term) -> Term:
    """Nothing but operation o uses its slot."""
    return slot_pins(operation_slot(o)).eq(1)


def has_backup(c: Term) -> Term:
    """What ``evict_when`` takes for a backup of ready slot c."""
    entry = entry_state(slot_key(c))
    ready = entry.eq(entry_states["ready"])
    return ite(evict_when.is_("backed_up"), ready, ready | entry.eq(entry_states["pending"]))


def is_unread(c: Term) -> Term:
    """No pin on slot c; if evict_when says so, those of cascades do not count."""
    cascades = exists(_o, reads(_o) & is_kind(_o, "cascade") & operation_slot(_o).eq(c))
    alone = slot_pins(c).eq(0)
    return ite(evict_when.is_("backup_started"), alone | (slot_pins(c).eq(1) & cascades), alone)
