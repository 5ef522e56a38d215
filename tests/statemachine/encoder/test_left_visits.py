"""A visit that the engine leaves: no room for the next item, and its schedule ends there, or its request ends."""

import pytest
from support.encoder_engine import Request, feature

from interlock.statemachine.encoder import EncoderCacheScheduler, EncoderOutput
from interlock.statemachine.errors import NoOpenVisit, OutOfTurn


@pytest.fixture
def left():
    """A has the one slot, and B, of whose prompt the first item is found in the prefix cache, no room for its second."""
    ec = EncoderCacheScheduler(num_slots=1, num_cells=0, num_workers=1, num_kv_shares=4, checking=False)
    a, b = Request("A", (feature("x", 0),)), Request("B", (feature("y", 0), feature("z", 4)))
    for request in (a, b):
        ec.on_new_request(request)
    assert ec.ensure_cache_available(a, 0)
    assert ec.can_allocate(a, 0)
    ec.request_scheduled(a, 0, 4)
    ec.update_state_after_alloc(a, 0)
    assert ec.ensure_cache_available(b, 4)
    assert not ec.can_allocate(b, 1)
    ec.build_connector_meta()
    ec.update_connector_output(EncoderOutput(num_computed_tokens={"A": 4}))
    ec.request_finished(a)
    return ec, b


def encodes(ec, request, place):
    assert not ec.check_and_update_cache(request, place)
    assert ec.can_allocate(request, place)
    ec.request_scheduled(request, 4 * place, 4)
    ec.update_state_after_alloc(request, place)
    ec.build_connector_meta()
    ec.update_connector_output(EncoderOutput(num_computed_tokens={"B": 4 * place + 4}))


def test_what_was_matched_and_is_evicted_meanwhile_is_encoded(left):
    """It was taken for computed for good: the machine raised when its item was encoded."""
    ec, b = left
    assert not ec.ensure_cache_available(b, 0)  # all is looked up again with the next schedule
    ec.build_connector_meta()
    ec.update_connector_output(EncoderOutput())
    assert ec.ensure_cache_available(b, 0)

    encodes(ec, b, 0)
    assert ec.ensure_cache_available(b, 4)
    encodes(ec, b, 1)
    ec.request_finished(b)
    assert dict(ec.ledger.function("feature_state").items()) == {}


def test_what_is_matched_still_need_not_be_encoded(left):
    ec, b = left
    assert ec.ensure_cache_available(b, 4)

    encodes(ec, b, 1)
    ec.request_finished(b)
    assert not ec.has_pending_push_work()


@pytest.fixture
def visited():
    """A is in the midst of its visit, and runs, or is still to be scheduled."""

    def visit(*, runs):
        ec = EncoderCacheScheduler(
            num_slots=2, num_cells=0, num_workers=1, num_kv_shares=4, checking=False, offered=lambda _: False
        )
        a = Request("A", (feature("x", 0), feature("y", 8)))
        ec.on_new_request(a)
        if runs:
            assert ec.ensure_cache_available(a, 0)
            ec.request_scheduled(a, 0, 8)
            ec.update_state_after_alloc(a, 0)
            ec.build_connector_meta()
            ec.update_connector_output(EncoderOutput(num_computed_tokens={"A": 8}))
        assert ec.ensure_cache_available(a, 8 * runs)
        return ec, a

    return visit


@pytest.mark.parametrize("runs", [True, False])
def test_one_that_ends_in_its_visit_leaves_nothing(visited, runs):
    ec, a = visited(runs=runs)
    ec.request_finished(a)
    with pytest.raises(NoOpenVisit, match="check_and_update_cache"):
        ec.check_and_update_cache(a, 1)
    ec.build_connector_meta()
    ec.update_connector_output(EncoderOutput())

    assert ec._tracked == ec._answers._about == ec._answers._matched == ec._books._places == {}
    ec.on_new_request(a)
    assert ec.ensure_cache_available(a, 0)


def test_one_that_the_step_computes_ends_with_its_outputs(visited):
    """The visit stayed open, and every metadata from then on was a KeyError."""
    ec, a = visited(runs=True)
    ec.request_scheduled(a, 8, 8)
    ec.update_state_after_alloc(a, 1)
    with pytest.raises(
        OutOfTurn, match="request_finished: request 'A' computes in the step that is being made: finish"
    ):
        ec.request_finished(a)
    ec.build_connector_meta()
    ec.request_finished(a)

    assert ec._tracked == {}


def test_one_that_is_preempted_in_its_visit_reads_nothing_in_this_step(visited):
    ec, a = visited(runs=True)
    ec.request_scheduled(a, 8, 8)
    ec.free(a)
    ec.build_connector_meta()
    ec.update_connector_output(EncoderOutput())

    assert set(ec.ledger.function("feature_state").values()) == {"ahead"}
    ec.request_finished(a)
    assert ec._tracked == {}


def test_one_that_is_preempted_in_its_visit_may_end_in_the_same_schedule(visited):
    ec, a = visited(runs=True)
    ec.request_scheduled(a, 8, 8)
    ec.free(a)
    ec.request_finished(a)

    assert ec._tracked == {}
