"""Requests that hold blocks for loads, on the real scheduler of vLLM 0.32.0: who is visited first, and who waits for ever.

What module `admission` claims of `promotion_scan=holders_by_priority`, under each value of `full_sequence_fits`.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.counterexamples import Judge

from interlock.adapters.vllm.environment import ensure_requirements
from interlock.adapters.vllm.launch import interlock_path
from interlock.adapters.vllm.releases import fetch
from interlock.spec.admission import SPECIFICATION

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]

PRESET = "vllm-0.32.0/OffloadingConnector"

# Name, blocks of the prompt, of these in the tier, priority (the smaller, the more urgent), time of arrival.
PART, WHOLE = ("A", 2, 1, 1, 1.0), ("A", 2, 2, 1, 1.0)
URGENT = ("B", 4, 1, 0, 2.0)
CASES = {
    "no": {"blocks": 4, "requests": [PART, URGENT], "full_sequence": False},
    "first_step": {"blocks": 4, "requests": [PART, URGENT], "full_sequence": True},
    "tokens": {"blocks": 6, "requests": [WHOLE, URGENT], "full_sequence": True, "speculation": 1},
    "fcfs": {"blocks": 6, "requests": [WHOLE, URGENT], "full_sequence": True, "speculation": 1, "policy": "fcfs"},
}


@pytest.fixture(scope="module")
def outcomes():
    path = [str(fetch("0.32.0")), str(Path(__file__).parent), *interlock_path()]
    finished = subprocess.run(
        [str(ensure_requirements()), "-m", "holders"],
        input=json.dumps(list(CASES.values())),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    return dict(zip(CASES, map(json.loads, finished.stdout.splitlines()), strict=True))


@pytest.mark.parametrize(("case", "free"), [("no", 2), ("tokens", 3)])
def test_the_most_urgent_holder_does_not_fit_and_the_other_is_not_reached(outcomes, case, free):
    """Both loads have ended and blocks are free; A could run in them, and nothing is ever scheduled."""
    outcome = outcomes[case]
    assert outcome["scheduled"] == []
    assert outcome["status"] == {"A": "WAITING_FOR_REMOTE_KVS", "B": "WAITING"}
    assert outcome["free"] == free


@pytest.mark.parametrize("case", ["first_step", "fcfs"])
def test_where_each_did_fit_or_they_stand_as_they_came_both_run(outcomes, case):
    """Without speculation all tokens are all that the first step takes."""
    outcome = outcomes[case]
    assert outcome["scheduled"] == ["A", "B"]
    assert set(outcome["status"].values()) == {"FINISHED_LENGTH_CAPPED"}


def test_only_speculation_looks_ahead(outcomes):
    assert {name: outcome["lookahead"] for name, outcome in outcomes.items()} == {
        "no": 0, "first_step": 0, "tokens": 1, "fcfs": 1,
    }  # fmt: skip


@pytest.mark.parametrize("case", ["no", "tokens", "first_step"])
def test_the_model_says_the_same(outcomes, case):
    judge = Judge(SPECIFICATION)
    holds = judge.holds(
        "pressure_mixed", "loading-request-runs", preset=PRESET, scheduling_policy="priority", full_sequence_fits=case
    )
    assert holds == bool(outcomes[case]["scheduled"])
