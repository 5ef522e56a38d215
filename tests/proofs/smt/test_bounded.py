"""Bounded checking finds shortest runs, and the explorer agrees that they are."""

from pathlib import Path

import pytest
from support.mutants import subtract_twice, with_action, without_conjunct

from interlock.proofs.explorer.search import explore
from interlock.proofs.smt.bounded import BoundedSearch, invariant_target, renamed
from interlock.proofs.smt.induction import Induction, invariants_of
from interlock.proofs.smt.owed import Claim
from interlock.proofs.smt.runs import find_run, replay
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import range_id
from interlock.spec.language.system import System
from interlock.statemachine.trace import read_trace

DOUBLE_STORE = "no-block-stored-twice-in-flight"
TARGET = invariant_target(Claim(DOUBLE_STORE, SPECIFICATION.property(DOUBLE_STORE).formula))
ONE_WORKER = {"request": 2, "block": 1, "chunk": 2, "job": 2, "worker": 1, "hash": 1}


def dedup_slice(value: str) -> System:
    switches = SPECIFICATION.switch_values("interlock", {"store_dedup": value})
    return elaborate(SPECIFICATION, switches, SPECIFICATION.slice("dedup"), ONE_WORKER)


def test_the_double_store_is_as_short_as_the_explorer_says() -> None:
    system = dedup_slice("per_step")
    moves = BoundedSearch(system).find([TARGET], depth_max=12, seconds_max=60)
    found = explore(system, stop_at=[DOUBLE_STORE])
    (expected,) = (c.length for c in found.counterexamples if c.property_id == DOUBLE_STORE)

    assert moves is not None
    assert len(moves) == expected == 10
    assert moves[-1] == ("plan_store", (1, 0, 1, 1))


def test_nothing_within_the_bounds() -> None:
    assert BoundedSearch(dedup_slice("in_flight")).find([TARGET], depth_max=10, seconds_max=60) is None
    assert BoundedSearch(dedup_slice("per_step")).find([TARGET], depth_max=9, seconds_max=60) is None
    assert BoundedSearch(dedup_slice("per_step")).find([TARGET], depth_max=20, seconds_max=0) is None


def test_a_run_that_leaves_a_range() -> None:
    spec = with_action("acknowledge", subtract_twice)
    system = elaborate(spec, spec.switch_values())
    owed = Induction(system, invariants_of(system, DOUBLE_STORE)).named("acknowledge / range:pending_count")
    needed = dict.fromkeys(ONE_WORKER, 1)
    run = find_run(system, [owed], actions=frozenset({"acknowledge"}), needed=needed, slices=("store",))

    assert run is not None
    assert run.property_id == range_id("pending_count")
    assert "below 0" in run.message
    assert run.actions[-1] == "acknowledge(job0)"


def test_a_run_in_the_whole_system_is_a_trace_without_a_slice(tmp_path: Path) -> None:
    spec = with_action("plan_store", without_conjunct("hashed"))
    system = elaborate(spec, spec.switch_values())
    owed = Induction(system, invariants_of(system, DOUBLE_STORE)).named("plan_store / domain:chunk_hash")
    run = find_run(system, [owed], actions=frozenset({"plan_store"}), needed={}, slices=())
    assert run is not None
    run.write(tmp_path / "trace.jsonl", "interlock")
    trace = read_trace(tmp_path / "trace.jsonl")

    assert trace.header.slice is None
    assert trace.header.scope == dict.fromkeys(ONE_WORKER, 1)
    assert [e.action for e in trace.events] == ["add_request", "allocate", "plan_store"]


def test_a_run_is_made_again_by_the_explorer() -> None:
    with pytest.raises(RuntimeError, match="cannot take"):
        replay(dedup_slice("per_step"), [TARGET], [("update_from_output", ())], 0)
    with pytest.raises(RuntimeError, match="breaks nothing"):
        replay(dedup_slice("per_step"), [TARGET], [("add_request", (0,))], 0)


def test_elements_are_numbered_as_they_appear() -> None:
    moves = [("hit", (1, 0)), ("hit", (0, 0)), ("evict", (1,))]

    assert renamed(dedup_slice("per_step"), moves[:2]) == [("hit", (0, 0)), ("hit", (1, 0))]
