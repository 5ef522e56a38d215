"""The vectorised explorer finds exactly what the plain one finds."""

import pytest
from support.explorations import SWITCHES, model_of, slice_system, summary

from interlock.proofs.explorer.search import Limits, explore
from interlock.proofs.vectorised.run import explore_vectorised
from interlock.spec.kv import SPECIFICATION

SLICES = [s.name for s in SPECIFICATION.slices]
SMALLER = {"dedup": {"worker": 1}, "load": {"worker": 1}, "lazy_store": {"job": 1}}
"""Scopes at which the plain explorer takes a second or two under other load."""

EACH_OF = 4
PAIRS = [
    (name, sets)
    for row, name in enumerate(SLICES)
    for column, sets in enumerate(SWITCHES)
    if sets == SPECIFICATION.switch_values() or (row + column) % EACH_OF == 0
]
"""Each slice under the default values, and each value of every switch in a quarter of the slices, not of the same ones.

All of them together took a fifth of all tests' time; what the explorers can differ in is in the terms, of which each
slice has most. Systems drawn at random are compared in ``test_at_rest``.
"""


def ids(sets):
    return "-".join(sets.values()) if isinstance(sets, dict) else sets


def test_every_preset_is_among_the_switch_values():
    for preset in SPECIFICATION.presets:
        assert SPECIFICATION.switch_values(preset.name) in SWITCHES


def test_every_slice_and_every_value_is_among_the_pairs():
    assert {name for name, sets in PAIRS if sets == SPECIFICATION.switch_values()} == {*SLICES}
    assert min(sum(sets == s for _, s in PAIRS) for sets in SWITCHES) >= len(SLICES) // EACH_OF


@pytest.mark.parametrize(("name", "sets"), PAIRS, ids=ids)
def test_same_as_plain(name, sets):
    system = slice_system(name, sets, SMALLER.get(name))

    assert summary(explore_vectorised(system)) == summary(explore(system))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sets"), [(name, sets) for name, sets in PAIRS if name in ("dedup", "load")], ids=ids)
def test_same_as_plain_at_the_slices_own_scope(name, sets):
    system = slice_system(name, sets)

    assert summary(explore_vectorised(system)) == summary(explore(system))


def test_messages_and_paths_are_those_of_the_plain_explorer():
    system = slice_system("store", {"store_dedup": "in_flight_by_hash"})
    plain = {c.property_id: c for c in explore(system).counterexamples}
    found = explore_vectorised(system)

    assert plain
    for c in found.counterexamples:
        state = c.initial
        for s in c.steps:
            assert (s.instance, s.state) in found.program.successors(state)
            state = s.state
        assert c.message == plain[c.property_id].message


@pytest.mark.parametrize("property_id", ["no-block-stored-twice-in-flight", "some-job-completes"])
def test_stops_at_the_end_of_the_same_level(property_id):
    system = slice_system("dedup", {"store_dedup": "per_step"}, {"worker": 1})
    found = explore_vectorised(system, stop_at=[property_id])

    assert summary(found) == summary(explore(system, stop_at=[property_id]))
    assert not found.exhaustive


@pytest.mark.parametrize(("jobs", "words"), [(3, 2), (8, 3)])
def test_states_of_several_words_are_fingerprinted(jobs, words):
    system = slice_system("dedup", None, {"request": 1, "chunk": 1, "job": jobs, "worker": 2})
    model = model_of(system)
    found = explore_vectorised(system)

    assert model.packing.words == words
    assert summary(found) == summary(explore(system))
    assert 0 < found.collision_bound < 1e-9


def test_a_limit_of_states_is_inconclusive():
    found = explore_vectorised(slice_system("dedup"), limits=Limits(states=2_000))

    assert not found.exhaustive
    assert found.reason == "stopped at 2,000 states: choose a smaller scope"
    assert set(found.verdicts.values()) == {"inconclusive", "holds"}


def test_a_limit_of_memory_is_inconclusive():
    found = explore_vectorised(slice_system("dedup"), limits=Limits(memory=1_500_000))

    assert not found.exhaustive
    assert "raise --memory" in found.reason
    assert 1 < found.states < 174_046


def test_progress_says_where_it_is():
    seen = []
    explore_vectorised(slice_system("dedup"), progress=seen.append)

    assert seen
    assert all(p.slice == "dedup" and p.bytes > 0 and p.frontier > 0 for p in seen)
    assert [p.depth for p in seen] == sorted(p.depth for p in seen)
