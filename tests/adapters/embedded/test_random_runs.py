"""Random scenarios on our own machine: what it does is legal, and what it should keep it keeps."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from support.recorded import double_stores, replay_on_a_ledger

from interlock.adapters.embedded import run
from interlock.adapters.embedded.strategies import scenarios, sizes
from interlock.spec.kv import SPECIFICATION

SWITCHES = [
    dict(zip(("store_dedup", "source_hold"), values, strict=True))
    for values in itertools.product(
        SPECIFICATION.switch("store_dedup").values, SPECIFICATION.switch("source_hold").values
    )
]
RUNS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("switches", SWITCHES, ids=lambda s: "-".join(s.values()))
@RUNS
@given(scenario=scenarios(), sizes=sizes())
def test_every_recorded_event_is_allowed_and_every_run_ends(switches, scenario, sizes):
    played = run(scenario, switches, sizes, drain=True)

    replay_on_a_ledger(played.events, SPECIFICATION.switch_values(changes=switches), sizes.num_workers)
    assert not played.open_jobs
    assert not played.unfinished


@pytest.mark.parametrize("hold", ["fence", "pin"])
@RUNS
@given(scenario=scenarios(failures=False), sizes=sizes())
def test_no_reader_sees_foreign_content_and_no_block_is_stored_twice(hold, scenario, sizes):
    played = run(scenario, {"source_hold": hold}, sizes, drain=True)

    assert played.faults == []
    assert double_stores(played.events, sizes.num_workers) == []


@RUNS
@given(scenario=scenarios(), sizes=sizes())
def test_failed_stores_spoil_nothing_that_anyone_reads(scenario, sizes):
    played = run(scenario, {}, sizes, drain=True)

    assert [f for f in played.faults if f.kind == "read"] == []
