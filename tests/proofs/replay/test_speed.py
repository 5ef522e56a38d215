"""A hundred thousand events in at most a minute of a usual processor, with invariants on, as judge and as refinement."""

from __future__ import annotations

import time

import pytest
from support.synthetic import Synthetic

from interlock.proofs.replay import run_replay
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.trace import Trace, event, header

EVENTS = 100_000
LOOPS_MAX = 300
"""A minute is as long as so many loops over ten million integers where Python takes a fifth of a second for one."""


@pytest.mark.slow
@pytest.mark.parametrize("judge", [False, True])
def test_a_hundred_thousand_events_in_a_minute(judge):
    log = Synthetic().trace(EVENTS)
    before = seconds_of_a_loop()
    begin = time.process_time()

    result = run_replay(log, judge=judge)

    # Processor time, and as a ratio: other tests may share the machine, and one is twice as fast as another.
    taken = time.process_time() - begin
    assert result.verdict == "holds", result.reason
    assert result.consumed == EVENTS
    assert taken <= LOOPS_MAX * max(before, seconds_of_a_loop())


def seconds_of_a_loop() -> float:
    begin = time.process_time()
    total = 0
    for i in range(10_000_000):
        total += i
    return time.process_time() - begin


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


def one_prompt_stored_at_once(blocks):
    """A request whose whole prompt is stored in one step, and then reported block by block."""
    names = [f"b{i}" for i in range(blocks)]
    calls = [("add_request", {"request": "A"})]
    calls += [("allocate", {"request": "A", "block": b, "allocation": 1}) for b in names]
    calls += [("publish", {"request": "A", "block": b, "hash": f"h-{b}"}) for b in names]
    calls += [
        ("plan_store", {"request": "A", "block": b, "chunk": f"c-{b}", "job": f"j-{b}", "allocation": 1}) for b in names
    ]
    calls += [("build_connector_meta", {}), ("update_from_output", {})]
    calls += [("acknowledge", {"job": f"j-{b}"}) for b in names]
    head = header(SPECIFICATION, source="test", switches=SPECIFICATION.switch_values(), scope={"worker": 1})
    return Trace(head, tuple(event(i, name, **fields) for i, (name, fields) in enumerate(calls)), "at once")


def test_an_event_costs_at_most_what_is_under_way():
    seconds = {}
    for blocks in (40, 40, 400):  # the first one compiles
        log = one_prompt_stored_at_once(blocks)
        begin = time.process_time()
        result = run_replay(log)
        seconds[blocks] = time.process_time() - begin

        assert result.verdict == "holds", result.reason

    # 20 times was measured; 130 times where each change looked at every pair of chunk and job.
    assert seconds[400] <= 50 * seconds[40]
