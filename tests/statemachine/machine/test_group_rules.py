"""What module ``groups`` decides is what runs: a switch that is flipped in the specification changes the machine."""

import random
from types import SimpleNamespace

import pytest
from support.grouped_engine import GroupedEngine

from interlock.spec.groups import SPECIFICATION as GROUPS
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.errors import UnsupportedGroups
from interlock.statemachine.lookup import FullAttention, Mamba, SlidingWindow
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.groups import BlockGroups
from interlock.statemachine.offload.recency import Recency
from interlock.statemachine.offload.rules import GroupRules, Place
from interlock.statemachine.offload.stretches import Stretch, Stretches
from interlock.statemachine.pool.lru import LeastRecentlyUsed

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


def test_a_hit_of_another_prompt_under_the_same_id_is_recent(driver):
    d, of_h = a_stored_prompt(driver, chunks=12)
    d.add("Y", ["g1", "g2", "g3"])
    d.admit("Y", [[1, 2, 3, 4], [5, 6, 7, 8]])
    jobs = d.build().store_jobs
    d.update(completed=[j.job for j in jobs])
    d.finish("Y")
    d.step()
    d.add("A", ["h1", "h2", "h3"])
    assert d.match("A") == (12, True)
    assert d.machine.chunks.ready[-1] == of_h[0]
    d.finish("A")
    d.step()
    d.add("A", ["g1", "g2", "g3"])
    assert d.match("A") == (12, True)

    assert d.machine.chunks.ready[-1] == next(j.chunk for j in jobs if j.block == 1)


def test_a_hit_behind_what_the_gpu_has_makes_all_of_the_prefix_recent(driver):
    """Also the end of it, which is as far behind the hit as the GPU's part is long."""
    d, chunks = a_stored_prompt(driver, chunks=12)
    full = chunks[::2]
    d.add("Y", ["g1"])
    d.admit("Y", [[1, 2], [5, 6]])
    d.update(completed=[j.job for j in d.build().store_jobs])
    d.add("B", ["h1", "h2", "h3"])

    assert d.match("B", local_blocks=1) == (8, True)

    assert list(d.machine.chunks.ready[-3:]) == full[::-1]


def test_a_hit_of_who_comes_back_makes_its_states_recent_also_right_after_the_same_hit_of_another(driver):
    """It keeps the states since its first hit, the other only the last: the same prompt, and the same hit, and more."""
    d, chunks = a_stored_prompt(driver, chunks=12)
    d.add("B", ["h1", "h2", "h3"])
    d.add("C", ["h1", "h2", "h3"])
    d.machine._tracked["B"].first_hit = 4
    assert d.match("C") == (12, True)
    before = d.machine.chunks.ready
    assert d.match("B") == (12, True)

    named = dict(zip(chunks, ["f1", "s1", "f2", "s2", "f3", "s3"], strict=True))
    orders = [" ".join(named[c] for c in order) for order in (before, d.machine.chunks.ready)]
    assert orders == ["s1 s2 s3 f3 f2 f1", "s3 s2 s1 f3 f2 f1"]


def test_a_hit_is_more_recent_than_what_a_finished_request_has_stored_since(driver):
    """B waits for blocks; meanwhile A, for whose stores there was no room until its last step was over, is stored."""
    d, (full, state) = a_stored_prompt(driver, hashes=("h1",), chunks=4)
    d.add("L", ["h1"])
    d.load("L", [[1], [2]], external_blocks=1)
    d.add("X", ["x1"])
    d.admit("X", [[3, 4], [5, 6]])
    stores = [j.job for j in d.build().store_jobs]
    d.update()
    d.add("A", ["a1"])
    d.admit("A", [[7, 8], [9, 10]])
    assert not d.build().store_jobs
    d.update(failed=stores)
    d.add("B", ["h1"])
    d.match("B")
    d.step()
    d.finish("A")
    d.match("B")
    assert len(d.build().store_jobs) == 2
    d.update()
    d.match("B")

    assert list(d.machine.chunks.policy.order())[-2:] == [state, full]


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


def lie_together(machine):
    """Each stretch is a run in the policy's order, with the ends that it says; how many there are."""
    stretches, runs = machine._recency.stretches, {}
    for place, chunk in enumerate(machine.chunks.policy.order()):
        stretch = stretches._at[chunk]
        if stretch is not None and not stretch.stale:
            runs.setdefault(stretch, []).append((place, chunk))
    for stretch, run in runs.items():
        (first, head), (last, tail) = run[0], run[-1]
        assert (last - first + 1, head, tail) == (len(run), stretch.first, stretch.last)
    return len(runs)


@pytest.mark.parametrize(("chunks", "policy"), [(9, "lru"), (60, "lru"), (60, "arc")])
@pytest.mark.parametrize(
    "groups",
    [
        STATE, (FullAttention(H), SlidingWindow(H, 2 * H)), (FullAttention(2 * H), SlidingWindow(H, 2 * H), Mamba(H)),
        (SlidingWindow(H, H),), TWO_FULL,
    ],
)  # fmt: skip
def test_moving_stretches_is_touching_each_chunk_of_a_prompt_again(groups, chunks, policy):
    def play(seed, at_once):
        machine = KVOffloadScheduler(
            block_size=H, groups=groups, num_chunks=chunks, num_workers=1, policy=policy, checking=False,
            switches=SPECIFICATION.switch_values(),
        )  # fmt: skip
        assert (machine._recency.stretches is None) == (groups in (TWO_FULL, (SlidingWindow(H, H),)))
        if not at_once:
            recency = machine._recency
            stored, recency.stretches = recency.stored, None
            recency.stored = lambda tracked, ends: [stored(tracked, [end]) for end in ends]
        e, rng, orders, most = GroupedEngine(list(groups), H, 60, machine), random.Random(seed), [], 0
        for name in "ABCDEFGHIJKL":
            for of_two in range(rng.choice([1, 1, 2])):  # who computes the same at once stores it twice
                prompt = rng.choice(["pqrs", "pqxy", "pqrstu", "p", "pqrstuvwxyz"])
                e.add(f"{name}{of_two}", prompt, rng.choice([0, 1, 3]), rng.randint(0, 6))
            for _ in range(rng.randint(1, 4)):
                running = [n for n, r in e.requests.items() if r.state == "running"]
                e.step(rng.choice([3, 8, 40]), [rng.choice(running)] if running and rng.random() < 0.1 else ())
                jobs = sorted(e.copies)
                for job in jobs:
                    e.copy(job)
                e.update([j for j in jobs if rng.random() < 0.6])
                if rng.random() < 0.03:
                    e.reset()
                orders.append(tuple(machine.chunks.policy.order()))
                most = max(most, lie_together(machine) if machine._recency.stretches else 0)
        return orders, most

    seen, stretches = set(), 0
    for seed in range(4):
        orders, most = play(seed, at_once=True)
        assert orders == play(seed, at_once=False)[0]
        seen |= set(orders)
        stretches = max(stretches, most)
    assert len(seen) > 30
    assert stretches > 2 or groups in (TWO_FULL, (SlidingWindow(H, H),))


@pytest.mark.parametrize("policy", ["lru", "arc"])
@pytest.mark.parametrize("shared", [0, 8])
def test_what_a_store_moves_does_not_grow_with_its_prompt(driver, monkeypatch, policy, shared):
    """Requests in turn, each with a prompt of its own, or of which others have the first blocks.

    The first time it does, where others have stored the same.
    """

    def moved(length):
        d = driver(chunks=6 * length + 40, groups=STATE, options={"policy": policy})
        names, blocks = "ABC", iter(range(1, 100 * length))
        for name in names:
            d.add(name, [f"{name if at >= shared else ''}{at}" for at in range(length)], tokens=H * (length + 9))
            d.admit(name, [[next(blocks) for _ in range(length + 9)] for _ in STATE])
        d.update(completed=[job.job for job in d.build().store_jobs])
        calls = []
        moves = d.machine.chunks.policy

        def counted(call):
            does = getattr(moves, call)
            monkeypatch.setattr(moves, call, lambda *chunks: (calls.append(chunks), does(*chunks)))

        for call in ("touched", "touched_before", "run_touched"):
            counted(call)
        counts = []
        for turn in range(9):
            name = names[turn % 3]
            request = d.requests[name]
            computed = H * (length + turn // 3)
            request.block_hashes.append(f"{name}{computed}")
            calls.clear()
            d.go_on(name, computed, H)
            jobs = d.build().store_jobs
            assert len(jobs) == len(STATE)
            d.update(completed=[job.job for job in jobs])
            counts.append(len(calls))
        return counts[3:]

    assert moved(16) == moved(128)
    assert max(moved(128)) < 16


def test_what_is_stored_once_more_at_the_end_of_a_prompt_is_not_moved_with_what_comes_before_it():
    """By a finished request, say: nobody touches that."""
    group, hashes, order, slots = BlockGroups.of(STATE, H)[0], ["a", "b", "c"], LeastRecentlyUsed(4), {}
    stretches, leaf = Stretches(order, group, lambda key: slots.get(key, ()), 4), None

    def comes(chunk, place):
        key = group.key(hashes, place)
        order.ready(chunk, key)
        slots.setdefault(key, []).append(chunk)
        stretches.came(chunk, key)

    for place in range(3):
        comes(place, place)
        leaf, least = stretches.touch(leaf, hashes, place + 1)
        assert least == place
    comes(3, 2)
    stretches.touch(None, hashes, 2)

    assert list(order.order()) == [2, 3, 1, 0]


def test_a_prompt_that_has_taken_its_last_tokens_back_does_not_touch_what_they_were():
    group, order = BlockGroups.of(STATE, H)[0], LeastRecentlyUsed(4)
    slots = {group.key(["a", "b", "c", "z"], place): (place,) for place in range(4)}
    stretches = Stretches(order, group, lambda key: slots.get(key, ()), 4)
    for key, (chunk,) in slots.items():
        order.ready(chunk, key)
        stretches.came(chunk, key)
    leaf, _ = stretches.touch(None, ["a", "b", "c"], 3)
    stretches.touch(None, ["z"], 1)
    stretches.touch(leaf, ["a", "b", "x"], 3)

    assert list(order.order()) == [2, 3, 1, 0]


def test_to_touch_a_prompt_is_one_way_from_its_end_to_its_beginning(monkeypatch):
    """And one more before, to see whether it is still there. Only its first place has a chunk."""
    group, hashes = BlockGroups.of(STATE, H)[0], [f"{at}" for at in range(9)]
    slots, order = {group.key(hashes, 0): (0,)}, LeastRecentlyUsed(1)
    stretches = Stretches(order, group, lambda key: slots.get(key, ()), 1)
    order.ready(0, group.key(hashes, 0))
    prompt = SimpleNamespace(leaf=None, request=SimpleNamespace(block_hashes=hashes))
    span = [(group, 0, len(hashes))]
    # From each place another goes on elsewhere.
    others = [stretches.touch(None, [*hashes[:at], f"another {at}"], at + 1) for at in range(1, len(hashes))]
    Recency._prefix_touched(stretches, prompt, span)
    ends, parent = [], Stretch.parent
    noted = property(lambda stretch: ends.append(stretch.end) or parent.__get__(stretch), parent.__set__)
    monkeypatch.setattr(Stretch, "parent", noted)

    assert Recency._prefix_touched(stretches, prompt, span) == 0
    assert ends == [*range(len(hashes), 0, -1)] * 2
    assert len(others) == 8


@pytest.mark.parametrize("policy", ["lru", "arc"])
@pytest.mark.parametrize("apart", [0, 3])
def test_what_is_looked_at_for_those_who_compute_the_same_does_not_grow_with_their_prompt(
    driver, monkeypatch, policy, apart
):
    """Side by side, each block of theirs is stored twice; from some block on they may part.

    The order is that of touching chunk by chunk.
    """

    def looked_at(length, *, at_once=True):
        d = driver(chunks=4 * length + 80, groups=STATE, options={"policy": policy})
        if not at_once:
            d.machine._recency.stretches = None
        blocks = iter(range(1, 100 * length))
        for name in "AB":
            d.add(name, [f"{at}" for at in range(length)], tokens=H * (length + 12))
            d.admit(name, [[next(blocks) for _ in range(length + 12)] for _ in STATE], tokens=H * length)
        d.update(completed=[job.job for job in d.build().store_jobs])
        looks, find = [], Stretches._find
        monkeypatch.setattr(Stretches, "_find", lambda *of: looks.append(of) or find(*of))
        touched = d.machine.chunks.policy
        run_touched = touched.run_touched
        monkeypatch.setattr(touched, "run_touched", lambda *run: looks.append(run) or run_touched(*run))
        counts, orders = [], []
        for turn in range(10):
            for name in "AB":
                parted = name if apart and turn >= apart else ""
                d.requests[name].block_hashes.append(f"{parted}{length + turn}")
                d.go_on(name, H * (length + turn), H)
            looks.clear()
            jobs = d.build().store_jobs
            assert len(jobs) == 2 * len(STATE)
            d.update(completed=[job.job for job in jobs])
            counts.append(len(looks))
            orders.append(list(touched.order()))
        return counts[1:apart] + counts[apart + 1 :], orders

    counts, orders = looked_at(16)
    assert orders == looked_at(16, at_once=False)[1]
    assert counts == looked_at(128)[0]
    assert max(counts) < 16


def test_what_a_prefill_moves_does_not_grow_with_the_window(driver, monkeypatch):
    """Each store makes its window recent; of stores in a row a block is moved by the last that has it."""

    def moved(window):
        d = driver(chunks=300, groups=(FullAttention(H), SlidingWindow(H, window * H)))
        calls, moves = [], d.machine.chunks.policy
        for call in (moves.touched, moves.touched_before):
            monkeypatch.setattr(
                moves, call.__name__, lambda *chunks, does=call: (calls.append(chunks), does(*chunks))
            )  # fmt: skip
        d.add("A", [f"h{at}" for at in range(128)])
        d.admit("A", [list(range(1, 130)), list(range(130, 259))])
        assert len(d.build().store_jobs) == 256
        return len(calls)

    assert moved(4) == moved(64) == 256
