"""Explanation of one event: what was possible, why the rest was not, what changed."""

from __future__ import annotations

import pytest
from support.traces import AGAIN, SHARE, STEP, STORE, line, trace
from support.walker import Walker

from interlock.proofs.explain import run_explain
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


def test_what_it_breaks():
    result = run_explain(DOUBLE, 8, switches={"store_dedup": "per_step"})

    assert "no-block-stored-twice-in-flight" in result.reason


def test_every_action_is_either_enabled_or_disabled():
    result = run_explain(DOUBLE, 6)

    named = {a.partition("(")[0].partition(":")[0] for a in result.enabled}
    named |= {d.action.partition("(")[0] for d in result.disabled}
    assert {"evict", "copy_store", "finish", "allocate", "report"} <= named
    assert all(d.false_conjuncts for d in result.disabled)


def test_beyond_what_can_be_explained_it_is_inconclusive():
    result = run_explain(trace(*STORE, *STEP, *SHARE, AGAIN, *STEP), 10)

    assert result.verdict == "inconclusive"
    assert "event 8" in result.reason


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
