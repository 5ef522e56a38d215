"""Several KV cache groups under vLLM's own scheduler: clean as specified, red for each old value of seed 003."""

import pytest

from interlock.adapters.gate import run_gate
from interlock.adapters.gate.choose import Chosen
from interlock.adapters.gate.drivers.vllm import VllmDriver
from interlock.adapters.gate.errors import GateUsageError
from interlock.adapters.gate.modules import GROUPS
from interlock.adapters.gate.modules.groups import DRAIN, POOLS, SETTLE, SHIM
from interlock.adapters.gate.run import Run, judge_module
from interlock.adapters.gate.scenario import Scenario
from interlock.proofs.replay.run import run_replay_as_written
from interlock.statemachine.trace import read_trace

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600), pytest.mark.xdist_group("gate groups")]

RELEASE = "0.32.0"
OLD_VALUES = [
    ("groups", "single", "stored-prompt-is-hit", 4),
    ("touch_order", "full", "useless-evicted-first", 3),
    ("touch_order", "reversed", "useless-evicted-first", 6),
    ("group_fences", "swapped", "group-store-source-stable", 2),
    ("group_fences", "swapped", "stored-chunk-is-of-its-key", 2),
    ("hit_count", "last", "hit-count-is-of-the-first-start", 7),
    ("hit_count", "unused", "first-hit-is-evicted-last", 7),
]
"""A switch, its old value, a property that this breaks, and within how many steps."""


@pytest.fixture(scope="module")
def driver():
    """One process for all searches."""
    with VllmDriver(SHIM, {}, RELEASE, tried=False) as made:
        yield made


def judged(driver, trace_dir=None, wanted=(), **sets):
    run = Run("interlock", "vllm", "quick", 0, 300.0, False, (), trace_dir, None)
    return judge_module(run, Chosen(GROUPS, sets, wanted), driver, RELEASE, 1)


def played(driver, pool, *operations, **sets):
    scenario = Scenario.of(pool, [*operations, *DRAIN])
    return driver.play(scenario, GROUPS.part(scenario, GROUPS.values(sets)))


def add(request, max_tokens=1):
    return {"op": "add", "request": request, "max_tokens": max_tokens}


STEP = {"op": "step"}


def test_as_specified_it_is_clean(driver):
    result = judged(driver)

    assert result.verdict == "clean", result.reason
    assert result.scenarios == 80
    for rule in (
        "returned-hit-is-longest", "stored-prompt-is-hit", "useless-evicted-first", "group-store-source-stable",
        "what-slides-out-was-in-the-table", "stored-chunk-is-of-its-key", "lookup-is-answered",
    ):  # fmt: skip
        assert result.rules[rule] > 5, rule
    assert "the GPU's prefix cache" in result.never_exercised


@pytest.mark.parametrize(("name", "old", "property_", "steps"), OLD_VALUES)
def test_an_old_value_is_found(driver, name, old, property_, steps, tmp_path):
    result = judged(driver, tmp_path, (property_,), **{name: old})

    assert result.verdict == "findings", result.reason
    assert {(f.property, f.side) for f in result.findings} == {(property_, "connector")}
    assert min(f.steps for f in result.findings) <= steps
    # The written trace shows the same to whoever replays it. What a chunk really holds, or the machine has counted, the
    # harness says.
    for finding in result.findings:
        if not finding.id.endswith((":chunk", ":count")):
            replayed = run_replay_as_written(read_trace(finding.trace), spec=GROUPS.spec)
            assert property_ in {v.property for v in replayed.violations}


@pytest.mark.parametrize("pool", POOLS)
def test_of_every_model_a_prompt_that_comes_again_is_loaded(driver, pool):
    result = played(driver, pool, add("A", 4), *SETTLE, *SETTLE, add("B"), *SETTLE)

    assert result.error is None
    assert result.faults == []
    assert result.owed == {}
    assert [e["event"] for e in result.events if e.get("r") == "B"][-2:] == ["load_done", "finish"]


def test_a_lookup_of_one_group_stops_the_engine_of_a_model_with_two(driver):
    result = played(driver, "full and window, ample", add("A"), STEP, groups="single")

    assert result.error["type"] == "UnsupportedGroups"
    assert result.error["side"] == "connector"


def test_a_store_that_is_not_fenced_saves_what_another_has_written(driver):
    operations = (add("A", 3), STEP, STEP, add("B", 3), STEP)
    assert not played(driver, "full and window, few blocks", *operations).faults

    faults = played(driver, "full and window, few blocks", *operations, group_fences="swapped").faults
    assert {f["kind"] for f in faults} == {"chunk"}
    assert faults[0]["expected"].endswith("of group 1")


def test_what_the_machine_counts_is_read_off_the_machine(driver):
    operations = [add("A"), *SETTLE, add("B", 4), *SETTLE, STEP, *SETTLE[1:], {"op": "reset"}, *SETTLE]
    pool = "full and window, few chunks"

    assert not played(driver, pool, *operations).faults
    assert {f["kind"] for f in played(driver, pool, *operations, hit_count="last").faults} == {"count"}


@pytest.mark.parametrize(
    ("switch", "value", "says"),
    [
        (
            "stale_zero",
            "no",
            r"nothing that the gate plays .* shows what stale_zero changes \(it gives a block up when",
        ),
        ("hit_pin", "none", r"what hit_pin changes \(vLLM looks up and allocates in one visit"),
        ("coverage", "load_wider", r"what coverage changes \(lookups and loads ask one function"),
        ("unknown_job", "contain", r"what unknown_job changes \(a surplus report stops vLLM's engine"),
        ("store_dedup", "per_step", "store_dedup is a switch of module kv"),
    ],
)
def test_a_switch_that_it_cannot_show_is_refused(switch, value, says):
    with pytest.raises(GateUsageError, match=says):
        run_gate(connector="interlock", engine="vllm", vllm=RELEASE, sets={switch: value}, modules=["groups"])


def test_each_switch_is_shown_or_has_a_reason_why_not():
    assert GROUPS.runs.isdisjoint(GROUPS.unshown)
    assert GROUPS.switches == GROUPS.runs | GROUPS.unshown.keys()


def test_between_a_lookup_and_what_comes_of_it_nothing_is_evicted(driver):
    """So what keeps a hit loadable until then (hit_pin) makes no difference."""
    hits = 0
    for scenario in GROUPS.play.seeds({}):
        events = driver.play(scenario, GROUPS.part(scenario, GROUPS.values({}))).events
        for n, e in enumerate(events):
            if e.get("action") == "match":
                ends = next(m for m in range(n + 1, len(events)) if events[m].get("r") == e["r"])
                hits += 1
                assert events[ends]["action"] in {"admit", "drop_hit"}
                assert "evict_oldest" not in {between["action"] for between in events[n:ends]}
    assert hits > 3


def test_a_finding_says_how_to_see_it_again():
    sets = {"group_fences": "swapped"}
    result = run_gate(
        connector="interlock", engine="vllm", vllm=RELEASE, sets=sets, properties=["stored-chunk-is-of-its-key"]
    )

    assert [m.module for m in result.modules] == ["groups"]
    (finding,) = result.findings
    assert "--engine vllm --vllm 0.32.0 --module groups --set group_fences=swapped" in finding.repro
    assert "holds" in finding.summary
