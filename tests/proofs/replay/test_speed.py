"""A hundred thousand events in at most a minute, with invariants on, as judge and as refinement."""

from __future__ import annotations

import time

import pytest
from support.synthetic import Synthetic

from interlock.proofs.replay import run_replay

EVENTS = 100_000
SECONDS_MAX = 60


@pytest.mark.slow
@pytest.mark.parametrize("judge", [False, True])
def test_a_hundred_thousand_events_in_a_minute(judge):
    log = Synthetic().trace(EVENTS)
    begin = time.process_time()

    result = run_replay(log, judge=judge)

    assert result.verdict == "holds", result.reason
    assert result.consumed == EVENTS
    # Processor time: other tests may share the machine.
    assert time.process_time() - begin <= SECONDS_MAX


def test_the_cost_of_an_event_does_not_grow_with_the_log():
    log = Synthetic(1).trace(12_000)
    head = log.__class__(log.header, log.events[:3_000], log.name)
    run_replay(head)  # compiles
    begin = time.process_time()
    run_replay(head)
    short = time.process_time() - begin
    begin = time.process_time()
    run_replay(log)
    long = time.process_time() - begin

    assert long <= 4 * short * 2.5
