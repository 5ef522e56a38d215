"""`interlock bench machine`: what it comes to, and a small measurement on a real scheduler."""

import json

import pytest

from interlock.adapters.bench.hooks import (
    CONNECTORS,
    GROUPS_CONTEXTS,
    GROUPS_HOOKS,
    HOOKS,
    OURS,
    BenchMachineResult,
    Connector,
)
from interlock.adapters.cli.main import main
from interlock.adapters.vllm.hook_times import Workload

WORKLOAD = Workload(requests=2, prompt=64, decode_steps=16)


def connector(name, seconds, stored=10, loaded=8):
    phases = {phase: {"hooks": {}, "steps": 1, "schedule_per_step": 1.0} for phase, *_ in HOOKS.values()}
    for phase, hooks, _ in HOOKS.values():
        phases[phase]["hooks"][hooks[0]] = {"calls": 1, "per_call": seconds, "per_step": seconds, "total": seconds}
    run = {"phases": phases, "blocks_stored": stored, "blocks_loaded": loaded, "grown_mib": 1.0}
    return Connector(
        name,
        [run],
        {4096: 1.0, 16_384: 1.0, 65_536: 1.0, 131_072: 1.5},
        {1: 1.0, 8: 2.0, 32: 5.0, 128: 255.0},
        {4096: {"build metadata, decode": 2.0}, 16_384: {}, 32_768: {"build metadata, decode": 5.0}},
    )


def result(*connectors):
    return BenchMachineResult("0.32.0", WORKLOAD, list(connectors))


def all_of(**changes):
    return [connector(name, 1.0 if name == OURS else 4.0, **changes.get(name, {})) for name in CONNECTORS]


def test_ratios_are_ours_over_each_peer():
    found = result(*all_of())
    assert found.build_meta_ratio == {"OffloadingConnector": 0.25, "SimpleCPUOffloadConnector": 0.25}
    assert found.verdict == "agree"


@pytest.mark.parametrize(("stored", "loaded", "says"), [(11, 8, "store the same"), (10, 5, "load the same")])
def test_speeds_of_connectors_that_do_not_move_the_same_are_not_compared(stored, loaded, says):
    found = result(*all_of(OffloadingConnector={"stored": stored, "loaded": loaded}))
    assert found.verdict == "disagree"
    assert says in found.reason


def test_a_connector_may_leave_out_a_block_of_each_request():
    assert result(*all_of(OffloadingConnector={"loaded": 10})).verdict == "agree"


def test_what_a_further_change_costs_is_the_slope_between_the_fewest_and_the_most():
    assert connector(OURS, 1.0).seconds_per_change == 2.0
    assert Connector(OURS, by_changes={1: 1.0, 8: 2.0}).seconds_per_change is None


def test_not_every_number_of_changes_is_inconclusive():
    some = all_of()
    some[0].by_changes.pop(32)
    assert (result(*some).verdict, result(*some).reason[-19:]) == ("inconclusive", "change was measured")


def test_how_cost_grows_with_several_groups_is_the_longest_context_over_the_shortest():
    assert connector(OURS, 1.0).groups_ratio == 2.5
    assert Connector(OURS, with_groups={4096: {"build metadata, decode": 1.0}}).groups_ratio is None


def test_not_every_context_with_several_groups_is_inconclusive():
    some = all_of()
    some[0].with_groups.pop(16_384)
    assert (result(*some).verdict, "several KV cache groups" in result(*some).reason) == ("inconclusive", True)


def test_an_interrupted_measurement_is_inconclusive():
    assert result(*all_of()[:2]).verdict == "inconclusive"
    assert result().verdict == "inconclusive"


@pytest.mark.slow
def test_a_small_measurement_for_real(tmp_path, capsys):
    file = tmp_path / "bench.json"
    argv = ["--requests", "2", "--prompt", "64", "--decode-steps", "16", "--rounds", "1", "--json", str(file)]
    assert main(["bench", "machine", *argv]) == 0

    document = json.loads(file.read_text())
    assert document["schema"] == "interlock.bench-machine/1"
    assert {c["name"]: c["blocks_stored"] for c in document["connectors"]} == dict.fromkeys(CONNECTORS, 10)
    assert set(document["build_meta_ratio"]) == {"OffloadingConnector", "SimpleCPUOffloadConnector"}
    assert all(set(c["by_changes"]) == {"1", "8", "32", "128"} for c in document["connectors"])
    for measured in document["connectors"]:
        assert {tokens: set(of) for tokens, of in measured["with_groups"].items()} == {
            str(tokens): set(GROUPS_HOOKS) for tokens in GROUPS_CONTEXTS
        }
        # In each of 128 steps one of 16 requests fills a block of the full group, and one of the window, which not all
        # store; those of the last step of prefilling may come with the first of decoding.
        stored = measured["stored_with_groups"].values()
        assert all(128 <= s <= 128 + 32 if measured["name"] == "OffloadingConnector" else s >= 256 for s in stored)
    out = capsys.readouterr().out
    assert "build metadata, decode" in out
    assert "full and sliding-window group, 16 requests" in out
