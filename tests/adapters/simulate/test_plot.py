"""The picture of a simulation can be read."""

from itertools import pairwise

import pytest
from support.workloads import SMALL

from interlock.adapters.simulate.plot import figure_of, plot
from interlock.adapters.simulate.run import WITH, WITHOUT, Asked, SimulateResult, run_simulate

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def result() -> SimulateResult:
    return run_simulate(Asked(workload=SMALL["shared-prompts"], gpu_blocks=100, cpu_blocks=2000, requests=40))


def boxes(figure, axis):
    renderer = figure.canvas.get_renderer()
    low, high = sorted(axis.get_view_interval())
    shown = [t for t in axis.get_major_ticks() if low <= t.get_loc() <= high]
    return [t.label1.get_window_extent(renderer) for t in shown]


def test_it_is_a_png(result):
    assert plot(result).startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    "times_s", [(0.021, 0.024), (0.02, 0.04), (0.037, 0.6), (0.02, 1.5), (0.001, 30.0), (4.0, 9.0)]
)
def test_labels_of_times_are_beside_each_other(result, times_s, monkeypatch):
    monkeypatch.setattr(result, "first_token_s", {WITHOUT: list(times_s), WITH: list(times_s)})

    figure = figure_of(result)
    figure.draw_without_rendering()
    times, tokens = figure.axes
    found = boxes(figure, times.xaxis)

    assert len(found) >= 2
    assert times.xaxis.get_minorticklabels() == []
    assert all(left.x1 < right.x0 for left, right in pairwise(found))
    assert len(boxes(figure, tokens.yaxis)) == 2
