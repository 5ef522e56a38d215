"""Our KV machine under vLLM's own scheduler: jobs that fail, a step ahead, pressure and resets."""

import dataclasses

import pytest

from interlock.adapters.gate import run_gate
from interlock.adapters.gate.choose import Chosen
from interlock.adapters.gate.drivers.vllm import VllmDriver
from interlock.adapters.gate.modules import KV
from interlock.adapters.gate.modules.kv import SHIM
from interlock.adapters.gate.run import Run, judge_module
from interlock.adapters.gate.scenario import RELOAD, SETTLE, Scenario
from interlock.statemachine.trace import event

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600), pytest.mark.xdist_group("gate kv")]

RELEASE = "0.32.0"
FAIL, STEP, DONE = {"op": "fail", "nth": 0}, {"op": "step"}, {"op": "complete", "nth": 0}
BEGUN = RELOAD.plain()[: -2 * len(SETTLE)]
"""A prompt of two blocks has come back, as request D, and is about to be loaded."""


@pytest.fixture(scope="module")
def driver():
    """One process for all searches."""
    with VllmDriver(SHIM, {}, RELEASE, tried=False) as made:
        yield made


def judged(driver, module=KV, wanted=(), **sets):
    run = Run("interlock", "vllm", "quick", 0, 300.0, False, (), None, None)
    return judge_module(run, Chosen(module, sets, wanted), driver, RELEASE, 1)


def played(driver, pool, *operations):
    scenario = Scenario.of(pool, operations)
    result = driver.play(scenario, KV.part(scenario, KV.values({})))
    assert result.error is None
    assert result.faults == []
    return [event(i, e["event"], **{k: v for k, v in e.items() if k != "event"}) for i, e in enumerate(result.events)]


def of(events, request):
    """What is seen of a request, from its arrival on, and of jobs that fail."""
    begun = [str(e) for e in events].index(f"add_request(request={request})")
    return [e for e in events[begun:] if e.args.get("request") == request or e.event == "acknowledge_failure"]


def names(events):
    return [e.event for e in events]


def test_it_is_clean_and_was_not_idle(driver):
    result = judged(driver)

    assert result.verdict == "clean", result.reason
    least = {
        "preemptions": 20, "resets": 20, "failed loads": 8, "failed stores": 15, "aborts": 15, "flushes": 40,
        "evictions": 8, "a step ahead": 25, "loads": 15,
    }  # fmt: skip
    shares = {kind: 100 * count / result.scenarios for kind, count in result.exercised.items()}
    assert {kind: shares[kind] for kind, share in least.items() if shares[kind] < share} == {}
    for rule in ("a-failed-load-is-computed-instead", "a-request-looked-up-anew-holds-nothing"):
        assert result.rules[rule] > 5
    assert result.rules["no-block-stored-twice-in-flight"] > 100
    assert result.rules["finish-store-carries-no-open-block"]


@pytest.mark.parametrize("depth", ["depth 1", "depth 2"])
@pytest.mark.parametrize("nth", [0, 1])
def test_a_failed_load_is_computed_instead(driver, depth, nth):
    events = of(
        played(driver, f"tight_gpu, recompute, {depth}", *BEGUN, STEP, {**FAIL, "nth": nth}, DONE, *[STEP] * 5), "D"
    )
    loads = [e for e in events if e.event == "plan_load"]
    (lost,) = (e for e in events if e.event == "acknowledge_failure")
    (done,) = (n for n, e in enumerate(events) if e.event == "loaded")
    after = events[done:]

    assert lost.args["job"] == loads[nth].args["job"]
    # With nothing left of its load it loses all blocks and asks anew; else it goes on in those that it has.
    assert ("look_up_anew" in names(after)) is (nth == 0)
    assert "plan_load" not in names(after)
    assert names(after).count("publish") == 2
    assert names(after)[-1] == "finish"


@pytest.mark.parametrize("depth", ["depth 1", "depth 2"])
def test_under_the_policy_fail_the_request_ends_and_holds_its_blocks_until_its_loads_have_ended(driver, depth):
    events = of(played(driver, f"tight_gpu, fail, {depth}", *BEGUN, STEP, FAIL, STEP, STEP, DONE, STEP, STEP), "D")

    assert names(events)[-3:] == ["finish", "acknowledge_failure", "loaded"]
    assert not {"publish", "look_up_anew"} & set(names(events))


def test_a_store_that_fails_is_served_to_nobody(driver):
    first = [{"op": "add", "request": "A", "prompt": ["p"], "tail": 1, "max_tokens": 1}, STEP]
    again = [{**first[0], "request": "B"}, STEP]
    reset_of_the_gpu = [
        {"op": "add", "request": r, "prompt": [r, f"{r}2"], "tail": 1, "max_tokens": 1} for r in "XYZ"
    ]  # three prompts of two blocks fill the five that there are
    between = [o for a in reset_of_the_gpu for o in (a, *SETTLE)]

    stored = played(driver, "tight_gpu, fail, depth 1", *first, DONE, STEP, *between, *again)
    lost = played(driver, "tight_gpu, fail, depth 1", *first, FAIL, STEP, *between, *again)
    assert "plan_load" in names(of(stored, "B"))
    assert "plan_load" not in names(of(lost, "B"))


@pytest.mark.parametrize("worker", [0, 1])
@pytest.mark.parametrize("what", ["a load", "a store"])
def test_what_fails_on_one_of_two_workers_has_failed(driver, what, worker):
    """Whoever reports last, and whatever the other has copied."""
    first, second = ({**o, "worker": w} for w, o in sorted([(worker, FAIL), (1 - worker, DONE)], key=lambda x: x[0]))
    ends = [first, STEP, second, STEP]
    pool = "tight_gpu, recompute, depth 1, 2 workers"
    if what == "a load":
        events = of(played(driver, pool, *BEGUN, STEP, *ends, DONE, *[STEP] * 5), "D")
        assert names(events).count("acknowledge_failure") == 1
        assert names(events).count("publish") == 2
        assert names(events)[-1] == "finish"
    else:
        add = {"op": "add", "request": "A", "prompt": ["p"], "tail": 1, "max_tokens": 4}
        passing = [{**add, "request": r, "prompt": [r, f"{r}2"], "max_tokens": 1} for r in "XYZ"]
        then = [STEP, STEP, *(o for a in passing for o in (a, *SETTLE)), {**add, "request": "B"}, STEP]
        lost = played(driver, pool, add, STEP, *ends, *then)
        kept = played(driver, pool, add, STEP, DONE, STEP, STEP, *then)
        assert "plan_load" not in names(of(lost, "B"))
        assert "plan_load" in names(of(kept, "B"))


def test_with_a_step_ahead_the_second_is_scheduled_before_the_first_is_heard_of(driver):
    add = {"op": "add", "request": "A", "prompt": ["p"], "tail": 1, "max_tokens": 2}
    synchronous = names(played(driver, "ample, fail, depth 1", add, STEP, DONE, STEP, STEP))
    ahead = names(played(driver, "ample, fail, depth 2", add, STEP, DONE, STEP, STEP))

    assert synchronous[: synchronous.index("acknowledge")].count("build_connector_meta") == 2
    assert ahead[: ahead.index("acknowledge")].count("build_connector_meta") == 3


def test_a_choice_of_the_user_is_played_alone(driver):
    result = judged(driver, pipeline="one", load_failure_policy="fail")

    assert result.verdict == "clean", result.reason
    assert "a step ahead" not in result.exercised
    assert result.exercised["lookups anew after a failed load"] == 0
    assert result.exercised["failed loads"] > 10


def test_scenarios_that_are_idle_are_not_called_clean(driver):
    """Of the promised kinds, those with which no scenario was."""
    idle = dataclasses.replace(KV.own, seeds=lambda sets: [], scenarios=KV.play.scenarios)
    result = judged(driver, dataclasses.replace(KV, own=idle))

    assert result.verdict == "inconclusive"
    assert result.reason.startswith("300 scenarios, and none with ")
    assert "failed loads, failed stores" in result.reason
    assert "aborts" not in result.reason


def test_pipeline_is_a_switch_of_both_modules_that_obey_it():
    result = run_gate(
        connector="interlock", engine="vllm", vllm=RELEASE, sets={"pipeline": "two"}, budget=200,
        properties=["connector-does-not-raise", "held-block-is-used"],
    )  # fmt: skip

    assert [m.module for m in result.modules] == ["kv", "engine"]
    kv = result.modules[0]
    assert kv.exercised["a step ahead"] == kv.scenarios
