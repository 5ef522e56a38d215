"""The search keeps what it has seen, also when time runs out."""

from __future__ import annotations

import time

import pytest

from interlock.adapters.gate.judge import HANG, Judge, Judgement, Played
from interlock.adapters.gate.scenario import RELOAD, Scenario
from interlock.adapters.gate.search import Search

JUDGE = Judge(source="vllm")


def hangs(scenario: Scenario) -> Judgement:
    """Every scenario with a step ends in a time-out, which takes its time."""
    time.sleep(0.06)
    error = {"kind": "timeout", "message": "it hangs"} if scenario.steps else None
    return JUDGE(Played([], [], scenario.steps, error))


@pytest.mark.parametrize("seeds", [(), (RELOAD,)], ids=["drawn", "seed"])
def test_a_finding_is_kept_when_time_runs_out_while_it_is_made_shorter(seeds: tuple[Scenario, ...]) -> None:
    searched = Search(hangs, seed=0, count=50, seconds=1.0).run(seeds)
    (found,) = searched.found.values()
    assert searched.cut_short
    assert found.broken.property == HANG
    assert found.scenario.steps
