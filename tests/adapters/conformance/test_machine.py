"""The conformance suite on our own machine: it conforms, a switch that is flipped does not, and mutants do not."""

import time

import pytest

from interlock.adapters.conformance import machine
from interlock.adapters.conformance.run import run_conformance
from interlock.proofs.replay import run_replay_as_written
from interlock.statemachine.offload.flushes import Flushes
from interlock.statemachine.offload.running import Running


def test_the_machine_conforms_in_a_small_slice(tmp_path):
    started = time.process_time()
    result = run_conformance(slices=["tiny"], trace_dir=tmp_path)

    assert (result.verdict, result.failures) == ("holds", [])
    (tiny,) = result.slices
    assert tiny.covered >= 0.94 * tiny.expressible
    assert all(u.why for u in tiny.uncovered)
    assert tiny.covered + sum(u.edges for u in tiny.uncovered) == tiny.edges
    assert time.process_time() - started < 30
    traces = sorted(tmp_path.glob("tiny.*.jsonl"))
    assert len(traces) == tiny.traces
    assert {run_replay_as_written(t).verdict for t in traces} == {"holds"}


@pytest.mark.slow
def test_19_of_20_edges_are_covered_where_the_slice_has_room():
    """With a second job the slice has room for what the machine plans while the first is not forgotten."""
    result = run_conformance(slices=["tiny"], scope={"job": 2})

    (tiny,) = result.slices
    assert not result.failures
    assert tiny.covered >= 0.95 * tiny.expressible


@pytest.mark.parametrize(
    ("slice_", "switch", "value", "failure"),
    [
        ("dedup", "store_dedup", "per_step", "forbidden:plan_store:not-in-flight"),
        ("tiny", "idle", "none", "forbidden:build_connector_meta:last-jobs-are-flushed"),
        ("reset", "kv_reset", "ignored", "forbidden:build_connector_meta:fenced-are-flushed"),
        ("store", "source_hold", "pin", "refused:build_connector_meta:IllegalTransition"),
        ("busy", "match_busy", "proceed", "forbidden:plan_load:no-store-is-open"),
    ],
)
def test_a_flipped_switch_is_noticed(slice_, switch, value, failure, tmp_path):
    """Flipped in what the machine runs; the graph is that of the default preset."""
    result = run_conformance(slices=[slice_], sets={switch: value}, trace_dir=tmp_path)
    found = {f.id: f for f in result.failures}

    assert result.verdict == "violated"
    assert failure in found
    replayed = run_replay_as_written(found[failure].trace)
    if found[failure].kind == "forbidden":
        assert replayed.verdict == "violated"
        assert replayed.longest_prefix == replayed.events - 1  # what it is about is the last event
    else:
        assert replayed.verdict == "holds"  # what was refused is allowed


@pytest.mark.parametrize(("part", "name"), [(Flushes, "order"), (Running, "publish"), (Flushes, "order_last")])
def test_a_machine_that_leaves_something_out_is_noticed(part, name, monkeypatch):
    """A mutant of the code: the specification is as it was, so the traces notice, or the coverage does."""
    whole = run_conformance(slices=["tiny"]).slices[0].covered
    monkeypatch.setattr(part, name, lambda self, *_: None)
    result = run_conformance(slices=["tiny"])

    assert result.verdict == "violated" or result.slices[0].covered < 0.8 * whole


def test_more_than_the_budget_is_inconclusive():
    result = run_conformance(slices=["store"], budget=0.0)

    assert result.verdict == "inconclusive"
    assert "--budget" in result.reason
    assert any(not u.why for u in result.slices[0].uncovered)


def test_a_fault_of_the_driver_is_no_refusal(monkeypatch):
    monkeypatch.setattr(machine, "_numbers", None)

    with pytest.raises(TypeError, match="not callable"):
        run_conformance(slices=["tiny"])
