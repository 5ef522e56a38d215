"""Recovery from failed loads on vLLM's own scheduler: clean as specified, red for each old value that it can show."""

import pytest

from interlock.adapters.gate import run_gate
from interlock.adapters.gate.choose import Chosen
from interlock.adapters.gate.drivers.vllm import VllmDriver
from interlock.adapters.gate.modules import ENGINE
from interlock.adapters.gate.modules.engine import PROBE
from interlock.adapters.gate.run import Run, judge_module
from interlock.adapters.gate.scenario import Scenario
from interlock.proofs.replay.run import run_replay_as_written
from interlock.statemachine.trace import read_trace

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600), pytest.mark.xdist_group("gate recovery")]

RELEASE = "0.32.0"
OLD_VALUES = {
    "recovery_base=cached_tokens": "no-token-from-invalid-block",
    "recovery_base=computed_minus_scheduled": "computed-within-valid-prefix",
    "invalid_hash=keep": "no-token-from-invalid-block",
    "invalid_scan=running_and_loading": "no-token-from-invalid-block",
    "shared_recompute=trusted": "no-token-from-invalid-block",
    "cached_count=frozen": "external-within-cached-within-prompt",
}


@pytest.fixture(scope="module")
def driver():
    """One process for all searches."""
    with VllmDriver(PROBE, {}, RELEASE, tried=False) as made:
        yield made


def judged(driver, trace_dir=None, wanted=(), **sets):
    run = Run("interlock", "vllm", "quick", 0, 120.0, False, (), trace_dir, None)
    return judge_module(run, Chosen(ENGINE, sets, wanted), driver, RELEASE, 1)


def test_as_specified_it_is_clean_under_both_policies(driver):
    result = judged(driver)

    assert result.verdict == "clean", result.reason
    assert result.scenarios == 80
    for rule in ("a-claim-is-of-an-invalid-block", "a-sharer-keeps-what-was-processed", "failed-block-is-not-filled"):
        assert result.rules[rule] > 5
    assert "only-scheduled-blocks-are-parked" in result.rules  # with a step ahead


@pytest.mark.parametrize("policy", ["recompute", "fail"])
def test_a_policy_can_be_chosen(driver, policy):
    result = judged(driver, load_failure_policy=policy)

    assert result.verdict == "clean", result.reason
    assert ("a-claim-is-of-an-invalid-block" in result.rules) == (policy == "recompute")


def test_the_base_of_the_seed_is_right_at_depth_1_and_wrong_at_depth_2(driver, tmp_path):
    """Beyond what the step at hand computes, it counts what the one after it does."""
    seed = {"recovery_base": "computed_minus_scheduled"}
    overlapped = judged(driver, tmp_path, ("computed-within-valid-prefix",), **seed, pipeline="two")

    assert judged(driver, **seed, pipeline="one").verdict == "clean"
    (finding,) = overlapped.findings
    events = read_trace(finding.trace).events
    assert {e.args["t"] for e in events if e.event == "dispatch"} == {"0", "1"}


@pytest.mark.parametrize("old", OLD_VALUES)
def test_an_old_value_is_found(driver, old, tmp_path):
    name, _, value = old.partition("=")
    result = judged(driver, tmp_path, (OLD_VALUES[old],), **{name: value})

    assert result.verdict == "findings", result.reason
    finding = result.findings[0]
    assert {f.property for f in result.findings} == {OLD_VALUES[old]}
    assert (finding.property, finding.side) == (OLD_VALUES[old], "connector")
    assert finding.steps <= 6
    # The written trace shows the same to whoever replays it.
    replayed = run_replay_as_written(read_trace(finding.trace), spec=ENGINE.spec)
    assert OLD_VALUES[old] in {v.property for v in replayed.violations}


def played(driver, *operations, pool="ample, recompute, depth 1", **sets):
    scenario = Scenario.of(pool, operations)
    return driver.play(scenario, ENGINE.part(scenario, ENGINE.values(sets)))


def told(result):
    return [(e["action"], e.get("r"), e.get("b")) for e in result.events]


ADD_A, ADD_B = ({"op": "add", "request": n, "max_tokens": 3} for n in "AB")
STEP, FAILING_STEP = {"op": "step"}, {"op": "step", "fails": 0}
TIER = {"op": "tier", "has": 1, "waits": False}


def test_a_block_that_is_computed_again_can_be_found_again(driver):
    events = told(played(driver, TIER, ADD_A, FAILING_STEP, STEP, ADD_B, STEP))
    (block,) = {b for action, _, b in events if action == "sync_block_fails"}

    again = [("claim", "A", block), ("compute_held", "A", block), ("hit", "B", block)]
    assert [e for e in events if e in again] == again


def test_whoever_is_left_with_a_wrong_block_computes_it(driver):
    abort = {"op": "abort", "request": "A"}
    result = played(driver, TIER, ADD_A, ADD_B, FAILING_STEP, abort, *[STEP] * 6)

    assert [e[:2] for e in told(result) if e[0] in ("claim", "keep_base", "take_over")] == [
        ("claim", "A"), ("keep_base", "B"), ("take_over", "B"),
    ]  # fmt: skip
    assert result.owed == {}  # all is over, and nobody waits
    assert ("finish", "B", None) in told(result)


def test_under_the_policy_fail_every_holder_of_the_block_ends(driver):
    result = played(driver, TIER, ADD_A, ADD_B, FAILING_STEP, STEP, pool="ample, fail, depth 1")

    assert [e[:2] for e in told(result) if e[0] == "fail_running"] == [("fail_running", "A"), ("fail_running", "B")]


def test_a_finding_says_how_to_see_it_again():
    sets = {"recovery_base": "cached_tokens"}
    result = run_gate(connector="interlock", engine="vllm", vllm=RELEASE, sets=sets, seed=3)

    assert [m.module for m in result.modules] == ["engine"]
    found = {f.property: f for f in result.findings}
    assert "computed-within-valid-prefix" in found
    finding = found["no-token-from-invalid-block"]
    assert "--engine vllm --vllm 0.32.0 --module engine --set recovery_base=cached_tokens" in finding.repro
    assert any("block that it loads fails" in line for line in finding.scenario)
    assert any(line.startswith("[sync_block_fails") for line in finding.told)  # our own doing, seen by nobody
