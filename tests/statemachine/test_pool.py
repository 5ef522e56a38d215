"""The chunk pool and its policies: what may be taken, and in which order."""

from __future__ import annotations

import pytest
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
    @rule(data=st.data(), under_load=st.booleans())
    def reset_one(self, data: st.DataObject, under_load: bool) -> None:
        chunk = self.some(data, "ready")
        self.tier.pinned.discard(chunk)
        self.tier.move(chunk, "pending" if under_load else "absent")

    @invariant()
    def nothing_is_lost(self) -> None:
        of = {s: {c for c, x in self.tier.state.items() if x == s} for s in ("absent", "ready")}

        assert set(self.tier.pool.absent) == of["absent"]
        assert sorted(self.tier.pool.ready) == sorted(of["ready"])

    @invariant()
    def arc_keeps_its_bounds(self) -> None:
        policy = self.tier.pool.policy
        if isinstance(policy, AdaptiveReplacement):
            assert 0 <= policy.target <= SIZE
            assert len(policy._once) + len(policy._once_evicted) <= SIZE
            assert policy._remembered() <= 2 * SIZE
            assert not policy._once_evicted.keys() & policy._again_evicted.keys()


TestPools = Pools.TestCase


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


def test_a_policy_that_there_is_not() -> None:
    with pytest.raises(UnknownPolicy, match="unknown eviction policy 'mru'; known: lru, arc"):
        policy_named("mru", 1)
