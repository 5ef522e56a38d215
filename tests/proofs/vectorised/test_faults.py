"""Faults put into the specification: ranges, domains and scope bounds, at the same length and in the same words."""

import pytest
from support.explorations import slice_system, summary

from interlock.proofs.explorer.search import explore
from interlock.proofs.vectorised.run import explore_vectorised
from interlock.spec.kv import SPECIFICATION
from interlock.spec.kv.vocabulary import chunk_state, chunk_states, in_flight, j, job_block, job_chunk
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, assign_all
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.specification import Specification

DEEP = 15


def with_action(name, change) -> Specification:
    actions = tuple(change(a) if a.name == name else a for a in SPECIFICATION.actions)
    return SPECIFICATION.model_copy(update={"actions": actions})


def subtract_twice(action: Action) -> Action:
    updates = tuple(
        u.model_copy(update={"value": u.value - 1}) if isinstance(u.value, T.Sub) else u for u in action.updates
    )
    assert updates != action.updates
    return action.model_copy(update={"updates": updates})


def without_conjunct(conjunct):
    def change(action: Action) -> Action:
        guard = tuple(c for c in action.guard if c.id != conjunct)
        assert len(guard) == len(action.guard) - 1
        return action.model_copy(update={"guard": guard})

    return change


def without_update(symbol):
    def change(action: Action) -> Action:
        updates = tuple(u for u in action.updates if u.symbol != symbol)
        assert len(updates) == len(action.updates) - 1
        return action.model_copy(update={"updates": updates})

    return change


def copies_of_no_job(action: Action) -> Action:
    """Both what is written and where have no meaning: which of the two is named is the same."""
    is_ready = chunk_state(job_chunk(j)).eq(chunk_states["ready"])
    return action.model_copy(
        update={"updates": (*action.updates, assign_all(j, to=in_flight(job_block(j)), value=is_ready))}
    )


SMALL = {"request": 1, "block": 1, "chunk": 1, "job": 1}

MUTANTS = {
    "a counter below its range": ("acknowledge", subtract_twice, "store", {**SMALL, "worker": 2}),
    "a hash that is not there": ("skip_store", without_conjunct("hashed"), "store", None),
    "a scan that asks no dedup set": ("plan_store", without_conjunct("not-in-flight"), "dedup", {"worker": 1}),
    "a flush that leaves the dedup set": ("order_flush", without_update("in_flight"), "store", None),
    "an end that leaves the dedup set": ("acknowledge", without_update("in_flight"), "store", None),
    "metadata without its flushes": ("build_connector_meta", without_conjunct("fenced-are-flushed"), "at_finish", None),
    "a plan that does not name its reports": ("plan_store", without_update("pending_count"), "dedup", {"worker": 1}),
    "a job without its block": ("plan_store", without_update("job_block"), "store", None),
    "a job that is not there, of which a block and a chunk are asked": ("allocate", copies_of_no_job, "store", None),
    "an allocation that keeps the old hash": ("allocate", without_update("hashed"), "at_finish", None),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_judged_alike(mutant):
    action, change, name, scope = MUTANTS[mutant]
    system = slice_system(name, None, scope, with_action(action, change))
    plain, found = explore(system), explore_vectorised(system)

    assert summary(found) == summary(plain)
    assert "violated" in plain.verdicts.values()
    assert {(c.property_id, c.message) for c in found.counterexamples} == {
        (c.property_id, c.message) for c in plain.counterexamples
    }


def test_a_fault_at_depth_15_or_more_is_found_at_the_same_length():
    spec = with_action("evict", without_conjunct("not-pinned"))
    system = slice_system("load", None, {"worker": 1}, spec)
    wanted = "pinned-chunk-is-never-evicted"
    (plain,) = [c for c in explore(system, stop_at=[wanted]).counterexamples if c.property_id == wanted]
    (found,) = [c for c in explore_vectorised(system, stop_at=[wanted]).counterexamples if c.property_id == wanted]

    assert plain.length >= DEEP
    assert (found.length, found.message) == (plain.length, plain.message)


def test_a_scope_that_is_too_small_is_said_to_be():
    slice_ = SPECIFICATION.slice("store").model_copy(update={"int_max": 0})
    properties = list(slice_system("store").properties)
    system = elaborate(SPECIFICATION, SPECIFICATION.switch_values(), slice_, properties=properties)
    plain, found = explore(system), explore_vectorised(system)

    assert "int_max" in found.reason
    assert summary(found) == summary(plain)


def test_a_counter_that_needs_more_room_gets_it():
    """Two workers' reports are under way at once; the packing starts with room for one."""
    found = explore_vectorised(slice_system("store", None, {"worker": 2}))

    assert found.exhaustive
    assert summary(found) == summary(explore(slice_system("store", None, {"worker": 2})))
