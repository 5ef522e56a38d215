"""What module ``groups`` decides is what runs: a switch that is flipped in the specification changes the machine."""

import random

import pytest
from support.grouped_engine import GroupedEngine

from interlock.spec.groups import SPECIFICATION as GROUPS
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.errors import UnsupportedGroups
from interlock.statemachine.lookup import FullAttention, Mamba, SlidingWindow
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.rules import GroupRules, Place

H = 4
STATE = (FullAttention(H), Mamba(H))
TWO_FULL = (FullAttention(H), FullAttention(H), SlidingWindow(H, H))


def with_rules(**changes):
    return {"group_switches": GROUPS.switch_values(changes=changes)}


def a_stored_prompt(driver, hashes=("h1", "h2", "h3"), chunks=8, groups=STATE, **changes):
    """A prompt is in ready chunks, and nobody is left; its chunks, position by position."""
    d = driver(chunks=chunks, groups=groups, options=with_rules(**changes))
    n = len(hashes) + 1
    d.add("S", hashes)
    d.admit("S", [list(range(50 + g * n, 50 + g * n + n)) for g in range(len(groups))])
    jobs = d.build().store_jobs
    d.finish("S")
    d.update(completed=[j.job for j in jobs])
    d.step()
    return d, [j.chunk for j in jobs]


def test_with_one_group_of_full_attention_nothing_is_asked_of_the_module(driver):
    assert driver(options=with_rules(groups="single")).machine._rules is None


@pytest.mark.parametrize(
    ("touch_order", "order"),
    [
        ("windowed", "w1 w2 w3 f3 f2 f1"),
        ("full", "w3 w2 w1 f3 f2 f1"),
        ("reversed", "w1 w2 w3 f1 f2 f3"),
    ],
)
def test_stores_leave_the_order_in_which_a_prompt_is_evicted(driver, touch_order, order):
    d, chunks = a_stored_prompt(driver, touch_order=touch_order)
    named = dict(zip(chunks, ["f1", "w1", "f2", "w2", "f3", "w3"], strict=True))

    assert " ".join(named[c] for c in d.machine.chunks.ready) == order


def test_what_a_prompt_has_of_others_is_as_recent_as_what_is_stored_of_it(driver):
    d, chunks = a_stored_prompt(driver, hashes=("h1",), chunks=12)
    for name, prompt in (("X", ["x1"]), ("A", ["h1", "h2"])):
        d.add(name, prompt)
        d.admit(name, [[1, 2, 3][: len(prompt) + 1], [4, 5, 6][: len(prompt) + 1]])
        d.update(completed=[j.job for j in d.build().store_jobs])
        d.finish(name)

    order = d.machine.chunks.ready
    assert set(order[:2]).isdisjoint(chunks)  # those of X
    assert order[-1] == chunks[0]


@pytest.mark.parametrize(("group_fences", "flushed"), [("proper", True), ("swapped", False)])
def test_a_store_whose_source_has_slid_out_is_flushed_as_the_fences_say(driver, group_fences, flushed):
    d = driver(chunks=8, groups=(FullAttention(H), SlidingWindow(H, H)), options=with_rules(group_fences=group_fences))
    d.add("A", ["h1", "h2", "h3"], tokens=8)
    d.admit("A", [[1, 2], [3, 4]])
    stores = d.build().store_jobs
    d.update()
    d.add("B", ["g1"])
    d.go_on("A", 8, 1, blocks=[[5], [6]])
    d.admit("B", [[3, 7], [8, 9]])  # 3 was the first of A's window

    assert d.build().jobs_to_flush == (tuple(j.job for j in stores if j.block == 3) if flushed else ())


@pytest.mark.parametrize(("group_fences", "flushed"), [("proper", True), ("swapped", False)])
def test_the_first_job_of_a_request_is_its_own(driver, group_fences, flushed):
    """Its source slides out like any other's; whoever has ended had jobs before it."""
    d = driver(chunks=8, groups=(SlidingWindow(H, H), FullAttention(H)), options=with_rules(group_fences=group_fences))
    d.add("A", ["h1", "h2", "h3"], tokens=8)
    d.admit("A", [[3, 4], [1, 2]])
    first = d.build().store_jobs[0]
    d.update()
    d.add("B", ["g1"])
    d.go_on("A", 8, 1, blocks=[[6], [5]])
    d.admit("B", [[8, 9], [3, 7]])

    assert (first.job, first.block) == (0, 3)
    assert d.build().jobs_to_flush == ((0,) if flushed else ())


def test_the_stores_of_a_preempted_request_are_flushed_whatever_the_fences(driver):
    d = driver(chunks=8, groups=STATE, options=with_rules(group_fences="swapped"))
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    stores = d.build().store_jobs
    d.update()

    assert set(d.build(preempted=["A"]).jobs_to_flush) == {j.job for j in stores}


@pytest.mark.parametrize(("hit_count", "states"), [("first", "s3 s2 s1"), ("last", "s3 s2 s1"), ("unused", "s1 s2 s3")])
def test_a_request_that_comes_back_keeps_states_as_its_hit_count_says(driver, hit_count, states):
    """The second time: what was hit first, and what has come since; the third time the counts differ."""
    d, (_, first) = a_stored_prompt(driver, hashes=("h1",), hit_count=hit_count)
    d.add("B", ["h1", "h2", "h3"])
    d.load("B", [[1], [2]], external_blocks=1)
    d.update(completed=[j.job for j in d.build().load_jobs], received=["B"])
    d.machine.update_state_after_alloc(d.requests["B"], [[1, 3, 4, 5], [2, 6, 7, 8]], 0)
    d.go_on("B", 4, 9)
    jobs = d.build().store_jobs
    second, third = (j.chunk for j in jobs if j.block in (6, 7))
    d.update(completed=[j.job for j in jobs])
    d.build(preempted=["B"])
    d.update()
    d.load("B", [[1, 2, 3], [0, 0, 5]], external_blocks=3)
    d.build()

    named = {first: "s1", second: "s2", third: "s3"}
    assert " ".join(named[c] for c in d.machine.chunks.ready if c in named) == states
    assert d.machine._tracked["B"].first_hit == (12 if hit_count == "last" else 4)


def test_a_lookup_of_one_group_stops_at_a_second_and_asks_a_window_about_everything(driver):
    two = driver(chunks=8, groups=STATE, options=with_rules(groups="single"))
    two.add("A", ["h1"])
    with pytest.raises(UnsupportedGroups, match="knows one KV cache group, and the model has 2; set groups=windowed"):
        two.match("A")

    for groups, answer in (("windowed", (8, True)), ("single", (0, False))):
        one = driver(chunks=8, groups=(SlidingWindow(H, H),), options=with_rules(groups=groups))
        one.add("A", ["h1", "h2"])
        one.admit("A", [0, 2, 3])  # the first block has slid out before it was stored
        one.update(completed=[j.job for j in one.build().store_jobs])
        one.add("B", ["h1", "h2"])
        assert one.match("B") == answer


def test_rules_are_about_where_a_chunk_lies():
    rules = GroupRules.of()

    assert [rules.touched(windowed=False, place=place) for place in Place] == [True, True, True]
    assert [rules.touched(windowed=True, place=place) for place in Place] == [False, True, True]
    assert [rules.touched_at_store(windowed=True, place=place) for place in Place] == [False, False, True]


@pytest.mark.parametrize(
    "groups", [STATE, (FullAttention(H), SlidingWindow(H, 2 * H)), (SlidingWindow(H, H),), TWO_FULL]
)
def test_joining_what_the_last_store_has_touched_is_touching_it_all_again(groups):
    def play(seed, joins):
        machine = KVOffloadScheduler(
            block_size=H, groups=groups, num_chunks=9, num_workers=1, switches=SPECIFICATION.switch_values()
        )
        if not joins:
            machine._recency._adds = False
        e, rng, orders = GroupedEngine(list(groups), H, 40, machine), random.Random(seed), []
        for name in "ABCDEFGHIJ":
            e.add(name, rng.choice(["pqrs", "pqxy", "pqrstu", "p"]), rng.choice([0, 1, 3]), rng.randint(0, 6))
            for _ in range(rng.randint(1, 4)):
                running = [n for n, r in e.requests.items() if r.state == "running"]
                e.step(rng.choice([3, 8, 40]), [rng.choice(running)] if running and rng.random() < 0.1 else ())
                jobs = sorted(e.copies)
                for job in jobs:
                    e.copy(job)
                e.update([j for j in jobs if rng.random() < 0.6])
                orders.append(tuple(machine.chunks.policy.order()))
        return orders

    seen = set()
    for seed in range(8):
        orders = play(seed, joins=True)
        assert orders == play(seed, joins=False)
        seen |= set(orders)
    assert len(seen) > 30
