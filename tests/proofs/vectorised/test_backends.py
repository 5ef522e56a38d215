"""numpy, torch on the CPU, and the CUDA kernels (on the host, and on a GPU) find the same."""

import pytest
from support.explorations import model_of, slice_system, summary
from support.host_cuda import HostModule, compiler

from interlock.proofs.explorer.search import Limits
from interlock.proofs.vectorised import search
from interlock.proofs.vectorised.backend import NoDevice, NumpyBackend, TorchBackend
from interlock.proofs.vectorised.cuda_source import source
from interlock.proofs.vectorised.fused import FusedStep
from interlock.proofs.vectorised.run import explore_vectorised
from interlock.proofs.vectorised.toy import toy

CASES = [
    ("dedup", {"store_dedup": "per_step"}, {"worker": 1}),
    ("store", {"store_dedup": "in_flight_by_hash"}, None),
    ("at_finish", None, None),
    ("load", None, {"worker": 1}),
    ("dedup", None, {"request": 1, "chunk": 1, "job": 3, "worker": 2}),
]
"""The last takes two words."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_torch_on_the_cpu(case):
    pytest.importorskip("torch")
    system = slice_system(*case)

    assert summary(explore_vectorised(system, backend="torch")) == summary(explore_vectorised(system))


def test_chunks_change_nothing():
    system = slice_system("dedup", None, {"worker": 1})
    small = explore_vectorised(system, backend=NumpyBackend(chunk_rows=100))

    assert summary(small) == summary(explore_vectorised(system))


def test_the_collision_bound_is_said():
    exact, found = explore_vectorised(slice_system(*CASES[0])), explore_vectorised(slice_system(*CASES[-1]))

    assert exact.collision_bound == 0
    assert found.states == 2_298
    assert found.collision_bound == found.states**2 / 2**64


@pytest.mark.skipif(compiler is None, reason="no C++ compiler")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cuda_kernels_on_the_host(case, tmp_path, monkeypatch):
    """All of the fused step but concurrency: the generated text, its launches, its statistics."""
    pytest.importorskip("torch")
    system = slice_system(*case)
    launched = []

    def load(text):
        launched.append(text)
        return HostModule(text, tmp_path)

    monkeypatch.setattr(search.Search, "_stepper", lambda self: FusedStep(self.engine, self.visited, load))
    fused = explore_vectorised(system, backend=TorchBackend("cpu"))
    monkeypatch.undo()

    assert launched
    assert summary(fused) == summary(explore_vectorised(system))


def test_cuda_text_is_made_once_per_system():
    system = slice_system("store")
    one, two = (model_of(system) for _ in range(2))

    assert source(one, list(one.broken.items())) == source(two, list(two.broken.items()))


def test_cuda_where_there_is_none():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(NoDevice, match="no CUDA device"):
        explore_vectorised(slice_system("store"), device="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "eager"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_cuda(case, fused):
    system = slice_system(*case)
    found = explore_vectorised(system, backend=TorchBackend("cuda", fused=fused))

    assert summary(found) == summary(explore_vectorised(system))


@pytest.mark.gpu
def test_cuda_counts_a_million_states():
    found = explore_vectorised(toy(6, 10), device="cuda", limits=Limits(states=10**7))

    assert (found.states, found.transitions, found.depth) == (10**6, 6 * 10**6, 54)


@pytest.mark.gpu
def test_cuda_spills_levels_to_the_host():
    """A budget that holds the table and little else: levels leave the device, and come back for the way back."""
    system = slice_system("dedup", {"store_dedup": "per_step"})
    whole = explore_vectorised(system, device="cuda")
    backend = TorchBackend("cuda", chunk_rows=1 << 14, fused=False)
    found = explore_vectorised(system, backend=backend, limits=Limits(memory=64 << 20))

    assert summary(found) == summary(whole)
