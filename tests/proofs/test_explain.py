"""Explanation of one event: what was possible, why the rest was not, what changed."""

from __future__ import annotations

import pytest
from support.traces import AGAIN, SHARE, STEP, STORE, line, trace
from support.walker import Walker

from interlock.proofs.explain import run_explain
from interlock.proofs.replay.bounds import GaveUpError
from interlock.proofs.replay.replayer import Replayer
from interlock.statemachine.trace import TraceError

DOUBLE = trace(*STORE, *STEP, *SHARE, AGAIN)


def test_what_an_event_changed():
    result = run_explain(DOUBLE, 3)

    changes = {c.variable: (c.before, c.after) for c in result.changed}
    assert result.verdict == "explained"
    assert changes["job_state(0/0)"] == ("absent", "planned")
    assert changes["job_block(0/0)"] == (None, "1")
    assert changes["in_flight(1)"] == (False, True)
    assert "plan_store(r=A, b=1, c=0, j=0/0)" in result.enabled


def test_hidden_steps_that_it_needed():
    result = run_explain(DOUBLE, 5)

    assert result.hidden == ["run_step(w=worker0)"]
    assert "run_step(w=worker0)" in result.enabled
    assert result.disabled[0].action == "update_from_output()"


def test_the_false_conjunct_of_an_event_that_cannot_be():
    result = run_explain(DOUBLE, 8)

    first = result.disabled[0]
    assert first.action == "plan_store(r=B, b=1, c=1, j=1/0)"
    assert [c.partition(":")[0] for c in first.false_conjuncts] == ["not-in-flight"]
    assert result.changed == []
    assert result.verdict == "unexplained"
    assert result.reason.startswith(
        "event 8 is the first without an explanation: no behaviour explains plan_store(request=B, block=1, chunk=1, "
        "job=1/0): plan_store(r=B, b=1, c=1, j=1/0) needs not-in-flight: "
    )


def test_where_no_conjunct_is_false_it_is_said_what_was_possible_instead():
    again = line("allocate", request="A", block=1, allocation=1)
    result = run_explain(trace(*STORE[:2], again), 2)

    assert result.verdict == "unexplained"
    assert "the log contradicts itself" in result.reason
    assert "; possible instead: build_connector_meta()" in result.reason


def test_what_it_breaks():
    result = run_explain(DOUBLE, 8, switches={"store_dedup": "per_step"})

    assert "no-block-stored-twice-in-flight" in result.reason


def test_every_action_is_either_enabled_or_disabled():
    result = run_explain(DOUBLE, 6)

    named = {a.partition("(")[0].partition(":")[0] for a in result.enabled}
    named |= {d.action.partition("(")[0] for d in result.disabled}
    assert {"evict", "copy_store", "finish", "allocate", "report"} <= named
    assert all(d.false_conjuncts for d in result.disabled)


def test_beyond_what_can_be_explained_the_first_event_without_an_explanation_is_named():
    result = run_explain(trace(*STORE, *STEP, *SHARE, AGAIN, *STEP), 10)

    assert (result.verdict, result.event) == ("unexplained", "update_from_output()")
    assert result.reason.startswith("the first event without an explanation is event 8, before this one: ")
    assert "needs not-in-flight: " in result.reason


def test_events_before_the_one_without_an_explanation_are_explained():
    assert run_explain(trace(*STORE, *STEP, *SHARE, AGAIN, *STEP), 7).verdict == "explained"


def test_where_the_search_gives_up_nothing_is_said(monkeypatch):
    def consume(self, index, event, place):
        if index == 5:
            raise GaveUpError(7)
        return original(self, index, event, place)

    original = Replayer.consume
    monkeypatch.setattr(Replayer, "consume", consume)

    assert [run_explain(DOUBLE, n).verdict for n in (4, 5, 6)] == ["explained", "inconclusive", "inconclusive"]


@pytest.mark.parametrize("step", [-1, 9])
def test_an_event_that_is_not_there_is_refused(step):
    with pytest.raises(TraceError, match="name one of 0 to 8"):
        run_explain(DOUBLE, step)


def test_hidden_lines_of_an_explorer_are_taken_as_they_stand():
    walk = Walker(3, slice_="store").trace(60)
    index = next(i for i, e in enumerate(walk.events) if e.event == "run_step")

    result = run_explain(walk, index)

    assert result.reason.startswith(f"{walk.events[index]} is run_step(")
    assert "phase" not in {c.variable for c in result.changed}


def test_what_is_not_modelled_is_passed_over():
    result = run_explain(trace(*STORE, line("reset_connector")), 4)

    assert result.verdict == "explained"
    assert "passed over" in result.reason
