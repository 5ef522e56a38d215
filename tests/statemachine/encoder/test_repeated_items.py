"""An item that stands at several places of a prompt, and the slots that others need in between."""

import pytest
from support.encoder_engine import feature


def computed(engine):
    return {name: request.counted for name, request in engine.requests.items()}


@pytest.mark.parametrize("offered", [True, False])
def test_between_two_places_of_an_item_its_slot_is_free_for_others(engine, offered):
    """An image that is carried across the turns of a chat: each request held one slot, and waited for a second."""
    e = engine(slots=2, cells=4, chunk=4, offered=lambda item: offered)
    e.add("A", feature("x", 0), feature("z", 4), feature("x", 8))
    e.add("B", feature("y", 0), feature("w", 4), feature("y", 8))
    for _ in range(12):
        e.step()
        for item in e.in_flight():
            e.arrive(item)

    assert min(computed(e).values()) >= 12


def test_a_slot_is_kept_while_another_place_of_its_item_may_be_computed_again(engine):
    e = engine(slots=2, cells=2, chunk=8, offered=lambda item: False)
    e.add("A", feature("x", 0), feature("x", 4), drafts=True)
    e.step()

    assert e.machine.ledger.function("encoder_entry")["x"] == "referenced"
    e.settle("A")
    e.step()

    assert e.machine.ledger.function("encoder_entry")["x"] == "freeable"


def test_what_a_step_reads_is_no_room_for_what_it_takes_though_it_was_unused_for_longest(engine):
    e = engine(slots=2, cells=2, chunk=8, offered=lambda item: False)
    e.add("A", feature("x", 0))
    e.step()
    e.finish("A")
    e.add("B", feature("v", 0), feature("x", 8), feature("z", 12))
    e.step()
    assert set(e.workers[0].cache) == {"x", "v"}

    e.step()

    assert set(e.workers[0].cache) == {"x", "z"}
