"""The conformance suite on our own machine: it conforms, a switch that is flipped does not, and mutants do not."""

import time

import pytest
from support.labels import STEP, labels

from interlock.adapters.conformance import machine
from interlock.adapters.conformance.driver import Seen
from interlock.adapters.conformance.judge import Judge
from interlock.adapters.conformance.machine import MachineDriver
from interlock.adapters.conformance.run import run_conformance
from interlock.proofs.conformance.observed import Label, ObservedGraph
from interlock.proofs.replay import run_replay_as_written
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.flushes import Flushes
from interlock.statemachine.offload.running import Running

FLUSHED = labels(
    "add_request r0", "allocate b0 r0", "allocate b1 r0", "publish b0 h0 r0", "publish b1 h0 r0",
    "plan_store b0 c0 j0 r0", "plan_store b1 c1 j1 r0", *STEP, "acknowledge j0", "finish r0", "order_flush j1", *STEP,
)  # fmt: skip
"""A request has ended, one of its stores is in the tier, and one is open."""


def played(events: list[Label], *, takes_all: bool = False) -> list[Seen]:
    """What our machine shows of a trace."""

    def make(block_size: int) -> KVOffloadScheduler:
        return KVOffloadScheduler(block_size=block_size, num_chunks=2, num_workers=1)

    driver = MachineDriver(make)
    driver._plays = 2 if takes_all else 0
    return [s for told in driver.play(events) for s in told]


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


@pytest.mark.parametrize("slice_", [s.name for s in SPECIFICATION.slices if s.default])
def test_a_sample_of_the_edges_of_every_slice_shows_no_difference(slice_):
    result = run_conformance(slices=[slice_], sample=8)

    (coverage,) = result.slices
    assert result.failures == []
    assert result.verdict == "inconclusive"  # a sample is no pass
    assert coverage.covered >= 30


def test_an_id_that_comes_again_is_the_same_to_the_machine():
    """As in the specification, whose request may not load while a store of it is open, whenever that began."""
    told = played([*FLUSHED, *labels("add_request r0", "allocate b1 r0", "publish b1 h0 r0", *STEP)])

    assert [s.event for s in told].count("acknowledge") == 1  # the other store is open
    assert [s.event for s in told[-4:]] == ["update_from_output", "add_request", *STEP]  # it is to ask again


def test_nobody_hits_what_a_request_did_not_fill_because_it_loads():
    """The second request is visited after the first, which was to compute the block and has it loaded instead."""
    told = played(
        labels(
        "add_request r0", "allocate b0 r0", "publish b0 h0 r0", "plan_store b0 c0 j0 r0", *STEP, "acknowledge j0",
        "finish r0", *STEP, "add_request r0", "add_request r1",
        "allocate b0 r0", "publish b0 h0 r0", "hit b0 r1", *STEP,
        ),
        takes_all=True,
    )  # fmt: skip

    assert [s.event for s in told[-4:]] == ["allocate", "plan_load", *STEP]


@pytest.mark.parametrize(("second", "verdict"), [("request0", "violated"), ("request0#1", "holds")])
def test_a_store_of_an_earlier_request_counts_where_the_id_is_the_same(second, verdict):
    """A driver of vLLM gives each request an id of its own: what the first has open is none of the second's."""
    graph = ObservedGraph(SPECIFICATION, SPECIFICATION.switch_values(), SPECIFICATION.slice("last_step"))
    path = [*FLUSHED, *labels("add_request r0", "allocate b1 r0")]
    ids = ["request0"] * len(FLUSHED) + [second] * 2
    told = [Seen(x.event, {p: own if p == "r" else e for p, e in x.args}) for x, own in zip(path, ids, strict=True)]
    load = Seen("plan_load", {"r": second, "b": "block1", "c": "chunk0", "j": "job2"})

    judged = Judge(graph, "interlock", "conformance", "interlock")(path, told, load)

    assert judged.verdict == verdict


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
