"""What counts as exercised, on hand-made events."""

import pytest

from interlock.adapters.gate.exercised import Seen, did, evicted, failed, happened, pooled, saw
from interlock.adapters.gate.result import ModuleResult
from interlock.statemachine.trace import event


def seen(*lines, acted=(), pool="ample"):
    """``"plan_store block=1 chunk=1 job=s1/0"`` and so on."""
    events = []
    for line in lines:
        name, *fields = line.split()
        events.append(event(len(events), name, **dict(field.split("=") for field in fields)))
    return Seen(pool, acted, events)


STORE, DONE, UNDONE = "plan_store block=1 chunk=1 job=s1/0", "acknowledge job=s1/0", "acknowledge_failure job=s1/0"
AGAIN = "plan_store block=2 chunk=1 job=s2/0"


@pytest.mark.parametrize(
    ("lines", "is_eviction"),
    [
        ((STORE, DONE, AGAIN), True),
        ((STORE, DONE, "plan_store block=2 chunk=2 job=s2/0"), False),
        ((STORE, UNDONE, AGAIN), False),
        ((STORE, DONE, UNDONE, AGAIN), False),  # it failed on another worker
        ((STORE, DONE, "reset_cache", AGAIN), False),
        ((STORE, "reset_cache", DONE, AGAIN), False),
        ((STORE, AGAIN), False),
        (("plan_store b=block1 c=chunk1 j=job1", "acknowledge j=job1", "plan_store b=block2 c=chunk1 j=job2"), True),
    ],
)
def test_a_chunk_is_evicted_where_something_else_was_ready(lines, is_eviction):
    assert evicted(seen(*lines)) is is_eviction


def test_a_failure_is_of_a_load_or_of_a_store():
    loads, stores = failed("plan_load"), failed("plan_store")

    assert (loads(seen(STORE, UNDONE)), stores(seen(STORE, UNDONE))) == (False, True)
    load = seen(STORE, "plan_load block=2 chunk=1 job=l1/0", DONE, "acknowledge_failure job=l1/0")
    assert (loads(load), stores(load)) == (True, False)


def test_kinds_are_told_from_operations_events_and_pools():
    kinds = {"aborts": did("abort"), "resets": saw("reset_cache"), "a step ahead": pooled("depth 2")}

    assert happened(kinds, seen(STORE)) == ()
    assert happened(kinds, seen("reset_cache", acted=[{"op": "abort"}], pool="ample, fail, depth 2")) == tuple(kinds)


def test_a_run_in_which_nothing_of_a_promised_kind_happened_is_inconclusive():
    result = ModuleResult("kv", "ours", scenarios=3, rules={"some-rule": 3}, exercised={"aborts": 1, "resets": 0})

    result.conclude("", "", ["aborts", "resets", "preemptions"])
    assert (result.verdict, result.reason) == ("inconclusive", "3 scenarios, and none with resets, preemptions")


def test_what_is_promised_says_nothing_against_a_finding_or_for_a_run_that_was_cut_short():
    cut = ModuleResult("kv", "ours", scenarios=3, rules={"some-rule": 3}, exercised={"aborts": 0})
    cut.conclude("stopped after 1 s with 3 scenarios", "", ["aborts"])
    enough = ModuleResult("kv", "ours", scenarios=3, rules={"some-rule": 3}, exercised={"aborts": 2})
    enough.conclude("", "", ["aborts"])

    assert (cut.verdict, cut.reason) == ("inconclusive", "stopped after 1 s with 3 scenarios")
    assert (enough.verdict, enough.reason) == ("clean", "3 scenarios broke none of 1 property")
