"""The words of properties: said anew, and not in those of the guards, so that a case that one side forgets is noticed.

Guards list the states in which something is so; here they are those that are left.
"""

from __future__ import annotations

from interlock.spec.admission.predicates import is_
from interlock.spec.admission.vocabulary import (
    FIRST,
    crossed,
    in_newer,
    in_older,
    owns,
    parked_newer,
    parked_older,
    prefix_entry_state,
    prefix_entry_states,
    stall_latch,
)
from interlock.spec.language.terms import Term, exists, ite
from interlock.spec.shared.sorts import request

_q = request.var("rw")


def goes_on(r: Term) -> Term:
    """r is known to the scheduler, and has not ended."""
    return ~is_(r, "absent", "held_for_load", "held_for_store", "finished")


def stands_in_a_queue(r: Term) -> Term:
    """r goes on, and does not run: it waits for its blocks, for its load, or for its turn after that."""
    return goes_on(r) & ~is_(r, "running")


def blockless(r: Term) -> Term:
    """r goes on, and neither runs nor loads: no block was given to it since it came, or since it lost its blocks."""
    return goes_on(r) & ~is_(r, "running", "loading", "loaded")


def told_later(r: Term) -> Term:
    """r has no blocks yet, and its prefix is being stored."""
    return blockless(r) & ~prefix_entry_states.one_of(prefix_entry_state(r), "absent", "ready", "expired")


def holds_for_load(r: Term) -> Term:
    """r goes on, was given blocks to load into, and has not run since."""
    return goes_on(r) & ~is_(r, "waiting", "preempted", "running")


def takes_in_all(r: Term) -> Term:
    """Blocks of r where it runs: those of its first step, and one more that it may have grown into."""
    return ite(crossed(r), 1, 0) + FIRST


def lacks(r: Term) -> Term:
    """Blocks that r is still to be given before it runs."""
    return takes_in_all(r) - owns(r)


def is_short(r: Term) -> Term:
    """r runs, and has not all the blocks of its next step."""
    return is_(r, "running") & (lacks(r) > 0)


def may_be_written(r: Term) -> Term:
    """Tokens of r are in a step of which the output has not been processed."""
    return ~(~in_newer(r) & ~in_older(r))


def parked() -> Term:
    """Blocks that nobody owns and nobody may have yet."""
    return parked_older() + parked_newer()


def is_kept_stepping() -> Term:
    """A request goes on or is held, or what lookup sees of a store has not ended."""
    pending = ~prefix_entry_states.one_of(prefix_entry_state(_q), "absent", "ready", "expired")
    forgotten = prefix_entry_state(_q).eq(prefix_entry_states["expired"]) & ~stall_latch.is_("until_probe")
    return exists(_q, ~is_(_q, "absent", "finished") | pending | forgotten)
