"""Slots that need no bits, one byte, or more; states survive packing."""

import pytest
from support.explorations import model_of, slice_system, summary
from support.host_cuda import HostModule, compiler

from interlock.proofs.explorer.search import explore
from interlock.proofs.vectorised import search
from interlock.proofs.vectorised.backend import NumpyBackend, TorchBackend
from interlock.proofs.vectorised.fused import FusedStep
from interlock.proofs.vectorised.run import explore_vectorised, searched
from interlock.proofs.vectorised.toy import toy
from interlock.spec.kv import SPECIFICATION

TOYS = [(1, 1), (3, 2), (4, 5), (2, 128), (2, 129), (2, 256), (2, 300), (5, 4)]


@pytest.mark.parametrize(("processes", "places"), TOYS)
def test_any_width_of_value(processes, places):
    system = toy(processes, places)
    found = explore_vectorised(system)

    assert summary(found) == summary(explore(system))
    assert found.states == places**processes
    assert found.transitions == processes * found.states
    assert found.depth == processes * (places - 1)


@pytest.mark.skipif(compiler is None, reason="no C++ compiler")
@pytest.mark.parametrize(("processes", "places"), [(1, 1), (2, 129), (2, 300)])
def test_any_width_of_value_in_cuda_kernels_on_the_host(processes, places, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    system = toy(processes, places)
    expected = summary(explore_vectorised(system))
    monkeypatch.setattr(
        search.Search,
        "_stepper",
        lambda self: FusedStep(self.engine, self.visited, lambda text: HostModule(text, tmp_path)),
    )

    assert summary(explore_vectorised(system, backend=TorchBackend("cpu"))) == expected


@pytest.mark.parametrize("name", [s.name for s in SPECIFICATION.slices])
def test_slots_do_not_overlap_and_use_no_sign_bit(name):
    packing = model_of(slice_system(name)).packing
    used = [0] * packing.words
    for place in packing.places:
        if place is not None:
            assert not used[place.word] & place.mask
            assert place.narrow
            used[place.word] |= place.mask

    assert sum(w.bit_count() for w in used) == packing.bits
    assert all(w < 1 << 63 for w in used)


@pytest.mark.parametrize("name", [s.name for s in SPECIFICATION.slices])
def test_states_come_back_from_their_words(name):
    model = searched(slice_system(name), NumpyBackend())[0].model
    states, frontier = set(), model.program.initial_states()
    while frontier and len(states) < 500:
        states.update(frontier)
        after = (n for s in frontier for _, n in model.program.successors(s))
        frontier = [n for n in dict.fromkeys(after) if isinstance(n, tuple) and n not in states]

    assert all(model.codec.decode(model.codec.encode(s)) == s for s in states)
    assert len({model.codec.encode(s) for s in states}) == len(states)
