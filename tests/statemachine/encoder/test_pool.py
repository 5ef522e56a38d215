"""The connector's pool: pins, eviction, tombstones, and reports that come late, twice or never."""

import pytest
from support.encoder_engine import feature

from interlock.statemachine.encoder import EncoderOutput
from interlock.statemachine.errors import IllegalTransition, UnknownTransfer


def entry(engine, item):
    return engine.machine.ledger.function("pool_entry").get(item, "absent")


def fetched(engine, *items):
    """Items that are in the pool, brought by requests that have ended."""
    for item in items:
        engine.add(f"for-{item}", feature(item, 0))
        engine.step()
        engine.arrive(item)
        engine.step()
        engine.finish(f"for-{item}")
    return engine


def test_what_is_being_loaded_is_pinned_and_not_evicted(engine):
    e = fetched(engine(cells=1, late=True, slots=3), "x")
    e.add("A", feature("x", 0))
    e.step()
    assert entry(e, "x") == "pinned"
    e.add("B", feature("y", 0))
    e.step()
    assert (entry(e, "x"), e.seen[4, "encode", "B y"]) == ("pinned", 1)
    e.report(0)
    e.step()
    assert entry(e, "x") == "ready"
    e.add("C", feature("z", 0))
    e.step()

    assert (entry(e, "x"), entry(e, "z")) == ("absent", "in_transit")


def test_a_pin_is_released_with_the_last_workers_report(engine):
    e = fetched(engine(workers=2, late=True), "x")
    e.add("A", feature("x", 0))
    e.step()
    e.report(1)
    e.step()
    assert entry(e, "x") == "pinned"
    e.report(0)
    e.step()

    assert entry(e, "x") == "ready"


def test_the_entry_used_last_stays_longest(engine):
    e = fetched(engine(cells=2), "x", "y")
    e.add("A", feature("x", 0))
    e.step()
    e.finish("A")
    e.add("B", feature("z", 0))
    e.step()

    assert (entry(e, "x"), entry(e, "y")) == ("ready", "absent")


def test_another_policy_evicts_in_another_order(engine):
    def evicted(policy):
        e = fetched(engine(cells=2, policy=policy, slots=1), "x", "y")
        for name, item in (("A", "x"), ("B", "y"), ("C", "x")):
            e.add(name, feature(item, 0))
            e.step()
            e.finish(name)
        fetched(e, "z")
        e.add("D", feature("w", 0))
        e.step()
        return [item for item in "xyz" if entry(e, item) == "absent"]

    assert (evicted("lru"), evicted("arc")) == (["x", "y"], ["y", "z"])


def test_a_transfer_that_fails_leaves_nothing_and_is_tried_again(engine):
    e = engine(deadline=9)
    e.add("A", feature("x", 0))
    e.step()
    e.arrive("x", well=False)
    e.step()
    assert entry(e, "x") == "absent"
    e.step()
    assert entry(e, "x") == "in_transit"
    e.arrive("x")
    e.step()
    e.step()

    assert e.seen[5, "take_external", "A x"] == 1


def test_a_pin_outlives_an_entry_whose_transfer_fails(engine):
    e = engine(judge=False, late=True, changes={"ec_gate": "none"})  # only there is an item loaded in transit
    e.add("A", feature("x", 0))
    e.step()
    e.arrive("x", well=False)
    e.step()
    assert (entry(e, "x"), e.machine.ledger.function("pool_pins")["x"]) == ("absent", 1)
    e.report(0)
    e.step()

    assert e.machine.ledger.function("pool_pins").get("x", 0) == 0


def test_an_arrival_after_an_abort_is_for_whoever_asks_next(engine):
    e = engine()
    e.add("A", feature("x", 0))
    e.step()
    e.finish("A")
    e.arrive("x")
    e.step()
    e.add("B", feature("x", 0))
    e.step()

    assert e.seen[3, "take_external", "B x"] == 1


@pytest.mark.parametrize("how", ["arrived", "failed"])
def test_a_report_that_comes_twice_is_refused_by_name(engine, how):
    e = fetched(engine(), "x")
    before = dict(e.machine.ledger.function("pool_entry"))

    with pytest.raises(UnknownTransfer, match="transfer 0 has ended, says a report; it has ended before"):
        e.machine.update_connector_output(EncoderOutput(**{how: (0,)}))
    with pytest.raises(UnknownTransfer, match=r"transfer 7 .*; it was never started: report each transfer once"):
        e.machine.update_connector_output(EncoderOutput(**{how: (7,)}))
    assert e.machine.ledger.function("pool_entry") == before


@pytest.mark.parametrize(
    ("reports", "surplus"),
    [({"arrived": (0,), "failed": (0,)}, 1), ({"arrived": (0, 0)}, 1), ({"arrived": (0, 0), "failed": (0, 7)}, 3)],
)
def test_a_transfer_on_which_one_output_has_several_reports_has_failed(engine, reports, surplus):
    """Contained; else the second one raises. What the worker had to say of it once is no trace of this engine."""
    e = engine(contain=True, deadline=99, judge=False)
    e.add("A", feature("x", 0))
    e.step()
    assert entry(e, "x") == "in_transit"
    e.machine.update_connector_output(EncoderOutput(**reports))

    assert (entry(e, "x"), e.machine.contained) == ("absent", surplus)


def test_a_second_report_is_never_taken_for_one_on_the_next_transfer_of_the_item(engine):
    e = fetched(engine(cells=1, contain=True, deadline=99), "x")
    fetched(e, "y")
    e.add("A", feature("x", 0))
    e.step()
    assert entry(e, "x") == "in_transit"
    e.machine.update_connector_output(EncoderOutput(arrived=(0,)))

    assert (entry(e, "x"), e.machine.contained) == ("in_transit", 1)
    e.step()
    assert e.faults == []


def test_a_load_that_is_reported_once_too_often_is_refused(engine):
    e = fetched(engine(), "x")
    e.add("A", feature("x", 0))
    e.step()

    with pytest.raises(IllegalTransition, match="pool_load 0 is idle: load_reported is illegal"):
        e.machine.update_connector_output(EncoderOutput(completed={0: 1}))


def test_reports_on_a_load_come_after_the_request_that_wanted_it_has_ended(engine):
    e = fetched(engine(late=True), "x")
    e.add("A", feature("x", 0))
    e.step()
    e.finish("A")
    assert entry(e, "x") == "pinned"
    assert e.machine.has_pending_push_work()
    e.report(0)
    e.step()

    assert entry(e, "x") == "ready"
    assert not e.machine.has_pending_push_work()


def test_an_id_that_comes_again_is_another_request(engine):
    e = engine(deadline=2)
    e.add("A", feature("x", 0))
    e.step()
    e.finish("A")
    e.add("A", feature("y", 0))
    e.step()
    e.step()  # the first one's deadline
    assert entry(e, "x") == "in_transit"
    e.arrive("x")
    e.step()
    e.step()

    assert sum(n for (_, kind, what), n in e.seen.items() if kind == "encode" and what == "A y") == 1


def test_what_has_ended_leaves_nothing_behind(engine):
    e = engine(cells=1)
    for n in range(4):
        fetched(e, f"item{n}")
    e.step()
    e.step()
    left = {name: kept for name, kept in e.machine.ledger._variables.items() if kept}

    about = {name for name, kept in left.items() if any("for-item" in str(key) for key in kept)}
    assert about == set()
    assert e.machine._tracked == e.machine._by_key == e.machine._deadlines._ends == {}
    assert set(left["pool_entry"]) == {"item3"}
    assert set(left.get("pool_pins", ())) <= {"item3"}


def test_one_that_ends_while_its_kv_is_loaded_is_forgotten_with_the_load(engine):
    e = engine()
    e.add("A", feature("x", 0), covered=4, loads=True)
    e.step()
    assert not e.finish("A")
    assert e.machine._tracked
    e.load_ends("A")
    e.step()
    assert e.machine._tracked == e.machine._by_key == {}
    e.add("A", feature("x", 0), covered=4)
    e.step()

    assert e.requests["A"].status == "running"


def test_room_in_the_encoder_cache_is_made_by_what_nobody_uses_oldest_first(engine):
    e = engine(slots=2, offered=lambda item: False)
    for name, item in (("A", "x"), ("B", "y")):
        e.add(name, feature(item, 0))
        e.step()
        e.finish(name)
    e.add("C", feature("z", 0))
    e.step()

    assert set(e.machine.ledger.function("encoder_entry")) == {"y", "z"}
    assert sorted(e.workers[0].cache) == ["y", "z"]


def test_an_item_that_is_used_once_more_makes_room_after_those_that_are_not(engine):
    e = engine(slots=2, offered=lambda item: False)
    for name, item in (("A", "x"), ("B", "y"), ("C", "x")):
        e.add(name, feature(item, 0))
        e.step()
        e.finish(name)
    e.add("D", feature("z", 0))
    e.step()

    assert sorted(e.workers[0].cache) == ["x", "z"]


def test_what_a_running_request_has_found_is_not_counted_as_room(engine):
    """Nobody uses x, so its slot could be made free, but for this visit, which is to read it."""
    e = engine(slots=1, offered=lambda item: False)
    r = e.add("R", feature("x", 8), feature("y", 12))
    e.step()
    e.add("A", feature("x", 0))
    e.running.remove(r)  # it sits a step out
    e.step()
    e.finish("A")
    e.running.append(r)
    e.step()

    assert r.counted == 12  # up to y, for which there is no slot
    e.step()
    assert r.counted == 20


def test_what_the_visit_has_found_is_not_counted_as_room(engine):
    e = engine(slots=1, offered=lambda item: False)
    e.add("A", feature("x", 0))
    e.step()
    a = e.add("B", feature("x", 0, 4), feature("y", 4, 4))
    e.finish("A")
    e.step()

    assert a.counted == 4  # up to y, for which there is no slot
    e.step()
    assert a.counted == 12


def test_a_request_for_whose_item_there_is_no_slot_gets_no_token_and_reads_nothing(engine):
    e = engine(slots=1, offered=lambda item: False)
    e.add("A", feature("x", 0, 64))
    b = e.add("B", feature("y", 3), covered=4)  # in the middle of its item
    e.step()

    assert (b.status, b.counted) == ("running", 4)


def test_tokens_up_to_the_end_of_an_item_are_counted_and_not_rejected(engine):
    e = engine(chunk=8, offered=lambda item: False)
    e.add("A", feature("x", 0, 8), drafts=True)
    e.step()
    e.step()

    assert e.machine.ledger.function("feature_state") == {("A#0", 0): "counted"}


def test_a_slot_that_one_item_was_promised_is_not_found_for_another(engine):
    e = engine(slots=1, offered=lambda item: False)
    e.add("A", feature("x", 0))
    e.step()
    e.finish("A")
    b = e.add("B", feature("y", 0, 4), feature("x", 4, 4))
    e.step()

    assert b.counted == 4  # x has given its slot to y
    e.step()
    assert b.counted == 12


def test_an_item_of_which_there_is_no_entry_yet_is_one_transfer_for_two_places(engine):
    e = engine(chunk=16)
    e.add("A", feature("x", 0), feature("x", 8))
    e.step()
    assert e.in_flight() == ["x"]
    e.arrive("x")
    e.step()
    e.step()

    assert e.seen[3, "take_external", "A x"] == 1
    assert not e.machine.ledger.relation("uses")  # both places are computed


def test_two_that_wait_do_not_evict_each_others_items_for_ever(engine):
    """The pool has two items of each, and no room for the third of both; no time passes."""
    e = fetched(engine(slots=3, cells=4, chunk=12, deadline=1e9), *"tuwx")
    for name, items in {"A": "tuv", "B": "wxy"}.items():
        e.add(name, *(feature(item, 4 * place) for place, item in enumerate(items)))
    for _ in range(10):
        e.step()
        for item in e.in_flight():
            e.arrive(item)

    assert [name for name, r in e.requests.items() if not r.counted] == []
    assert not e.faults
