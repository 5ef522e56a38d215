"""Each old value of a switch, set in the specification only, brings its fault back on the running machine.

One scenario per value, played twice: under the old value the journal breaks the property that names the
fault (and where bytes are at stake, a worker reads garbage); under the sound value it breaks nothing.
"""

import pytest
from support.encoder_engine import Engine, feature
from support.lassos import owed_for_ever

from interlock.spec.encoder import SPECIFICATION


def loads_while_it_is_fetched(e):
    """An item is in transit, and the only request that asks for it is visited."""
    e.add("A", feature("x", 0))
    e.step()


def goes_on_with_kv_in_hand(e):
    """A load of KV fails and uncovers an item that another request has just had fetched."""
    e.add("A", feature("x", 0), covered=8, loads=True)
    e.step()
    e.add("B", feature("x", 0))
    e.load_ends("A", well=False)
    e.step()  # B has it fetched
    e.step()
    e.step()


def runs_into_an_item_in_transit(e):
    """A running request comes to an item that another has just had fetched."""
    e.machine._answers._offered = lambda item: e.steps > 1
    e.add("A", feature("y", 20))
    e.step()
    e.add("B", feature("y", 0))
    e.step()
    e.step()


def asks_about_what_the_match_covers(e):
    e.add("A", feature("x", 0), covered=4)
    e.step()


def frees_before_it_is_settled(e):
    """Drafts are not verified yet; another request needs two slots, and the next step still reads the item."""
    e.machine._answers._offered = lambda item: False
    e.add("A", feature("x", 0), drafts=True)
    e.step()
    e.add("B", feature("y", 0), feature("z", 4))
    e.step()


def is_put_off_with_an_item_in_hand(e):
    """Turned away for want of KV with x in hand, and put off for y by the next schedule()."""
    offered = set()
    e.machine._answers._offered = offered.__contains__
    e.add("T")
    e.add("U", feature("x", 0))
    e.step()
    e.finish("U")
    e.step()
    e.add("V")
    e.step()
    e.add("A", feature("x", 0), feature("y", 8))
    e.step()
    offered.add("y")
    e.step()


def takes_what_the_connector_holds(e):
    e.add("A", feature("x", 0))
    e.step()
    e.arrive("x")
    e.step()
    e.step()


def stands_before_a_text_request(e):
    e.add("A", feature("x", 0))
    e.add("T")
    e.step()


FAULTS = [
    ("ec_gate", "none", loads_while_it_is_fetched, "encoder-item-never-read-in-transit", True),
    ("ec_gate", "none", loads_while_it_is_fetched, "forward-reads-its-items", True),
    ("ec_gate", "waiting_only", goes_on_with_kv_in_hand, "goes-on-only-with-its-items-there", True),
    ("ec_gate", "waiting_only", goes_on_with_kv_in_hand, "encoder-item-never-read-in-transit", True),
    ("ec_gate", "waiting_only", runs_into_an_item_in_transit, "forward-reads-its-items", True),
    ("ec_future", "all_features", asks_about_what_the_match_covers, "answer-is-about-future-features", False),
    ("ec_future", "all_features", asks_about_what_the_match_covers, "fetch-is-for-a-future-feature", False),
    ("ec_free", "optimistic", frees_before_it_is_settled, "forward-reads-its-items", True),
    ("ec_free", "optimistic", frees_before_it_is_settled, "entered-feature-has-its-entry", True),
    ("ec_waiting_refs", "kept", is_put_off_with_an_item_in_hand, "deferred-holds-nothing", False),
    ("ec_external", "assumed", takes_what_the_connector_holds, "forward-reads-its-items", True),
    ("ec_defer", "head_of_line", stands_before_a_text_request, "deferred-blocks-nobody", False),
]


@pytest.mark.parametrize(
    ("switch", "value", "scenario", "property_", "garbage"), FAULTS, ids=[f"{s}={v}-{p}" for s, v, _, p, _ in FAULTS]
)
def test_an_old_value_shows_its_fault_and_the_sound_one_does_not(engine, switch, value, scenario, property_, garbage):
    old = Engine(changes={switch: value})
    scenario(old)
    scenario(engine())  # judged when the test is over

    found = old.judged()
    assert found.breaks(property_)
    assert (found.stopped, found.hidden_steps) == ("", 0)
    assert bool(old.faults) is garbage


def ends_while_it_runs(e):
    e.add("A", feature("x", 0), covered=4)
    e.step()
    e.finish("A")
    for _ in range(2):
        e.step()


def waits_for_what_never_comes(e):
    e.add("A", feature("x", 0))
    for _ in range(4):
        e.step()


FOR_EVER = [
    ("ec_finish_delay", "asked", ends_while_it_runs, "ended-requests-give-kv-back"),
    ("ec_deadline", "none", waits_for_what_never_comes, "encoder-deferral-ends"),
]


@pytest.mark.parametrize(
    ("switch", "value", "scenario", "property_"), FOR_EVER, ids=[f"{s}={v}-{p}" for s, v, _, p in FOR_EVER]
)
def test_an_old_value_owes_for_ever_what_the_sound_one_gives(engine, switch, value, scenario, property_):
    declared = SPECIFICATION.property(property_)
    old, sound = Engine(changes={switch: value}), engine()
    scenario(old)
    scenario(sound)

    assert owed_for_ever(old.follower(), old.journal, declared, "A#0")
    assert not owed_for_ever(sound.follower(), sound.journal, declared, "A#0")


def test_request_finished_asks_for_the_kv_only_where_the_specification_lets_it():
    kept, given = Engine(changes={"ec_finish_delay": "asked"}), Engine()
    for e in (kept, given):
        e.add("A")
        e.step()

    assert (kept.finish("A"), given.finish("A")) == (True, False)


def test_where_a_no_ends_the_scan_nobody_else_is_asked():
    e = Engine(changes={"ec_defer": "head_of_line"})
    a, b = e.add("A", feature("x", 0)), e.add("B", feature("y", 0))
    assert not e.machine.ensure_cache_available(a, 0)

    assert not e.machine.scan_goes_on()
    assert not e.machine.ensure_cache_available(b, 0)
    assert [line.event for line in e.journal].count("defer") == 1


def test_every_value_is_judged_or_named_here():
    """A switch or value that the specification gains has its fault shown, or its reason given."""
    sound = SPECIFICATION.switch_values()
    shown = {(s, v) for s, v, *_ in FAULTS} | {(s, v) for s, v, *_ in FOR_EVER}
    others = {
        ("ec_transit", "never"),  # a connector that fetches nothing; the test below
        ("ec_defer", "requeued"),  # the engine keeps the queue; guards refuse visits in another order
    }

    assert shown | others == {(s.name, v) for s in SPECIFICATION.switches for v in s.values if v != sound[s.name]}


def test_a_connector_that_fetches_has_items_in_transit():
    with pytest.raises(
        ValueError, match=r"^these switches are of a connector that has nothing in transit; this one fetches$"
    ):
        Engine(changes={"ec_transit": "never"})
