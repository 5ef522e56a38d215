"""Levels leave the device when its memory runs short, and come back for the way back."""

import numpy as np
from support.explorations import slice_system, summary

from interlock.proofs.explorer.search import Limits
from interlock.proofs.vectorised.backend import NumpyBackend
from interlock.proofs.vectorised.levels import Levels
from interlock.proofs.vectorised.run import explore_vectorised


class Device(NumpyBackend):
    """numpy that counts as a device of its own, and the moves to and from it."""

    device = "elsewhere"

    def __init__(self, chunk_rows=1 << 12):
        super().__init__(chunk_rows)
        self.moved_out = self.moved_in = 0

    def to_host(self, a):
        self.moved_out += 1
        return a.copy()

    def from_host(self, a):
        self.moved_in += 1
        return a.copy()


def filled(ops, host_bytes_max=None):
    levels = Levels(ops, host_bytes_max)
    for level in range(4):
        levels.add([np.full(100, level)])
    return levels


def test_oldest_first_and_never_the_last():
    levels = filled(Device())

    assert levels.spill(1_000)
    assert (levels.device_bytes, levels.host_bytes) == (1_600, 1_600)
    assert not levels.spill(1_000)
    assert (levels.device_bytes, levels.host_bytes) == (800, 2_400)
    assert [int(levels.get(i)[0][0]) for i in range(4)] == [0, 1, 2, 3]


def test_not_beyond_what_the_host_has():
    levels = filled(Device(), host_bytes_max=900)

    assert not levels.spill(1_000)
    assert levels.host_bytes == 800


def test_there_is_nowhere_to_go_on_the_cpu():
    assert not filled(NumpyBackend()).spill(1)


def just_too_little(system, backend):
    """So many bytes that the search is cut short, and not with some per cent more."""
    enough = 1 << 30
    short = 1
    while enough > 1.02 * short:
        middle = int((enough * short) ** 0.5)
        if explore_vectorised(system, backend=backend, limits=Limits(memory=middle)).cut:
            short = middle
        else:
            enough = middle
    return short


def test_a_search_goes_on_with_its_levels_on_the_host():
    system = slice_system("dedup", {"store_dedup": "per_step"}, {"worker": 1})
    whole = explore_vectorised(system)
    spilled, stuck = Device(chunk_rows=512), NumpyBackend(chunk_rows=512)
    limits = Limits(memory=just_too_little(system, stuck))
    found, short = (explore_vectorised(system, backend=b, limits=limits) for b in (spilled, stuck))

    assert spilled.moved_out > 0
    assert summary(found) == summary(whole)
    assert short.cut
    assert short.states < whole.states
