"""Recovery beside the real scheduler of vLLM 0.32.0, on the same failed loads.

With the values of that release our answer is its answer; with our own values it differs where the release is wrong, and
nowhere else.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from interlock.adapters.vllm.environment import ensure_requirements
from interlock.adapters.vllm.launch import interlock_path
from interlock.adapters.vllm.releases import fetch
from interlock.spec.engine import SPECIFICATION
from interlock.statemachine.recovery import Group, HeldRequest, LoadRecovery, LoadReport

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]

RELEASE = "0.32.0"
CASES = [
    {"seed": seed, "policy": policy, "depth": depth, "loads": loads}
    for policy in ("recompute", "fail")
    for depth in (1, 2)
    for loads, seeds in (("sync", 100), ("both", 60))
    for seed in range(seeds)
]
LATE = [{"seed": 0, "policy": policy, "loads": "late"} for policy in ("recompute", "fail")]
STATUS = {"RUNNING": "running", "WAITING_FOR_REMOTE_KVS": "loading", "WAITING": "promoted"}


@pytest.fixture(scope="module")
def played():
    """Every record of all cases, and those of the late reports."""
    path = [str(fetch(RELEASE)), str(Path(__file__).parent), *interlock_path()]
    finished = subprocess.run(
        [str(ensure_requirements()), "-m", "load_failures"],
        input=json.dumps([*CASES, *LATE]),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    lines = [json.loads(line) for line in finished.stdout.splitlines()]
    assert len(lines) == len(CASES) + len(LATE)
    return [record for line in lines[: len(CASES)] for record in line], [line[0] for line in lines[len(CASES) :]]


def recovered(record, preset):
    """What our recovery makes of what the scheduler had."""
    case = record["case"]
    pipeline = "one" if case["depth"] == 1 else "two"
    values = SPECIFICATION.switch_values(preset, {"load_failure_policy": case["policy"], "pipeline": pipeline})
    recovery = LoadRecovery(groups=(Group(record["block_size"]),), switches=values)
    requests = [
        HeldRequest(
            r["name"], [r["table"]], r["computed"], r["prompt"], STATUS[r["status"]], scheduled=tuple(r["scheduled"])
        )
        for r in record["before"]
    ]
    assert [q.num_in_flight_tokens for q in requests] == [r["in_flight"] for r in record["before"]]
    return recovery.take_report(LoadReport(record["invalid"], (), record["scheduled"]), requests)


def counts(record, ours):
    """Computed and in-flight tokens of each request afterwards, by us; those that have failed are not there."""
    found = {}
    for r in record["before"]:
        done = ours.rollbacks.get(r["name"])
        if done is None:
            found[r["name"]] = (r["computed"], r["in_flight"] - r["scheduled"][0])
        elif not done.ends:
            # What the processed step had in flight has arrived, whether it is delivered or not.
            found[r["name"]] = (done.num_computed_tokens, done.num_in_flight_tokens)
    return found


def their_counts(record):
    """The same by the release; those that have failed and are held for their load are left out."""
    holding = {r["name"] for r in record["before"]}
    return {
        n: (computed, in_flight)
        for n, (status, computed, in_flight) in record["after"].items()
        if n in holding and not status.startswith("FINISHED")
    }


def delivered(record, ours):
    """Requests that get a token of the processed step, by us; one that failed before gets none."""
    alive = {r["name"] for r in record["before"]}
    dropped = {n for n, done in ours.rollbacks.items() if 0 in done.dropped}
    return sorted((alive & set(record["samples"])) - dropped)


def test_with_the_values_of_the_release_it_does_what_the_release_does(played):
    records, _ = played
    assert len(records) > 300
    kinds = set()
    for record in records:
        ours = recovered(record, "vllm-0.32.0")
        kinds |= {done.action for done in ours.rollbacks.values()}

        assert counts(record, ours) == their_counts(record), record
        assert delivered(record, ours) == record["delivered"], record
        evicted = set(record["unhashed"])
        if record["case"]["policy"] == "recompute":
            assert ours.unhashed == evicted == set(), record
    assert kinds == {"claim", "keep_base", "recover_loading", "fail_running", "fail_loading"}


def test_at_depth_one_ours_differs_by_hashes_only(played):
    """D1. The release keeps the hash of a block that it is to compute again, and of what was computed from it."""
    kept = 0
    for record in played[0]:
        if record["case"]["depth"] == 1:
            ours = recovered(record, "interlock")
            assert {n: c for n, (c, _) in counts(record, ours).items()} == {
                n: c for n, (c, _) in their_counts(record).items()
            }
            assert delivered(record, ours) == record["delivered"]
            mine = ours.unhashed & set(record["hashed"])
            assert set(record["unhashed"]) <= mine
            assert set(record["invalid"]) & set(record["hashed"]) <= mine
            kept += record["case"]["policy"] == "recompute" and bool(mine)
    assert kept > 20


def test_when_several_fail_for_one_block_the_release_keeps_what_the_others_computed_from_it(played):
    """Not in the contract's list: under the policy fail only the first holder's later blocks lose their hash.

    And a bad block that nobody holds any more keeps its own.
    """
    left, unowned = [], []
    for record in played[0]:
        if record["case"]["policy"] == "fail":
            ours = recovered(record, "interlock")
            mine = ours.unhashed & set(record["hashed"])
            owned = {b for r in record["before"] for b in r["table"]}
            extra = mine - set(record["unhashed"])
            unowned += extra - owned
            assert extra - owned <= set(record["invalid"])
            extra &= owned
            failed = [r for r in record["before"] if r["name"] in ours.rollbacks]
            if extra and record["case"]["loads"] == "sync":
                sharers = [r for r in failed[1:] if extra & set(r["table"])]
                assert extra <= {b for r in sharers for b in r["table"]}
                assert all(set(r["table"]) & set(record["invalid"]) for r in sharers)
                left.append(record)
    assert left
    assert unowned


def test_at_depth_two_the_release_counts_tokens_of_the_step_after(played):
    """A sharer keeps what is in flight, and the token that comes of it is delivered (D2)."""
    too_many, later = [], []
    for record in played[0]:
        if record["case"]["depth"] == 2 and record["case"]["policy"] == "recompute":
            ours = recovered(record, "interlock")
            theirs = their_counts(record)
            for name, done in ours.rollbacks.items():
                if done.num_computed_tokens == theirs[name][0]:
                    continue
                assert done.action == "keep_base"
                (before,) = (r for r in record["before"] if r["name"] == name)
                assert theirs[name][0] - done.num_computed_tokens == before["scheduled"][1]
                too_many.append(record)
            for name, done in ours.rollbacks.items():
                if 1 in done.dropped and name in record.get("next", {}).get("delivered", ()):
                    later.append(record)
    assert too_many
    assert later


def test_a_late_report_reaches_a_promoted_request_with_us_only(played):
    """D8. The release does not look at it, and delivers the token that it computes from the bad block."""
    for record in played[1]:
        (before,) = record["before"]
        assert before["status"] == "WAITING"
        assert before["table"][0] in record["invalid"]
        assert record["after"]["late"][1] == before["computed"]
        assert record["next"]["delivered"] == ["late"]

        assert recovered(record, "vllm-0.32.0").rollbacks == {}
        done = recovered(record, "interlock").rollbacks["late"]
        assert (done.action, done.num_computed_tokens) in {("claim", 0), ("fail_running", 0)}
