"""ensure_cache_available: never blocks, asks about future features only, and puts nobody else off."""

import pytest
from support.encoder_engine import Request, feature

from interlock.statemachine.encoder import EncoderOutput
from interlock.statemachine.errors import (
    GuardViolation,
    MissingItem,
    NoOpenVisit,
    OutOfTurn,
    RequestIdInUse,
    UnknownPolicy,
    UnknownRequest,
)


def state(engine, name):
    (found,) = [s for key, s in engine.machine.ledger.function("visit_state").items() if key.partition("#")[0] == name]
    return found


# The tests that came with vLLM PR 41627, in its words.


def test_a_deferred_request_gets_no_kv_and_no_encoder_allocation(engine):
    e = engine()
    a = e.add("A", feature("x", 4))
    e.step()

    assert (state(e, "A"), a.kv, a.counted) == ("deferred", False, 0)
    assert not e.machine.ledger.relation("uses")
    assert not e.machine.ledger.relation("kv_held")


def test_a_text_request_behind_it_is_scheduled(engine):
    e = engine(chunk=20)
    e.add("A", feature("x", 4))
    text = e.add("T")
    e.step()

    assert (state(e, "T"), text.counted) == ("running", 20)


def test_when_the_answer_turns_and_the_item_exists_it_is_scheduled(engine):
    e = engine()
    a = e.add("A", feature("x", 4))
    e.step()
    e.arrive("x")
    e.step()  # its outputs bring the news
    e.step()

    assert (state(e, "A"), a.counted) == ("running", 8)
    assert e.seen[3, "take_external", "A x"] == 1


def test_a_pending_prefetch_asks_only_about_features_beyond_the_computed_tokens(engine):
    e = engine()
    a = e.add("A", feature("x", 0), feature("y", 12), covered=4)
    e.step()
    assert e.in_flight() == ["y"]
    e.arrive("y")
    e.step()
    e.step()

    assert (state(e, "A"), a.counted) == ("running", 12)


def test_an_item_that_the_match_covers_is_no_reason_to_defer(engine):
    e = engine()
    e.add("A", feature("x", 0))
    e.add("B", feature("x", 0), covered=4)
    e.step()

    assert (state(e, "A"), state(e, "B")) == ("deferred", "running")


def test_a_match_that_shrinks_is_about_what_it_covers_now(engine):
    e = engine()
    a = e.add("A", feature("x", 0), feature("y", 8), covered=4)
    e.step()
    assert e.in_flight() == ["y"]
    a.covered = 0
    e.step()

    assert e.in_flight() == ["y", "x"]


# What R-64 asks of every connector.


def test_asking_again_starts_no_second_transfer_and_moves_nothing_in_the_pool(engine):
    e = engine(deadline=99)
    e.add("A", feature("x", 4), feature("x", 12))
    e.step()
    moves = e.machine._pool.moves
    for _ in range(2):
        e.step()

    assert (len(e.fetches), e.machine._pool.moves) == (1, moves)


def test_a_no_is_said_again_without_a_look_until_something_has_moved(engine, monkeypatch):
    e = engine(deadline=99)
    e.add("A", feature("x", 4))
    e.step()
    looks = []
    look = e.machine._answers._fetch
    monkeypatch.setattr(e.machine._answers, "_fetch", lambda *asked: looks.append(e.steps) or look(*asked))
    e.step()
    e.step()
    assert looks == []
    e.arrive("x")
    e.step()
    assert looks == []  # the news comes with these outputs
    e.step()

    assert looks == [5]


def test_it_may_be_asked_twice_in_one_schedule(engine):
    e = engine()
    a = e.add("A", feature("x", 4))
    answers = [e.machine.ensure_cache_available(a, 0) for _ in range(3)]
    e._see("defer", "A")

    assert answers == [False] * 3
    assert [line.event for line in e.journal].count("defer") == 1


def test_asking_once_more_disturbs_no_visit(engine):
    e = engine(offered=lambda item: False)
    a, b = e.add("A", feature("x", 20)), e.add("B", feature("y", 20))
    e.step()
    ask = e.machine.ensure_cache_available
    assert (ask(a, 8), ask(b, 8), ask(a, 8), ask(b, 8)) == (True, True, True, True)
    e.machine.request_scheduled(b, 8, 16)
    assert ask(a, 8)
    e.machine.update_state_after_alloc(b, 0)
    e._see("encode", "B", "y")


def test_a_yes_stands_for_its_schedule_whatever_others_have_fetched(engine):
    offered = set()
    e = engine(offered=offered.__contains__)
    a = e.add("A", feature("x", 20))
    e.step()
    b = e.add("B", feature("x", 0))
    assert e.machine.ensure_cache_available(a, 8)
    offered.add("x")
    assert not e.machine.ensure_cache_available(b, 0)
    e._see("defer", "B")
    e.machine.build_connector_meta()
    e._see("build_connector_meta")

    assert state(e, "A") == "running"


def test_two_requests_share_one_transfer(engine):
    e = engine()
    e.add("A", feature("x", 4))
    e.add("B", feature("x", 0))
    e.step()
    assert e.in_flight() == ["x"]
    e.arrive("x")
    e.step()
    e.step()

    assert (state(e, "A"), state(e, "B")) == ("running", "running")
    assert sum(n for (_, kind, _), n in e.seen.items() if kind == "take_external") == 1


def test_what_the_other_side_does_not_have_is_never_waited_for(engine):
    e = engine(offered=lambda item: item != "x")
    e.add("A", feature("x", 4))
    e.step()

    assert e.seen[1, "encode", "A x"] == 1


def test_an_item_that_the_encoder_cache_has_is_not_fetched(engine):
    e = engine(offered=lambda item: False)
    e.add("A", feature("x", 4))
    e.step()
    e.machine._answers._offered = lambda item: True
    e.add("B", feature("x", 4))
    e.step()

    assert e.fetches == {}
    assert state(e, "B") == "running"


def test_a_full_pool_starts_nothing_and_puts_nobody_off(engine):
    e = engine(cells=1)
    e.add("A", feature("x", 4))
    e.add("B", feature("y", 4))
    e.step()

    assert (state(e, "A"), state(e, "B")) == ("deferred", "running")
    assert e.seen[1, "encode", "B y"] == 1


def test_a_request_that_waits_for_two_items_does_not_evict_one_for_the_other(engine):
    e = engine(cells=1)
    e.add("A", feature("x", 0), feature("y", 8))
    e.step()
    e.arrive("x")
    e.step()
    e.step()
    e.step()

    assert e.seen[3, "take_external", "A x"] == 1
    assert (state(e, "A"), e.in_flight()) == ("stalled", ["y"])  # x has been of use


def test_a_running_request_is_put_off_too_and_keeps_its_kv(engine):
    e = engine(offered=lambda item: item == "y")
    a = e.add("A", feature("x", 0), feature("y", 12))
    b = e.add("B", feature("y", 0))
    e.step()
    assert (state(e, "A"), state(e, "B")) == ("deferred", "deferred")
    e.arrive("y")
    e.step()
    e.step()
    e.preempt("A")
    assert state(e, "A") == "preempted"
    e.step()

    assert (a.kv, b.kv) == (True, True)


def test_a_waiting_request_is_deferred_before_its_load_of_kv_and_not_while_it_loads(engine):
    e = engine()
    a = e.add("A", feature("x", 0), feature("y", 12), covered=8, loads=True)
    e.step()
    assert (state(e, "A"), a.kv) == ("deferred", False)
    e.arrive("y")
    e.step()
    e.step()
    assert (state(e, "A"), a.kv) == ("loading", True)
    e.load_ends("A")
    e.step()
    e.step()

    assert state(e, "A") == "running"


def test_a_load_of_kv_that_fails_uncovers_a_feature_and_the_request_is_asked_again(engine):
    e = engine()
    a = e.add("A", feature("x", 0), covered=8, loads=True)
    e.step()
    e.load_ends("A", well=False)
    e.step()
    assert (state(e, "A"), a.kv, a.counted) == ("waiting", True, 0)
    e.step()
    assert (state(e, "A"), a.kv) == ("stalled", True)
    e.arrive("x")
    e.step()
    e.step()

    assert state(e, "A") == "running"


@pytest.mark.parametrize("well", [True, False])
def test_of_who_has_ended_while_it_loaded_nothing_is_left_however_the_load_ends(engine, well):
    e = engine()
    e.add("A", feature("x", 0), covered=8, loads=True)
    e.step()
    e.finish("A")
    e.load_ends("A", well=well)
    e.step()

    assert "A" not in e.machine._tracked
    e.add("A", feature("x", 0))
    assert not e.judged().stopped


# What is refused.


def test_a_visit_out_of_turn_is_refused(engine):
    e = engine(judge=False)
    e.add("A")
    b = e.add("B", feature("x", 0))

    with pytest.raises(GuardViolation, match="in-its-turn"):
        e.machine.ensure_cache_available(b, 0)


def test_calls_outside_a_visit_are_refused(engine):
    e = engine(judge=False)
    a = e.add("A", feature("x", 0))

    with pytest.raises(NoOpenVisit, match=r"has_cache_item: .* ensure_cache_available opens it"):
        e.machine.has_cache_item("x")
    with pytest.raises(NoOpenVisit, match="check_and_update_cache"):
        e.machine.check_and_update_cache(a, 0)


@pytest.mark.parametrize("ends", ["deferred", "turned away", "loading"])
def test_a_visit_that_has_ended_takes_nothing(engine, ends):
    e = engine(judge=False, shares=1, offered=lambda item: ends == "deferred")
    if ends == "turned away":
        e.add("T")
        e.step()
    a = e.add("A", feature("x", 0), feature("y", 12))
    e.machine.ensure_cache_available(a, 8)
    if ends == "turned away":
        e.machine.free(a)
    if ends == "loading":
        e.machine.kv_load_started(a)

    with pytest.raises(NoOpenVisit):
        e.machine.check_and_update_cache(a, 1)


def test_tokens_of_an_item_that_is_nowhere_are_refused(engine):
    e = engine(judge=False, offered=lambda item: False)
    a = e.add("A", feature("x", 0))
    assert e.machine.ensure_cache_available(a, 0)
    e.machine.request_scheduled(a, 0, 8)

    with pytest.raises(
        MissingItem, match=r"request 'A' .* feature 0, and item 'x' has no place .* cache: update_state_"
    ):
        e.machine.build_connector_meta()


def test_an_item_that_has_no_place_is_missed_before_the_next_visit(engine):
    e = engine(judge=False, offered=lambda item: False)
    a, b = e.add("A", feature("x", 0), feature("y", 4)), e.add("B", feature("z", 0))
    assert e.machine.ensure_cache_available(a, 0)
    e.machine.request_scheduled(a, 0, 8)
    e.machine.update_state_after_alloc(a, 0)
    done = len(e.journal)

    with pytest.raises(MissingItem, match="feature 1, and item 'y'"):
        e.machine.ensure_cache_available(b, 0)
    assert len(e.journal) == done


@pytest.mark.parametrize("checking", [True, False])
@pytest.mark.parametrize(("call", "tokens"), [("request_scheduled", (8, 8)), ("kv_load_started", ())])
def test_nobody_goes_on_with_items_to_come_without_a_yes(engine, call, tokens, checking):
    """It was accepted, and what came later said nothing of what was forgotten."""
    e = engine(judge=False, checking=checking)
    a = e.add("A", feature("x", 0), feature("y", 12))
    done = len(e.journal)
    with pytest.raises(NoOpenVisit, match=f"{call}: .* ensure_cache_available opens it"):
        getattr(e.machine, call)(a, *tokens)
    assert len(e.journal) == done

    assert not e.machine.ensure_cache_available(a, 8)
    done = len(e.journal)
    with pytest.raises(OutOfTurn, match=f"{call}: request 'A' was told no by ensure_cache_available: leave it out"):
        getattr(e.machine, call)(a, *tokens)
    assert len(e.journal) == done

    e.machine.build_connector_meta()
    e.machine.update_connector_output(EncoderOutput(arrived=(0,)))
    with pytest.raises(NoOpenVisit, match=call):  # the yes is of each schedule anew
        getattr(e.machine, call)(a, *tokens)
    assert e.machine.ensure_cache_available(a, 8)
    getattr(e.machine, call)(a, *tokens)


def test_of_one_that_runs_the_yes_is_of_each_schedule_anew(engine):
    e = engine(judge=False, offered=lambda item: False)
    a = e.add("A", feature("x", 12))
    e.step()

    with pytest.raises(NoOpenVisit, match="request_scheduled"):
        e.machine.request_scheduled(a, 8, 4)


def test_whose_items_are_all_computed_need_not_be_asked_about(engine):
    e = engine(judge=False, offered=lambda item: False)
    a = e.add("A", feature("x", 0))
    e.step()
    e.machine.request_scheduled(a, 8, 1)

    assert state(e, "A") == "running"


@pytest.mark.parametrize("checking", [True, False])
def test_one_that_runs_and_is_passed_over_is_put_off_for_what_it_needs_and_no_other(engine, checking):
    """Whether guards are checked, and all are visited, or not."""
    offered = set()
    e = engine(judge=False, chunk=4, shares=3, slots=4, checking=checking, offered=offered.__contains__)
    a, _ = e.add("A", feature("x", 0)), e.add("B", feature("y", 0), feature("z", 12))
    e.machine._all_are_visited = checking  # as without a journal
    e.step()
    offered.add("z")
    c = e.add("C", feature("z", 0))
    assert not e.machine.ensure_cache_available(c, 0)  # it comes after those that run
    assert (state(e, "A"), state(e, "B")) == ("running", "running")
    e.machine.build_connector_meta()
    e.machine.update_connector_output(EncoderOutput(num_computed_tokens={"A": 4, "B": 4}))
    assert not e.machine.ensure_cache_available(c, 0)
    assert (state(e, "A"), state(e, "B")) == ("running", "stalled")
    e.machine.build_connector_meta()
    e.machine.update_connector_output(EncoderOutput())
    assert e.machine.ensure_cache_available(a, 4)
    e.machine.request_scheduled(a, 4, 1)


def test_under_a_gate_that_asks_nobody_nobody_needs_a_yes(engine):
    e = engine(judge=False, changes={"ec_gate": "none"})
    a = e.add("A", feature("x", 8))
    e.machine.request_scheduled(a, 0, 8)

    assert state(e, "A") == "running"


def test_under_a_gate_that_asks_who_waits_no_runner_needs_a_yes(engine):
    e = engine(judge=False, offered=lambda item: False, changes={"ec_gate": "waiting_only"})
    a = e.add("A", feature("x", 12))
    with pytest.raises(NoOpenVisit, match="request_scheduled"):
        e.machine.request_scheduled(a, 0, 8)
    e.step()
    e.machine.request_scheduled(a, 8, 4)

    assert state(e, "A") == "running"


@pytest.mark.parametrize("checking", [True, False])
def test_an_item_takes_its_place_once_the_request_is_scheduled(engine, checking):
    e = engine(judge=False, offered=lambda item: False, checking=checking)
    a = e.add("A", feature("x", 0))
    assert e.machine.ensure_cache_available(a, 0)
    with pytest.raises(
        OutOfTurn, match="update_state_after_alloc: request 'A' is not scheduled in this step: request_sch"
    ):
        e.machine.update_state_after_alloc(a, 0)
    e.machine.request_scheduled(a, 0, 8)
    e.machine.update_state_after_alloc(a, 0)
    e.machine.build_connector_meta()


@pytest.mark.parametrize("checking", [True, False])
@pytest.mark.parametrize(
    ("first", "wrong"),
    [
        (("request_scheduled", 8, 4), "is scheduled in this step already: give all tokens of a step in one call"),
        (("kv_load_started",), "has its KV loaded: schedule it once finished_recving or failed_recving has named it"),
    ],
)
def test_a_step_has_a_request_compute_once_and_not_while_its_kv_is_loaded(engine, first, wrong, checking):
    """Both were accepted, and the tokens of the later call were those that counted."""
    e = engine(judge=False, offered=lambda item: False, checking=checking)
    a = e.add("A", feature("x", 0), feature("y", 12))
    assert e.machine.ensure_cache_available(a, 8)
    call, *tokens = first
    getattr(e.machine, call)(a, *tokens)
    done = len(e.journal)

    with pytest.raises(OutOfTurn, match=f"request_scheduled: request 'A' {wrong}"):
        e.machine.request_scheduled(a, 8, 4)
    assert len(e.journal) == done
    e.machine.build_connector_meta()


def test_an_id_is_refused_while_it_is_in_use_and_unknown_ones_are_named(engine):
    e = engine()
    e.add("A")

    with pytest.raises(RequestIdInUse, match="request 'A' has not ended"):
        e.machine.on_new_request(Request("A", ()))
    with pytest.raises(UnknownRequest, match="request_finished: request 'B' has not arrived"):
        e.machine.request_finished(Request("B", ()))


def test_an_unknown_policy_is_refused_by_name(engine):
    with pytest.raises(UnknownPolicy, match="unknown eviction policy 'fifo'; known: lru, arc"):
        engine(policy="fifo")
