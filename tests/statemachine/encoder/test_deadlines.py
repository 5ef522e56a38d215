"""How long a request is put off, and what follows: the item is given up, encoded, and never waited for again."""

import pytest
from support.encoder_engine import Engine, Request, feature

from interlock.statemachine.deadlines import Deadlines, QueuedDeadlines
from interlock.statemachine.encoder import EncoderCacheScheduler


def state(engine, name):
    (found,) = [s for key, s in engine.machine.ledger.function("visit_state").items() if key.partition("#")[0] == name]
    return found


def entry(engine, item):
    return engine.machine.ledger.function("pool_entry").get(item, "absent")


def test_after_the_deadline_the_request_encodes_the_item(engine):
    e = engine(deadline=3)
    e.add("A", feature("x", 4))
    for _ in range(3):
        e.step()
        assert state(e, "A") == "deferred"
    assert entry(e, "x") == "unavailable"
    e.step()

    assert state(e, "A") == "running"
    assert e.seen[4, "encode", "A x"] == 1


def test_what_was_given_up_is_not_said_to_be_there_and_is_discarded_when_it_comes(engine):
    e = engine(deadline=1)
    e.add("A", feature("x", 4))
    e.step()
    assert entry(e, "x") == "unavailable"
    e.add("B", feature("x", 4))
    e.step()
    assert (state(e, "A"), state(e, "B")) == ("running", "running")
    assert e.seen[2, "take_external", "A x"] == e.seen[2, "take_external", "B x"] == 0
    e.arrive("x")
    e.step()

    assert entry(e, "x") == "absent"
    assert e.cells == {0: "x"}  # it was written, where nobody looks


def test_the_place_of_what_was_given_up_is_taken_until_its_transfer_ends(engine):
    e = engine(deadline=1, cells=1)
    e.add("A", feature("x", 4))
    e.step()
    e.add("B", feature("y", 4))
    e.step()
    assert e.in_flight() == ["x"]
    assert e.seen[2, "encode", "B y"] == 1
    e.arrive("x", well=False)
    e.step()
    e.add("C", feature("z", 4))
    e.step()

    assert e.in_flight() == ["z"]


def test_a_request_that_gave_an_item_up_is_not_put_off_for_it_again(engine):
    e = engine(deadline=1, slots=2)
    e.add("A", feature("x", 4))
    e.step()
    e.step()
    e.arrive("x")
    e.step()
    e.preempt("A")
    e.add("B", feature("y", 4), feature("z", 12))
    e.step()

    assert state(e, "A") == "running"
    assert all(kind != "defer" or name == "B" for (step, kind, name), n in e.seen.items() if step > 1)


def test_the_budget_counts_from_the_first_no_whatever_transfers_come_and_go(engine):
    e = engine(deadline=3)
    e.add("A", feature("x", 4))
    e.step()
    e.arrive("x", well=False)
    e.step()
    e.step()  # fetched once more
    assert e.in_flight() == ["x"]
    e.step()

    assert state(e, "A") == "running"
    assert e.seen[4, "encode", "A x"] == 1


def test_each_item_has_its_own_time(engine):
    """Put off for x, and when its time is up for y, which the other side has not had before: two deadlines on end."""
    offered = {"x"}
    e = engine(deadline=3, offered=offered.__contains__)
    e.add("A", feature("x", 4), feature("y", 12))
    for _ in range(3):
        e.step()
    assert (entry(e, "x"), entry(e, "y")) == ("unavailable", "absent")
    offered.add("y")
    for _ in range(3):
        e.step()
        assert e.seen[e.steps, "defer", "A"] == 1
    assert entry(e, "y") == "unavailable"
    e.step()

    assert state(e, "A") == "running"


def test_a_budget_that_is_spent_starts_no_transfer(engine):
    e = engine(deadline=2)
    e.add("A", feature("x", 4))
    e.step()
    e.arrive("x", well=False)
    e.step()  # the failure is known with these outputs, and the time is up
    e.step()

    assert (state(e, "A"), e.fetches) == ("running", {})


def test_a_budget_that_is_spent_stays_spent(engine):
    e = engine(deadline=1, shares=1)
    e.add("T")
    e.step()
    e.add("A", feature("x", 4))
    e.step()
    e.arrive("x", well=False)  # with the outputs that end its patience
    for _ in range(3):
        e.step()  # turned away for want of KV

    assert (state(e, "A"), e.fetches, e.seen[2, "defer", "A"]) == ("waiting", {}, 1)
    e.add("B", feature("x", 4))
    e.finish("T")
    e.step()
    assert state(e, "A") == "running"


def test_a_yes_ends_the_budget(engine):
    e = engine(deadline=3, shares=1)
    e.add("T")
    e.step()
    e.add("A", feature("x", 4))
    e.step()
    e.arrive("x")
    e.step()
    for _ in range(5):
        e.step()  # its item is there, and it waits for KV

    assert state(e, "A") == "waiting"
    assert entry(e, "x") == "ready"


def test_a_stalled_request_is_bounded_too(engine):
    e = engine(deadline=2)
    e.add("A", feature("x", 0), covered=8, loads=True)
    e.step()
    e.load_ends("A", well=False)
    e.step()
    e.step()
    assert state(e, "A") == "stalled"
    e.step()
    e.step()

    assert state(e, "A") == "running"
    assert e.seen[5, "encode", "A x"] == 1


def test_a_request_that_cannot_encode_what_it_gave_up_is_reported_once_and_ends(engine):
    e = engine(deadline=1)
    e.add("A", feature("x", 4, here=False))
    e.step()

    assert e.seen[1, "fail_unavailable", "A"] == 1
    assert e.machine.take_unavailable_requests() == frozenset()
    assert entry(e, "x") == "unavailable"
    assert e.machine._unavailable == e.machine._told_unavailable == set()


def test_one_that_ends_before_it_is_told_just_ends(engine):
    e = engine(deadline=1)
    a = e.add("A", feature("x", 4, here=False))
    taken = e.machine.take_unavailable_requests
    e.machine.take_unavailable_requests = frozenset
    e.step()
    e.machine.take_unavailable_requests = taken
    e.finish("A")

    assert taken() == frozenset()
    assert e.seen[1, "finish", "A"] == 1
    assert not a.kv


def test_one_that_is_told_and_preempted_meanwhile_just_ends(engine):
    e = engine(deadline=1)
    e.add("A", feature("x", 0, here=False), covered=8, loads=True)
    e.step()
    e.load_ends("A", well=False)
    e.step()
    take, e.machine.take_unavailable_requests = e.machine.take_unavailable_requests, frozenset
    e.step()
    assert (state(e, "A"), take(), take()) == ("stalled", {"A"}, set())
    e.preempt("A")
    e.finish("A")

    assert e.seen[3, "finish", "A"] == 1


def test_one_whose_other_item_is_given_up_is_not_unrecoverable(engine):
    e = engine(deadline=3)
    e.add("A", feature("x", 0, here=False), feature("y", 8))
    e.step()
    e.arrive("x", well=False)
    e.step()
    e.clock.now += 5  # the time of both is up while x is not in transit
    assert e.machine.take_unavailable_requests() == frozenset()
    assert (entry(e, "x"), entry(e, "y")) == ("absent", "unavailable")
    e.step()  # x cannot be encoded, so it is fetched once more, and given up with the outputs

    assert e.seen[3, "defer", "A"] == e.seen[3, "fail_unavailable", "A"] == 1


def gives_up_what_it_has_computed():
    """Under this old value a request without data of x is put off for x although its tokens are computed."""
    offered = set()
    e = Engine(deadline=1, offered=offered.__contains__, changes={"ec_future": "all_features"})
    e.add("A", feature("x", 0, here=False), covered=4)
    e.step()
    offered.add("x")
    e.step()
    assert (state(e, "A"), entry(e, "x")) == ("stalled", "unavailable")
    return e


def test_one_that_needs_no_more_what_it_gave_up_is_not_unrecoverable():
    e = gives_up_what_it_has_computed()
    assert e.machine.take_unavailable_requests() == frozenset()
    e.step()

    assert state(e, "A") == "running"


def test_who_comes_under_the_id_of_one_that_gave_up_has_given_up_nothing():
    e = gives_up_what_it_has_computed()
    e.finish("A")
    assert e.machine.take_unavailable_requests() == frozenset()
    e.add("A", feature("x", 0, here=False))

    assert e.machine.take_unavailable_requests() == frozenset()


def test_after_a_yes_the_next_no_is_a_first_one(engine):
    offered = {"x"}
    e = engine(deadline=3, cells=1, shares=1, offered=offered.__contains__)
    e.add("T", feature("y", 60))
    e.step()
    e.add("A", feature("x", 4))
    e.step()
    e.arrive("x")
    e.step()
    e.step()
    assert state(e, "A") == "waiting"  # for KV
    offered.add("y")
    e.step()  # T has y fetched, which takes the place of x
    e.arrive("y")
    e.step()
    e.step()

    assert (state(e, "A"), entry(e, "x")) == ("deferred", "in_transit")


def test_an_abort_ends_its_budgets(engine):
    e = engine(deadline=2)
    e.add("A", feature("x", 4))
    e.step()
    e.finish("A")
    e.add("B", feature("x", 4))
    e.step()  # the time of A would be up

    assert (state(e, "B"), entry(e, "x")) == ("deferred", "in_transit")


def test_deadlines_are_told_once_in_the_order_in_which_they_end():
    now = [0]
    deadlines = QueuedDeadlines(5, lambda: now[0])
    deadlines.put_off("A", "x")
    now[0] = 1
    deadlines.put_off("B", "x")
    deadlines.put_off("A", "x")  # not the first no
    now[0] = 2
    deadlines.put_off("C", "x")
    deadlines.forget("C")
    now[0] = 4
    assert list(deadlines.due()) == []
    now[0] = 7

    assert list(deadlines.due()) == [("A", "x"), ("B", "x")]
    assert list(deadlines.due()) == []
    deadlines.put_off("A", "x")
    assert list(deadlines.due()) == [("A", "x")]


def test_a_no_after_a_yes_has_all_its_time():
    """It was given up when the time of the first no would have been up."""
    now = [0]
    deadlines = QueuedDeadlines(5, lambda: now[0])
    deadlines.put_off("A", "x")
    now[0] = 3
    deadlines.answered("A")
    deadlines.put_off("A", "x")
    now[0] = 5
    assert list(deadlines.due()) == []
    now[0] = 8

    assert list(deadlines.due()) == [("A", "x")]
    assert list(deadlines.due()) == []


@pytest.mark.parametrize(("at_s", "goes_on"), [(0, False), (59.9, False), (60, True)])
def test_unless_it_is_told_otherwise_a_request_waits_for_an_item_for_a_minute(at_s, goes_on):
    now = [0.0]
    machine = EncoderCacheScheduler(num_slots=1, num_cells=1, num_workers=1, num_kv_shares=1, clock=lambda: now[0])
    request = Request("A", (feature("x", 4),))
    machine.on_new_request(request)
    assert not machine.ensure_cache_available(request, 0)
    machine.build_connector_meta()
    now[0] = at_s
    machine.take_unavailable_requests()

    assert machine.ensure_cache_available(request, 0) is goes_on


@pytest.mark.parametrize(("at", "spent"), [(4, False), (5, True), (6, True)])
def test_a_budget_is_spent_when_its_time_has_come(at, spent):
    now = [0]
    deadlines = Deadlines(5, lambda: now[0])
    assert not deadlines.spent("A", "x")
    deadlines.put_off("A", "x")
    now[0] = at

    assert deadlines.spent("A", "x") is spent
    assert not deadlines.spent("A", "y")


@pytest.mark.parametrize(("at", "stays_spent"), [(4, False), (5, True)])
def test_a_yes_ends_what_is_not_spent_yet(at, stays_spent):
    now = [0]
    deadlines = Deadlines(5, lambda: now[0])
    deadlines.put_off("A", "x")
    now[0] = at
    deadlines.answered("A")
    now[0] = 6

    assert deadlines.spent("A", "x") is stays_spent


def test_time_that_is_up_before_a_schedule_lets_no_request_encode_what_it_cannot(engine):
    """Found by the gate on vLLM's scheduler: the visit went on, and the step was to encode an item without data."""
    e = engine(deadline=3)
    e.add("A", feature("x", 4, here=False))
    e.step()
    e.clock.now += 5  # after the outputs, before the next schedule
    e.step()

    assert e.seen[2, "encode", "A x"] == 0
    assert e.seen[2, "defer", "A"] == e.seen[2, "fail_unavailable", "A"] == 1
