"""The chunk pool and its policies: what may be taken, and in which order."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from interlock.statemachine.errors import UnknownPolicy
from interlock.statemachine.pool import POLICIES, AdaptiveReplacement, ChunkPool, policy_named

SIZE = 4


class Tier:
    """A pool whose chunks' lifecycle a test plays by hand."""

    def __init__(self, policy: str, size: int = SIZE) -> None:
        self.state = dict.fromkeys(range(size), "absent")
        self.holds: dict[int, str] = {}
        self.pinned: set[int] = set()
        self.pool = ChunkPool(
            size,
            policy_named(policy, size),
            hash_of=self.holds.__getitem__,
            may_evict=lambda c: self.state[c] == "ready" and c not in self.pinned,
            evict=lambda c: self.move(c, "absent"),
        )

    def move(self, chunk: int, state: str) -> None:
        self.state[chunk] = state
        self.pool.moved(chunk, state)

    def store(self, hash_: str) -> int | None:
        """A store into a chunk of the pool, reserved and completed."""
        chunk = self.pool.take()
        if chunk is not None:
            self.move(chunk, "pending")
            self.holds[chunk] = hash_
            self.move(chunk, "ready")
        return chunk

    def has(self, hash_: str) -> bool:
        return any(s == "ready" and self.holds[c] == hash_ for c, s in self.state.items())


class Pools(RuleBasedStateMachine):
    """Whatever happens to chunks, the pool gives what is absent or may go, and loses none."""

    @initialize(policy=st.sampled_from(list(POLICIES)))
    def begin(self, policy: str) -> None:
        self.tier = Tier(policy)

    def some(self, data: st.DataObject, state: str) -> int:
        return data.draw(st.sampled_from([c for c, s in self.tier.state.items() if s == state]))

    def there_is(self, state: str) -> bool:
        return state in self.tier.state.values()

    @rule(hash_=st.sampled_from("abcdefgh"))
    def reserve(self, hash_: str) -> None:
        before = dict(self.tier.state)
        chunk = self.tier.pool.take()
        free = [c for c, s in before.items() if s == "absent"]
        loose = [c for c, s in before.items() if s == "ready" and c not in self.tier.pinned]

        assert (chunk in free) if free else (chunk in loose) if loose else (chunk is None)
        if chunk is not None:
            self.tier.move(chunk, "pending")
            self.tier.holds[chunk] = hash_

    @precondition(lambda self: self.there_is("pending"))
    @rule(data=st.data(), well=st.booleans())
    def store_ends(self, data: st.DataObject, well: bool) -> None:
        self.tier.move(self.some(data, "pending"), "ready" if well else "absent")

    @precondition(lambda self: self.there_is("ready"))
    @rule(data=st.data())
    def load_begins(self, data: st.DataObject) -> None:
        chunk = self.some(data, "ready")
        self.tier.pinned.add(chunk)
        self.tier.move(chunk, "ready")

    @rule()
    def loads_end(self) -> None:
        self.tier.pinned.clear()

    @precondition(lambda self: self.there_is("ready"))
    @rule(data=st.data())
    def reset_one(self, data: st.DataObject) -> None:
        chunk = self.some(data, "ready")
        self.tier.pinned.discard(chunk)
        self.tier.move(chunk, "absent")

    @invariant()
    def nothing_is_lost(self) -> None:
        of = {s: {c for c, x in self.tier.state.items() if x == s} for s in ("absent", "ready")}

        assert set(self.tier.pool.absent) == of["absent"]
        assert sorted(self.tier.pool.ready) == sorted(of["ready"])

    @invariant()
    def arc_keeps_its_bounds(self) -> None:
        policy = self.tier.pool.policy
        if isinstance(policy, AdaptiveReplacement):
            rings = [list(policy._rings.walk(end)) for end in (policy._once_end, policy._again_end)]
            assert [policy._num_once, policy._num_again] == [*map(len, rings)]
            assert 0 <= policy.target <= SIZE
            assert policy._num_once + len(policy._once_evicted) <= SIZE
            assert policy._remembered() <= 2 * SIZE
            assert not policy._once_evicted.keys() & policy._again_evicted.keys()


TestPools = Pools.TestCase


def test_under_arc_what_is_of_use_before_a_chunk_used_once_is_used_again() -> None:
    policy = AdaptiveReplacement(2)
    policy.ready(0, "a")
    policy.ready(1, "b")
    policy.touched_before(0, 1)

    assert list(policy.order()) == [1, 0]


@pytest.mark.parametrize("policy", list(POLICIES))
@pytest.mark.parametrize("seed", range(40))
def test_what_makes_room_for_several_goes_as_for_one_after_the_other(policy: str, seed: int) -> None:
    def given_to(tier: Tier) -> list[list[int]]:
        rng, given = Random(seed), []
        for _ in range(30):
            chunks = list(tier.pool.supply(rng.randint(1, 5)))
            given.append(chunks)
            for chunk in tier.pool.fills(len(chunks)):
                tier.state[chunk] = "pending"
                tier.holds[chunk] = f"h{rng.randrange(14)}"
                tier.move(chunk, "ready")
            tier.pinned.clear()
            for chunk in range(8):
                if tier.state[chunk] == "ready":
                    if rng.random() < 0.4:
                        tier.pool.touch(chunk)
                    if rng.random() < 0.4:
                        tier.pinned.add(chunk)
        return given

    one_by_one = Tier(policy, 8)
    one_by_one.pool._victims = None  # as of a policy that cannot go on

    assert given_to(Tier(policy, 8)) == given_to(one_by_one)


@pytest.mark.parametrize("policy", list(POLICIES))
def test_who_makes_room_for_several_passes_what_may_not_go_once(policy: str) -> None:
    tier, looks = Tier(policy, 60), list[int]()
    for number in range(60):
        tier.store(f"h{number}")
    tier.pinned |= set(range(20))
    may_evict = tier.pool._may_evict
    tier.pool._may_evict = lambda c: looks.append(c) is None and may_evict(c)

    assert list(tier.pool.supply(50)) == list(range(20, 60))
    assert tier.pool.ran_out
    assert looks == list(range(60))


@pytest.mark.parametrize(("policy", "survives"), [("lru", False), ("arc", True)])
def test_what_is_used_again_survives_a_long_document_under_arc_only(policy: str, survives: bool) -> None:
    tier = Tier(policy)
    for hash_ in ("system", "prompt"):
        chunk = tier.store(hash_)
        assert chunk is not None
        tier.pool.touch(chunk)
    for page in range(20):
        tier.store(f"page {page}")

    assert [tier.has("system"), tier.has("prompt")] == [survives, survives]


def test_the_queue_of_what_was_used_once_gives_back_what_it_has_gained_and_no_more() -> None:
    policy = AdaptiveReplacement(2)
    targets = []
    for _ in range(4):  # lost from the one queue, then again and again from the other
        policy.ready(0, "x")
        targets.append(policy.target)
        policy.gone(0, evicted=True)

    assert targets == [0, 1, 0, 0]


def test_of_a_prefix_that_both_queues_have_lost_the_last_loss_counts() -> None:
    """It comes back as lost by the queue of what was used once; after that it is not remembered as lost any more."""
    policy = AdaptiveReplacement(4)
    for chunk in (0, 1):
        policy.ready(chunk, "x")
    policy.touched(0)
    for chunk in (0, 1):
        policy.gone(chunk, evicted=True)
    targets = []
    for chunk in (2, 3):
        policy.ready(chunk, "x")
        targets.append(policy.target)

    assert targets == [1, 1]


def test_a_prefix_that_comes_back_lengthens_the_queue_that_lost_it() -> None:
    tier = Tier("arc", size=2)
    policy = tier.pool.policy
    assert isinstance(policy, AdaptiveReplacement)
    kept = tier.store("kept")
    assert kept is not None
    tier.pool.touch(kept)
    tier.store("lost")
    tier.store("other")
    assert not tier.has("lost")
    assert policy.target == 0

    tier.store("lost")

    assert policy.target == 1


class Paper:
    """ARC as the paper has it, in plain lists, oldest first: T1 and T2 of prefixes that are there, B1 and B2 of others.

    Here a chunk is evicted when a store needs one, and only then is it known which prefix comes: so T1 goes first
    while it is longer than the target, wherever the new prefix was remembered.
    """

    def __init__(self, size: int) -> None:
        self.size, self.p = size, 0
        self.t1: list[int] = []
        self.t2: list[int] = []
        self.b1: list[str] = []
        self.b2: list[str] = []

    def comes(self, chunk: int, hash_: str) -> None:
        if hash_ in self.b1:
            self.p = min(self.size, self.p + max(1, len(self.b2) // len(self.b1)))
            self.b1.remove(hash_)
            self.t2.append(chunk)
        elif hash_ in self.b2:
            self.p = max(0, self.p - max(1, len(self.b1) // len(self.b2)))
            self.b2.remove(hash_)
            self.t2.append(chunk)
        else:
            self.t1.append(chunk)
        self.trim()

    def used(self, chunk: int) -> None:
        (self.t1 if chunk in self.t1 else self.t2).remove(chunk)
        self.t2.append(chunk)

    def goes(self, chunk: int, hash_: str, evicted: bool) -> None:
        once = chunk in self.t1
        (self.t1 if once else self.t2).remove(chunk)
        if evicted:
            self.b1 = [h for h in self.b1 if h != hash_]
            self.b2 = [h for h in self.b2 if h != hash_]
            (self.b1 if once else self.b2).append(hash_)
            self.trim()

    def trim(self) -> None:
        """At most `size` prefixes in T1 and B1, and twice that in all."""
        while self.b1 and len(self.t1) + len(self.b1) > self.size:
            self.b1.pop(0)
        while self.b2 and len(self.t1) + len(self.t2) + len(self.b1) + len(self.b2) > 2 * self.size:
            self.b2.pop(0)

    def order(self) -> list[int]:
        return self.t1 + self.t2 if len(self.t1) > self.p or not self.t2 else self.t2 + self.t1


class Beside:
    """A tier under ARC, and the paper's ARC beside it."""

    def __init__(self, size: int) -> None:
        self.tier, self.paper = Tier("arc", size), Paper(size)

    def move(self, what: str, hash_: str) -> None:
        """A prefix is stored, used or dropped; then both keep the same, in the same order."""
        tier, paper = self.tier, self.paper
        there = [c for c, s in tier.state.items() if s == "ready" and tier.holds[c] == hash_]
        if what == "store":
            before = {c: tier.holds[c] for c, s in tier.state.items() if s == "ready"}
            chunk = tier.store(hash_)
            assert chunk is not None
            if chunk in before:
                assert chunk == paper.order()[0]
                paper.goes(chunk, before[chunk], evicted=True)
            paper.comes(chunk, hash_)
        elif there and what == "use":
            tier.pool.touch(there[0])
            paper.used(there[0])
        elif there:  # a reset
            tier.move(there[0], "absent")
            paper.goes(there[0], hash_, evicted=False)

        policy = tier.pool.policy
        assert isinstance(policy, AdaptiveReplacement)
        assert (policy.target, list(tier.pool.ready)) == (paper.p, paper.order())
        assert [list(policy._once_evicted), list(policy._again_evicted)] == [paper.b1, paper.b2]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(("store", "use", "drop")), st.sampled_from("abcdefgh")), max_size=60))
def test_arc_is_that_of_the_paper(moves: list[tuple[str, str]]) -> None:
    beside = Beside(3)
    for what, hash_ in moves:
        beside.move(what, hash_)


def test_arc_is_that_of_the_paper_where_one_queue_has_lost_many_times_what_the_other_has() -> None:
    """Its target then moves by as many at once, both ways; and what is remembered of both reaches its bound."""
    beside, rng, steps, most = Beside(8), Random(1), set[int](), 0
    for _ in range(3_000):
        target, hash_ = beside.paper.p, str(rng.randrange(24))
        beside.move("use" if beside.tier.has(hash_) else "store", hash_)
        steps.add(beside.paper.p - target)
        most = max(most, sum(map(len, (beside.paper.t1, beside.paper.t2, beside.paper.b1, beside.paper.b2))))

    assert {-2, -1, 1, 2, 3} <= steps
    assert most == 16


@pytest.mark.parametrize(("again", "once", "back", "target"), [("abc", "xy", "x", 5), ("ab", "xyz", "a", 3)])
def test_what_comes_back_moves_the_target_by_whole_chunks(again: str, once: str, back: str, target: int) -> None:
    """By how much longer the memory of the other queue is; at least one."""
    policy = AdaptiveReplacement(8)
    for hash_ in again + once:
        policy.ready(0, hash_)
        if hash_ in again:
            policy.touched(0)
        policy.gone(0, evicted=True)
    policy.target = 4

    policy.ready(0, back)

    assert policy.target == target


def test_no_more_are_supplied_than_are_wanted() -> None:
    assert list(Tier("lru").pool.supply(2)) == [0, 1]


@pytest.mark.parametrize("policy", list(POLICIES))
def test_a_chunk_that_was_dropped_is_not_remembered_as_evicted(policy: str) -> None:
    tier = Tier(policy, size=1)
    for _ in range(3):
        chunk = tier.store("a")
        assert chunk == 0
        tier.move(chunk, "absent")

    assert getattr(tier.pool.policy, "target", 0) == 0


def test_moves_are_counted_and_absent_chunks_go_round() -> None:
    tier = Tier("lru", size=3)
    assert [tier.pool.moves, tier.pool.size] == [0, 3]
    assert [tier.store(h) for h in "abc"] == [0, 1, 2]
    assert tier.pool.moves == 6
    for chunk in (2, 0):
        tier.move(chunk, "absent")

    assert tier.pool.absent == (2, 0)
    assert [tier.store(h) for h in "de"] == [2, 0]


def test_a_failed_eviction_is_not_taken_for_the_next() -> None:
    tier = Tier("arc", size=1)
    tier.store("a")
    evict = tier.pool._evict
    tier.pool._evict = lambda c: 1 / 0  # type: ignore[assignment,return-value]
    with pytest.raises(ZeroDivisionError):
        tier.pool.take()
    tier.pool._evict = evict

    tier.move(0, "absent")  # a reset: nothing was evicted
    tier.store("a")

    assert tier.pool.policy.target == 0  # type: ignore[attr-defined]


def test_a_policy_that_there_is_not() -> None:
    with pytest.raises(UnknownPolicy, match="unknown eviction policy 'mru'; known: lru, arc"):
        policy_named("mru", 1)


def test_chunks_that_are_supplied_are_pending_once_it_is_said_how_many_were_used() -> None:
    tier = Tier("lru", size=3)
    tier.store("a")  # ready: it is evicted for the third

    supplied = tier.pool.supply(3)
    given = [next(supplied), next(supplied), next(supplied)]

    assert sorted(given) == [0, 1, 2]
    assert given[2] == 0
    assert tier.pool.fills(2) == given[:2]
    assert (tier.pool.absent, tier.pool.ran_out) == ((0,), False)


def test_it_says_when_there_was_no_chunk_to_supply() -> None:
    tier = Tier("lru", size=2)

    assert list(tier.pool.supply(3)) == [0, 1]
    assert tier.pool.ran_out
    assert list(tier.pool.supply(2)) == [0, 1]
    assert not tier.pool.ran_out
