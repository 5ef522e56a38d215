"""An item that cannot be encoded here gets a place in the pool: else its request asks for ever, and all behind it wait."""

import pytest
from support.encoder_engine import Request, feature

from interlock.statemachine.encoder import EncoderCacheScheduler, EncoderOutput


class Visits:
    """One place in the pool, and an engine that says whom it visits."""

    def __init__(self, *requests, **sizes):
        sizes = {"num_slots": 2, "num_cells": 1, "num_workers": 1, "num_kv_shares": 4} | sizes
        self.ec = EncoderCacheScheduler(**sizes, checking=False)
        self.requests = {r.request_id: r for r in requests}
        for request in requests:
            self.ec.on_new_request(request)
        self.on_their_way = []

    def schedule(self, **asked):
        """Asks about requests, each with so many tokens computed; what is fetched arrives with the step's outputs."""
        answers = [self.ec.ensure_cache_available(self.requests[name], tokens) for name, tokens in asked.items()]
        return answers, self.ends()

    def ends(self, **computed):
        metadata = self.ec.build_connector_meta()
        arrived = tuple(t.transfer for t in metadata.fetches)
        completed = {load.job: 1 for load in metadata.loads}
        self.ec.update_connector_output(
            EncoderOutput(arrived=arrived, completed=completed, num_computed_tokens=computed)
        )
        return [t.identifier for t in metadata.fetches]

    def computes(self, name, place):
        """A visit in which a request loads the item of a feature, and computes its four tokens."""
        request, start = self.requests[name], 4 * place
        assert self.ec.ensure_cache_available(request, start)
        assert not self.ec.check_and_update_cache(request, place)
        assert self.ec.can_allocate(request, place)
        assert self.ec.has_cache_item(request.mm_features[place].identifier)
        self.ec.request_scheduled(request, start, 4)
        self.ec.update_state_after_alloc(request, place)
        return self.ends(**{name: start + 4})


def test_what_the_request_itself_needs_later_makes_room():
    v = Visits(Request("A", (feature("x", 0, here=False), feature("y", 4))))
    assert v.schedule(A=4) == (
        [False],
        ["y"],
    )  # of x the match has the tokens, and has lost them when it is asked again

    assert v.schedule(A=0) == ([False], ["x"])
    assert v.computes("A", 0) == []


def test_later_is_counted_from_the_next_place_of_an_item():
    v = Visits(Request("A", (feature("x", 0, here=False), feature("y", 4, here=False), feature("x", 8))))
    assert v.schedule(A=0) == ([False], ["x"])
    v.computes("A", 0)

    assert v.schedule(A=4) == ([False], ["y"])
    assert v.computes("A", 1) == []


def test_what_is_there_for_somebody_who_is_not_visited_makes_room():
    """B has been put off for longer, and A is before it in the queue: without its item, A ends each schedule."""
    a, b = Request("A", (feature("x", 0, here=False),)), Request("B", (feature("y", 0),))
    v = Visits(a, b)
    assert v.schedule(B=0) == ([False], ["y"])
    assert v.schedule(A=0) == ([True], [])  # B may yet be visited

    assert v.schedule(A=0) == ([False], ["x"])
    assert v.computes("A", 0) == []


@pytest.mark.parametrize("place", [0, 1])
def test_what_is_there_for_somebody_who_waits_and_is_visited_stays(place):
    a, b = Request("A", (feature("x", 0, here=False),)), Request("B", (feature("y", 0), feature("z", 4)))
    v = Visits(a, b, num_cells=2)
    v.ec.ensure_cache_available(b, 0)
    fetches = v.ec.build_connector_meta().fetches
    assert [t.identifier for t in fetches] == ["y", "z"]
    v.ec.update_connector_output(EncoderOutput(arrived=(fetches[place].transfer,)))
    for _ in range(4):
        assert not v.ec.ensure_cache_available(b, 0)  # it waits for the other item
        assert v.schedule(A=0) == ([True], [])


def test_an_item_that_can_be_encoded_takes_no_place_from_anybody():
    v = Visits(Request("A", (feature("x", 0),)), Request("B", (feature("y", 0),)))
    assert v.schedule(B=0) == ([False], ["y"])
    for _ in range(4):
        assert v.schedule(A=0) == ([True], [])
