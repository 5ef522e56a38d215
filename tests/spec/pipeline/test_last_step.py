"""Seeds 002 under the synchronous (depth one) and the asynchronous scheduler (depth two): the last step, and what ends.

Store direction, load direction (aborted while loading), and preempted requests (stores only).
"""

from __future__ import annotations

import pytest

from interlock.proofs.check import Run, Violation, run_check
from interlock.proofs.mutation.changes import apply
from interlock.spec.kv.vocabulary import finish_store, idle
from interlock.spec.language.actions import assign
from interlock.spec.language.settings import Slice
from interlock.spec.pipeline import SPECIFICATION
from interlock.spec.pipeline.vocabulary import b, pipeline_finish_store, pipeline_idle, used

DEPTHS = pytest.mark.parametrize("depth", ["depth_one", "depth_two"])
COMPLETE, FLUSHES = "issued-jobs-complete-in-pipeline", "last-step-flushes-every-job-in-pipeline"
HELD = "held-blocks-are-released-in-pipeline"
UNREPORTED = "drop-conjunct:rest:no-work-is-reported"
UNFLUSHED = "drop-conjunct:dispatch:last-jobs-are-flushed"


def _run(slice_: str, *properties: str, change: str = "", without: tuple[str, ...] = (), **switches: str) -> Run:
    """One exploration, of a slice without some more actions if asked."""
    spec = apply(SPECIFICATION, change) if change else SPECIFICATION
    slices = tuple(_smaller(s, without) if s.name == slice_ else s for s in spec.slices)
    (run,) = run_check(
        spec=spec.model_copy(update={"slices": slices}), slices=[slice_], sets=switches, properties=list(properties)
    ).runs
    return run


def _smaller(slice_: Slice, without: tuple[str, ...]) -> Slice:
    return slice_.model_copy(update={"remove": (*slice_.remove, *without)})


def _found(run: Run) -> Violation:
    (violation,) = run.violations
    return violation


def _events(violation: Violation) -> list[str]:
    return [a.split("(")[0] for a in violation.actions]


def test_the_switches_are_those_of_kv() -> None:
    mine = [(s.values, s.source) for s in (pipeline_idle, pipeline_finish_store)]

    assert mine == [(s.values, s.source) for s in (idle, finish_store)]


@DEPTHS
def test_an_engine_at_rest_leaves_a_store_open(depth: str) -> None:
    found = _events(_found(_run(depth, COMPLETE, pipeline_idle="none")))

    assert "rest" in found
    assert not {"order_flush", "plan_finish_store"} & set(found[: found.index("rest")])


@DEPTHS
def test_a_flush_decided_before_the_plan_misses_the_finish_store(depth: str) -> None:
    found = _events(_found(_run(depth, FLUSHES, pipeline_idle="flush_before_plan", pipeline_finish_store="yes")))

    assert found[-2:] == ["plan_finish_store", "dispatch"]
    assert "order_flush" not in found


@DEPTHS
@pytest.mark.parametrize("value", ["flush", "drain"])
def test_flush_and_drain_are_two_refinements_each_sound_by_itself(depth: str, value: str) -> None:
    """The flush does not need the pending work to be reported, nor drain the flush; with neither it is ``none``."""
    whole, unreported = (_run(depth, COMPLETE, change=c, pipeline_idle=value) for c in ("", UNREPORTED))

    expected = {"flush": ("holds", "holds"), "drain": ("holds", "violated")}[value]
    assert (whole.properties[COMPLETE], unreported.properties[COMPLETE]) == expected


@DEPTHS
def test_without_the_flush_only_pending_work_keeps_the_engine_going(depth: str) -> None:
    run = _run(depth, COMPLETE, FLUSHES, change=UNFLUSHED)

    assert run.properties == {COMPLETE: "holds", FLUSHES: "violated"}


@DEPTHS
@pytest.mark.parametrize("value", pipeline_idle.values)
def test_a_load_whose_request_was_aborted_ends(depth: str, value: str) -> None:
    """Loads only, so that nothing else keeps the engine going."""
    run = _run(f"{depth}_load", COMPLETE, HELD, without=("plan_store",), pipeline_idle=value)

    assert run.properties == {COMPLETE: "holds", HELD: "holds"}


@DEPTHS
def test_the_last_step_flushes_the_load_of_an_aborted_request(depth: str) -> None:
    found = _found(_run(f"{depth}_load", FLUSHES, change=UNFLUSHED, without=("plan_store",)))

    names = _events(found)
    assert [n for n in names if n in ("plan_load", "finish_request", "order_flush")] == ["plan_load", "finish_request"]
    assert names[-1] == "dispatch"


@DEPTHS
def test_the_block_of_an_aborted_load_may_not_go_back_at_once(depth: str) -> None:
    property_ = "block-being-loaded-is-in-use-in-pipeline"
    action = SPECIFICATION.action("finish_request")
    at_once = tuple(assign(used(b), False) if u.symbol == "used" else u for u in action.updates)
    changed = [a.model_copy(update={"updates": at_once}) if a.name == action.name else a for a in SPECIFICATION.actions]
    spec = SPECIFICATION.model_copy(update={"actions": tuple(changed)})
    (run,) = run_check(spec=spec, slices=[f"{depth}_load"], properties=[property_]).runs

    assert _events(_found(run))[-1] == "finish_request"


@DEPTHS
def test_a_preempted_request_has_stores_only_and_they_are_flushed(depth: str) -> None:
    only, flushed = "preempted-request-has-stores-only-in-pipeline", "preempted-stores-are-flushed-in-pipeline"
    slice_ = f"{depth}_preempt"
    loading = _run(slice_, only, change="drop-conjunct:preempt:running")
    unfenced = _run(slice_, flushed, change="drop-update:preempt:flush_due")

    assert _run(slice_, only, flushed).properties == {only: "holds", flushed: "holds"}
    assert _events(_found(loading))[-1] == "preempt"
    assert _events(_found(unfenced))[-1] == "preempt"
