"""What authors of engines get wrong at first: each is one line that says what to give, and the machine goes on."""

from types import SimpleNamespace as Of

import pytest
from support.encoder_engine import Request, feature

from interlock.statemachine.encoder import EncoderCacheScheduler, EncoderOutput
from interlock.statemachine.errors import Misshapen

SIZES = {"num_slots": 2, "num_cells": 2, "num_workers": 1, "num_kv_shares": 4, "checking": False}
POSITION = Of(offset=0, length=4)


@pytest.fixture
def ec():
    return EncoderCacheScheduler(**SIZES)


@pytest.fixture
def visited(ec):
    """A request whose item is there, and whose visit is open."""
    a = Request("A", (feature("x", 0),))
    ec.on_new_request(a)
    assert not ec.ensure_cache_available(a, 0)
    (fetch,) = ec.build_connector_meta().fetches
    ec.update_connector_output(EncoderOutput(arrived=(fetch.transfer,)))
    assert ec.ensure_cache_available(a, 0)
    return a


def runs(ec, request):
    """The visit to its end, and the request's."""
    assert not ec.check_and_update_cache(request, 0)
    assert ec.can_allocate(request, 0)
    ec.request_scheduled(request, 0, 8)
    ec.update_state_after_alloc(request, 0)
    (load,) = ec.build_connector_meta().loads
    ec.update_connector_output(EncoderOutput(completed={load.job: 1}, num_computed_tokens={"A": 8}))
    ec.request_finished(request)
    return ec.has_pending_push_work()


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (None, "the request is None: give an object with request_id"),
        (Of(request_id=None, mm_features=[]), "the request is namespace.request_id=None, .*: give an object"),
        (Of(request_id="", mm_features=[]), "the request is namespace.request_id='', .*: give an object"),
        (Of(request_id="A", mm_features=None), "the request is .*mm_features=None.: give an object with request_id"),
        (Of(request_id="A", mm_features=["x"]), "feature 0 of request 'A' is 'x': give an object with identifier"),
        (Of(request_id="A", mm_features=[feature("x", 0), Of(identifier="y")]), "feature 1 of request 'A' is name"),
        (Of(request_id="A", mm_features=[Of(identifier=None, mm_position=POSITION, data=1)]), "feature 0 of request"),
        (Of(request_id="A", mm_features=[Of(identifier="x", mm_position=POSITION)]), "feature 0 of request 'A'"),
        (
            Of(request_id="A", mm_features=[Of(identifier="x", mm_position=Of(offset=-1, length=4), data=1)]),
            "feature 0 of",
        ),
        (
            Of(request_id="A", mm_features=[Of(identifier="x", mm_position=Of(offset=0, length=None), data=1)]),
            "feature 0 of",
        ),
    ],
)
def test_a_request_of_another_shape_is_named_and_may_come_whole(ec, request_, said):
    with pytest.raises(Misshapen, match=f"^on_new_request: {said}"):
        ec.on_new_request(request_)

    a = Request("A", (feature("x", 0),))
    ec.on_new_request(a)
    assert not ec.ensure_cache_available(a, 0)


@pytest.mark.parametrize("index", [1, -1, None, "0"])
@pytest.mark.parametrize("call", ["check_and_update_cache", "can_allocate", "update_state_after_alloc"])
def test_a_place_at_which_a_request_has_no_feature_is_named(ec, visited, call, index):
    with pytest.raises(Misshapen, match=f"^{call}: index of request 'A' is .*: give its place .* of which it has 1"):
        getattr(ec, call)(visited, index)

    assert not runs(ec, visited)


@pytest.mark.parametrize("number", [-4, None, "4"])
def test_tokens_that_are_no_number_are_named(ec, visited, number):
    for call, arguments, name in (
        ("ensure_cache_available", (number,), "num_computed_tokens"),
        ("request_scheduled", (number, 8), "num_computed_tokens"),
        ("request_scheduled", (0, number), "num_scheduled_tokens"),
    ):
        with pytest.raises(Misshapen, match=f"^{call}: {name} of request 'A' is {number!r}: give a number"):
            getattr(ec, call)(visited, *arguments)

    assert not runs(ec, visited)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (None, "the output is None: give an EncoderOutput"),
        ({0: 1}, "the output is {0: 1}: give an EncoderOutput"),
        ({"completed": [0]}, r"completed is \[0\]: give to each job how many workers report on it, at least 1"),
        ({"completed": None}, "completed is None: give to each job how many workers"),
        ({"completed": {0: None}}, "completed is {0: None}: give to each job how many workers"),
        ({"completed": {0: 0}}, "completed is {0: 0}: give to each job how many workers"),
        ({"arrived": 0}, "arrived is 0: give a tuple of the numbers of transfers"),
        ({"arrived": ("x",)}, r"arrived is \('x',\): give a tuple of the numbers of transfers"),
        ({"failed": None}, "failed is None: give a tuple of the numbers of transfers"),
        ({"num_computed_tokens": [("A", 8)]}, r"num_computed_tokens is \[\('A', 8\)\]: give to each request a number"),
        ({"num_computed_tokens": {"A": -8}}, "num_computed_tokens is {'A': -8}: give to each request a number"),
        ({"num_output_placeholders": {"A": None}}, "num_output_placeholders is {'A': None}: give to each request"),
        (
            {"num_output_placeholders": {"A": 9}},
            "num_output_placeholders of request 'A' is 9, and num_computed_tokens 8:",
        ),
        (
            {"num_output_placeholders": {"B": 1}},
            "num_output_placeholders of request 'B' is 1, and num_computed_tokens None",
        ),
        ({"finished_recving": "A"}, r"finished_recving is 'A': give a tuple of names, as in \('A',\)"),
        ({"failed_recving": None}, r"failed_recving is None: give a tuple of names, as in \('A',\)"),
    ],
)
def test_an_output_of_another_shape_is_named_and_nothing_of_it_is_done(ec, visited, output, said):
    if isinstance(output, dict) and 0 not in output:
        output = EncoderOutput(**{"num_computed_tokens": {"A": 8}, **output})
    with pytest.raises(Misshapen, match=f"^update_connector_output: {said}"):
        ec.update_connector_output(output)

    assert not runs(ec, visited)


def test_as_many_placeholders_as_are_counted_may_be_rejected(ec, visited):
    ec.update_connector_output(EncoderOutput(num_computed_tokens={"A": 8}, num_output_placeholders={"A": 8}))

    assert not runs(ec, visited)


@pytest.mark.parametrize(
    ("identifier", "said"),
    [
        (None, "identifier is None: it should be a valid string"),
        (["x"], r"identifier is \['x'\]: it should be a valid string"),
        ("y", "request 'A', whose visit is open, has no item 'y': give the identifier of one of its features"),
    ],
)
def test_an_item_that_the_request_does_not_have_is_named(ec, visited, identifier, said):
    with pytest.raises(Misshapen, match=f"^has_cache_item: {said}"):
        ec.has_cache_item(identifier)

    assert not runs(ec, visited)


class Session(Request):
    """One whose engine changes the list of its features."""

    def __init__(self, name, *features):
        super().__init__(name, list(features))


@pytest.mark.parametrize("more", [True, False])
@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("ensure_cache_available", (0,)),
        ("check_and_update_cache", (1,)),
        ("can_allocate", (1,)),
        ("request_scheduled", (0, 8)),
        ("kv_load_started", ()),
        ("update_state_after_alloc", (0,)),
    ],
)
def test_features_that_come_or_go_after_the_request_has_arrived_are_named(ec, call, arguments, more):
    """It was a KeyError, of a name that only the machine knows."""
    a = Session("A", feature("x", 0), feature("y", 8))
    ec.on_new_request(a)
    assert not ec.ensure_cache_available(a, 0)
    ec.build_connector_meta()
    ec.update_connector_output(EncoderOutput(arrived=(0, 1)))
    assert ec.ensure_cache_available(a, 0)
    whole = list(a.mm_features)
    a.mm_features = [*whole, feature("z", 16)] if more else whole[:1]
    said = f"request 'A' has {len(a.mm_features)} features, and arrived with 2: finish it, and let it arrive anew with"
    with pytest.raises(Misshapen, match=f"^{call}: {said}"):
        getattr(ec, call)(a, *arguments)

    ec.request_finished(a)  # it can be done as it is said
    ec.on_new_request(a)
    assert ec.ensure_cache_available(a, 20)


@pytest.mark.parametrize("name", ["offered", "clock"])
def test_what_a_machine_cannot_ask_is_named_where_it_is_made(name):
    with pytest.raises(ValueError, match=f"^{name} is None; give what says"):
        EncoderCacheScheduler(**SIZES, **{name: None})
