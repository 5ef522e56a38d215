"""Requests that have loaded KV and are told to wait: the engine visits them with those that wait, in its own order."""

import pytest
from support.encoder_engine import Request, feature

from interlock.statemachine.encoder import EncoderCacheScheduler, EncoderOutput

COVERED = 8
"""Tokens that a KV match finds of each prompt."""


@pytest.fixture
def ec():
    return EncoderCacheScheduler(num_slots=2, num_cells=1, num_workers=1, num_kv_shares=4, checking=False)


def ends(ec, **output):
    """The step goes out, and with its output what it carried has ended."""
    metadata = ec.build_connector_meta()
    arrived = tuple(t.transfer for t in metadata.fetches)
    completed = {load.job: 1 for load in metadata.loads}
    ec.update_connector_output(EncoderOutput(arrived=arrived, completed=completed, **output))


def test_one_that_is_told_to_wait_is_visited_after_another_that_has_loaded(ec):
    """The pool has one cell: while B loads its KV, C takes the place of B's item, which is then fetched once more."""
    a, b, c = Request("A", (feature("x", 0),)), Request("B", (feature("y", 8),)), Request("C", (feature("z", 8),))
    ec.on_new_request(b)
    assert not ec.ensure_cache_available(b, COVERED)
    ends(ec)
    ec.on_new_request(c)
    assert ec.ensure_cache_available(b, COVERED)
    ec.kv_load_started(b)
    assert not ec.ensure_cache_available(c, COVERED)
    ends(ec, finished_recving=("B",))
    ec.request_finished(c)
    ec.on_new_request(a)
    assert not ec.ensure_cache_available(b, COVERED)
    assert ec.ensure_cache_available(a, COVERED)
    ec.kv_load_started(a)
    ends(ec, finished_recving=("A",))

    assert ec.ensure_cache_available(a, COVERED)
    ec.request_scheduled(a, COVERED, 4)
    assert ec.ensure_cache_available(b, COVERED)
    assert not ec.check_and_update_cache(b, 0)
    assert ec.can_allocate(b, 0)
    assert ec.has_cache_item("y")
    ec.request_scheduled(b, COVERED, 4)
    ec.update_state_after_alloc(b, 0)
    (load,) = ec.build_connector_meta().loads
    assert load.identifier == "y"
    ec.update_connector_output(EncoderOutput(completed={load.job: 1}, num_computed_tokens={"A": 12, "B": 12}))
    assert not ec.request_finished(b)
    assert not ec.has_pending_push_work()
