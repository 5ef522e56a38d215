"""Our machine of encoder caches under vLLM's own scheduler: clean as specified, red for each old value that it can show."""

import pytest

from interlock.adapters.gate.choose import Chosen
from interlock.adapters.gate.drivers.vllm import VllmDriver
from interlock.adapters.gate.modules import ENCODER
from interlock.adapters.gate.modules.encoder import DEADLINE, DRAIN, SHIM
from interlock.adapters.gate.run import Run, judge_module
from interlock.adapters.gate.scenario import Scenario
from interlock.proofs.replay.run import run_replay_as_written
from interlock.statemachine.trace import read_trace

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600), pytest.mark.xdist_group("gate encoder")]

RELEASE = "0.32.0"
OLD_VALUES = [
    ("ec_gate", "none", "encoder-item-never-read-in-transit"),
    ("ec_gate", "none", "forward-reads-its-items"),
    ("ec_gate", "waiting_only", "goes-on-only-with-its-items-there"),
    ("ec_gate", "waiting_only", "forward-reads-its-items"),
    ("ec_external", "assumed", "forward-reads-its-items"),
    ("ec_waiting_refs", "kept", "deferred-holds-nothing"),
    ("ec_deadline", "none", "encoder-deferral-ends"),
    ("ec_finish_delay", "asked", "ended-requests-give-kv-back"),
]


@pytest.fixture(scope="module")
def driver():
    """One process for all searches."""
    with VllmDriver(SHIM, {}, RELEASE, tried=False) as made:
        yield made


def judged(driver, trace_dir=None, wanted=(), **sets):
    run = Run("interlock", "vllm", "quick", 0, 120.0, False, (), trace_dir, None)
    return judge_module(run, Chosen(ENCODER, sets, wanted), driver, RELEASE, 1)


def played(driver, pool, *operations, **sets):
    scenario = Scenario.of(pool, [*operations, *DRAIN])
    return driver.play(scenario, ENCODER.part(scenario, ENCODER.values(sets)))


def add(request, *images, here=True, max_tokens=1):
    return {"op": "add", "request": request, "images": list(map(list, images)), "here": here, "max_tokens": max_tokens}


def test_as_specified_it_is_clean(driver):
    result = judged(driver)

    assert result.verdict == "clean", result.reason
    assert result.scenarios == 80
    for rule in (
        "answer-is-about-future-features",
        "deferred-keeps-its-place",
        "gives-up-only-what-holds-a-request-up",
    ):
        assert result.rules[rule] > 5
    assert result.rules["preempted-request-is-queued-first"]
    assert result.rules["only-given-up-requests-fail"]


@pytest.mark.parametrize(("name", "old", "property_"), OLD_VALUES, ids=[f"{n}={o}-{p}" for n, o, p in OLD_VALUES])
def test_an_old_value_is_found(driver, name, old, property_, tmp_path):
    result = judged(driver, tmp_path, (property_,), **{name: old})

    assert result.verdict == "findings", result.reason
    found = {f.id: f for f in result.findings}
    assert {(f.property, f.side) for f in found.values()} == {(property_, "connector")}
    assert min(f.steps for f in found.values()) <= 8
    # The written trace shows the same to whoever replays it. What a forward really read, and that nothing changes
    # any more, the harness says.
    for finding in found.values():
        if not finding.id.endswith((":item", ":rest")):
            replayed = run_replay_as_written(read_trace(finding.trace), spec=ENCODER.spec)
            assert property_ in {v.property for v in replayed.violations}


def test_a_forward_that_reads_an_item_in_transit_finds_nothing(driver):
    """The content oracle, without any replay."""
    request = add("A", ["x", 4])
    assert not played(driver, "ample", request, {"op": "step"}).faults

    old = played(driver, "ample", request, {"op": "step"}, ec_gate="none")
    assert [(f["kind"], f["expected"], f["found"]) for f in old.faults][:1] == [("item", "x", None)]


def test_a_text_request_is_scheduled_past_one_that_waits_for_its_image(driver):
    events = played(driver, "ample", add("A", ["x", 4]), add("T"), {"op": "step"}).events
    first = [(e.get("action"), e.get("r")) for e in events if e["step"] == 1]

    assert ("defer", "A#0") in first
    assert ("admit", "T#1") in first


@pytest.mark.parametrize(("here", "ends_by"), [(True, "encode"), (False, "fail_unavailable")])
def test_a_transfer_that_never_ends_holds_a_request_up_until_the_deadline(driver, here, ends_by):
    steps = [{"op": "step"}] * 6
    scenario = Scenario.of("ample", [add("A", ["x", 4], here=here), *steps])
    events = driver.play(scenario, ENCODER.part(scenario, ENCODER.values({}))).events
    actions = [e["action"] for e in events if e.get("action")]

    assert actions.count("defer") == DEADLINE + 1  # the first no, and the schedules until its time is up
    assert actions.index("expire") < actions.index(ends_by)
    assert ("encode" in actions) is here
