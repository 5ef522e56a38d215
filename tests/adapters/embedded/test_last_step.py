"""What becomes of open jobs when the last request ends, value by value: the machine runs what the specification says."""

import pytest

from interlock.adapters.embedded import Sizes, run
from interlock.adapters.embedded.scenario import Abort, Add, Complete, Step
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.port import ConnectorMetadata, ScheduledStep

STORES_IN_FLIGHT = [Add("A", ["p", "q"])]
STORE_AT_THE_FINISH = [Add("A", ["p", "q"], max_tokens=2), Step(), Complete()]
ONE_CHUNK = Sizes(num_blocks=3, num_chunks=1)


@pytest.mark.parametrize(
    ("switches", "in_flight", "at_the_finish"),
    [
        ({"idle": "none"}, (0, 1), (1,)),
        ({"idle": "flush_before_plan"}, (), (1,)),
        ({"idle": "flush_before_plan", "finish_store": "no"}, (), ()),
        ({"idle": "flush"}, (), ()),
        ({"idle": "drain"}, (), ()),
    ],
)
def test_what_is_open_when_the_engine_comes_to_rest(switches, in_flight, at_the_finish):
    assert run(STORES_IN_FLIGHT, switches, Sizes(num_workers=2), rest=True).open_jobs == in_flight
    assert run(STORE_AT_THE_FINISH, switches, ONE_CHUNK, rest=True).open_jobs == at_the_finish


def test_a_flush_needs_fewer_steps_than_a_drain():
    steps = {v: run(STORES_IN_FLIGHT, {"idle": v}, rest=True).steps for v in ("flush", "drain")}

    assert steps["flush"] == 2 < steps["drain"]


def test_the_last_flush_names_the_load_of_a_request_that_was_aborted_while_loading():
    scenario = [
        *(Add("A", ["p", "q"], tail=1), Step(), Complete(), Complete(), Step()),
        *(Add("B", ["x", "y", "z"]), Step(), Complete(), Complete(), Complete(), Step()),
        *(Add("C", ["p", "q"], tail=1), Step(), Abort("C")),
    ]
    played = run(scenario, None, Sizes(num_blocks=3), rest=True)

    loads = [e.args["j"] for e in played.events if e.event == "plan_load"]
    flushed = [e.args["j"] for e in played.events if e.event == "order_flush"]
    assert loads
    assert set(loads) <= set(flushed)
    assert (played.open_jobs, played.unfinished) == ((), ())


def test_an_engine_that_has_nothing_makes_no_step_and_orders_no_flush():
    played = run([Step(), Step()], None, rest=True)

    assert (played.steps, played.events) == (0, [])


def test_stepped_all_the_same_the_machine_has_nothing_to_say():
    """Another part of the engine may be the reason for a step."""
    machine = KVOffloadScheduler(block_size=4, num_chunks=1, num_workers=1)

    assert machine.build_connector_meta(ScheduledStep()) == ConnectorMetadata()
    assert not machine.has_pending_work()
