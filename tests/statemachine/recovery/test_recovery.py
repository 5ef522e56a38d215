"""What the tests by contents and by random runs do not single out."""

import doctest
import pydoc
from importlib import import_module

import pytest
from support.counted import lines_of
from support.recovering import Engine
from support.recovering_oracle import violations
from support.recovering_replay import replayed

from interlock.spec.engine import SPECIFICATION
from interlock.spec.engine.vocabulary import PROMPT
from interlock.spec.language import terms as T
from interlock.statemachine.decisions.listing import HAND_WRITTEN_FOR_RECOVERY, recovery_listing
from interlock.statemachine.recovery import Group, HeldRequest, LoadRecovery, LoadReport, Offers
from interlock.statemachine.recovery.books import ACTIONS, with_prompts
from interlock.statemachine.recovery.pieces import has_what_it_attends_to


def recovery(*groups, **switches):
    values = SPECIFICATION.switch_values(changes=switches)
    return LoadRecovery(groups=groups or (Group(4),), switches=values)


def running(name, table, computed, scheduled=0, prompt=None, **more):
    """A request of one group; what is in flight is on top of what is computed."""
    return HeldRequest(
        name, [table], computed + scheduled, prompt or computed + scheduled, scheduled=(scheduled,), **more
    )


# -- a block is computed again in several steps --------------------------------------------------------


def test_under_a_token_budget_a_block_is_owed_until_its_last_token_is_scheduled():
    r = recovery()
    r.take_report(LoadReport({8}), [running("A", [7, 8, 9], 8, 3), running("B", [7, 8, 5], 8, 1)])
    sharer, owed = HeldRequest("B", [[7, 8, 5]], 8, 9), []
    for start in (4, 6, 7):
        a = HeldRequest("A", [[7, 8, 9]], start, 11)
        assert not r.waits(a)
        owed.append((r.wrong_from.get(8), r.waits(sharer)))
        r.dispatched([(a, 2 if start == 4 else 1)])
    owed.append((r.wrong_from.get(8), r.waits(sharer)))

    assert owed == [(4, True), (6, True), (7, True), (None, False)]
    assert r.wrong_from == {9: 8, 5: 8}  # their own last blocks
    assert r.owes


def test_a_step_settles_only_what_it_computes():
    """Here a sharer does not wait: it computes what comes after the block, which is wrong as before."""
    r = recovery(shared_recompute="trusted")
    r.take_report(LoadReport({8}), [running("A", [7, 8], 8), running("B", [7, 8, 5], 8, 1)])
    sharer = HeldRequest("B", [[7, 8, 5]], 8, 9)

    assert not r.waits(sharer)
    r.dispatched([(sharer, 1)])

    assert r.wrong_from == {8: 4, 5: 9}


def test_in_an_engine_nobody_reads_or_finds_a_half_computed_block():
    engine = Engine(blocks=6, block_size=4, budget=64)
    engine.add("A", (1,) * 9)
    engine.add("B", (1,) * 9)
    engine.schedule(offers={"A": ("sync", 8)})
    engine.run(*engine.requests["A"].table[:2])
    engine.update()
    for _ in range(8):
        assert violations(engine) == set()
        assert engine.delivered == [] or engine.requests["A"].computed >= 9
        engine.schedule(chunk=3)
        engine.run()
        engine.update()
    assert set(engine.delivered) == {"A", "B"}


# -- whoever was to compute a block again goes away ------------------------------------------------------


@pytest.mark.parametrize("goes", ["finish", "reset"])
def test_a_sharer_takes_over(goes):
    engine = Engine(blocks=4)
    engine.add("A")
    engine.add("B")
    engine.schedule(offers={"A": ("sync", 1)})
    engine.run(0)
    engine.update()
    getattr(engine, goes)("A")
    engine.schedule("B")
    engine.run()
    engine.update()

    assert [e.action for e in engine.events if e.event == "take_over"] == ["take_over"]
    assert engine.delivered == ["B"]
    assert violations(engine) == set()
    assert replayed(engine) == (set(), None)


def test_who_keeps_its_base_owes_what_it_counts_behind_a_failed_block():
    """Whoever computed block 9 from the failed block 8 may have ended: nobody but B would know that it is wrong."""
    r = recovery()
    a, b = running("A", [7, 8], 8), running("B", [7, 8, 9], 12)
    answer = r.take_report(LoadReport({8}), [a, b])
    assert [(d.action, d.num_computed_tokens) for d in answer.rollbacks.values()] == [("claim", 4), ("keep_base", 12)]
    assert r.wrong_from == {8: 4, 9: 8}
    assert answer.unhashed == {8, 9}

    a = running("A", [7, 8], 4)
    assert r.waits(b)
    assert not r.take_over([a, b]).rollbacks
    r.dispatched([(a, 4)])
    taken = r.take_over([running("A", [7, 8], 8), b])

    assert [(d.action, d.block_id, d.num_computed_tokens) for d in taken.rollbacks.values()] == [("take_over", 9, 8)]
    r.dispatched([(running("B", [7, 8, 9], 8), 4)])
    assert not r.owes


def test_who_claims_a_block_owes_what_comes_before_it_behind_another_ones():
    r = recovery()
    a, b = running("A", [6], 4), running("B", [6, 7, 8], 12)
    answer = r.take_report(LoadReport({6, 8}), [a, b])

    assert [(d.action, d.num_computed_tokens) for d in answer.rollbacks.values()] == [("claim", 0), ("claim", 8)]
    assert r.wrong_from == {6: 0, 7: 4, 8: 8}


def test_what_nobody_holds_is_owed_to_nobody():
    r = recovery()
    r.take_report(LoadReport({8}), [running("A", [7, 8], 8)])
    assert r.wrong_from == {8: 4}
    r.blocks_forgotten([8, 9])
    assert not r.owes


def test_a_block_that_is_allocated_anew_is_not_wrong():
    r = recovery()
    r.take_report(LoadReport({8}), [running("A", [7, 8], 8)])
    r.dispatched([(HeldRequest("C", [[8]], 0, 4), 1)], new_block_ids=[8])
    assert not r.owes


def test_a_new_block_is_not_wrong_for_what_it_held_before():
    """Here its next holder computes but one token of it in this step, which alone would settle one token."""
    for step in ([(HeldRequest("C", [[5, 8]], 4, 8), 1)], []):
        r = recovery()
        r.take_report(LoadReport({8}), [running("A", [7, 8], 8)])
        r.dispatched(step, new_block_ids=[8])

        assert not r.owes


@pytest.mark.parametrize(("loaded", "left"), [(8, 4), (6, 2), (4, 0), (0, 0)])
def test_what_a_request_goes_back_to_counts_first_what_the_gpu_had(loaded, left):
    """Of 8 cached tokens so many were loaded, the last ones; it goes back to 4."""
    q = HeldRequest("A", [[7, 8, 9]], 11, 11, scheduled=(3,), num_cached_tokens=8, num_external_tokens=loaded)
    done = recovery().take_report(LoadReport({8}), [q]).rollbacks["A"]

    assert (done.num_cached_tokens, done.num_external_tokens) == (4, left)


@pytest.mark.parametrize(("told", "base"), [(None, 7), ({"A": 1}, 7), ({"A": 2}, 6), ({"A": 0}, 8), ({"B": 1}, 8)])
def test_where_the_map_is_believed_a_request_that_is_not_in_it_counts_none(told, base):
    """Of 8 tokens one is under way."""
    report = LoadReport({8}, num_scheduled_tokens=told)
    done = recovery(recovery_base="computed_minus_scheduled").take_report(report, [running("A", [7, 8], 7, 1)])

    assert done.rollbacks["A"].base == base


# -- the policy fail -------------------------------------------------------------------------------------


def test_every_later_block_loses_its_hash_freshly_scheduled_ones_included():
    r = recovery(load_failure_policy="fail")
    q = HeldRequest("A", [[6, 7, 8, 9]], 15, 15, scheduled=(3, 2))

    answer = r.take_report(LoadReport({7}), [q])

    done = answer.rollbacks["A"]
    assert (done.action, done.ends, done.status) == ("fail_running", True, "absent")
    assert answer.unhashed == {7, 8, 9}
    assert (done.dropped, done.parked) == ((0, 1), (1,))


def test_a_request_that_still_loads_is_held():
    r = recovery(load_failure_policy="fail")
    done = r.take_report(LoadReport({7}), [HeldRequest("A", [[6, 7]], 8, 8, "loading")]).rollbacks["A"]
    assert (done.action, done.ends, done.status, done.parked) == ("fail_loading", True, "held", ())


# -- a life that a reset has ended -----------------------------------------------------------------------


def test_tokens_of_an_ended_life_are_not_in_flight():
    """The processed step is of the life before: nothing of it is subtracted, from the base or from what is in flight."""
    q = HeldRequest("A", [[7, 8, 9]], 10, 10, scheduled=(3, 2), stale={0})
    for value in ("drop", "deliver"):
        done = recovery(in_flight_output=value).take_report(LoadReport({8}), [q]).rollbacks["A"]
        assert (done.base, done.num_computed_tokens) == (8, 4)
        assert done.num_in_flight_tokens == (0 if value == "drop" else 2)
    seeds = recovery(recovery_base="computed_minus_scheduled").take_report(LoadReport({8}), [q]).rollbacks["A"]
    assert seeds.base == 7


# -- loads that fail as a whole, and what is offered after a failure ---------------------------------------


def test_a_load_that_failed_as_a_whole_leaves_nothing_and_is_not_offered_again():
    r = recovery()
    q = HeldRequest("A", [[6, 7]], 8, 8, "loading", num_external_tokens=4)
    done = r.take_report(LoadReport(failed_recving=["A", "gone"]), [q]).rollbacks["A"]
    assert (done.action, done.num_computed_tokens, done.num_external_tokens) == ("take_failure", 0, 0)
    assert not r.offers.may_offer("A")

    r.request_finished("A")
    assert r.offers.may_offer("A")


def test_what_was_offered_in_vain_may_be_offered_under_the_old_value():
    offers = Offers(SPECIFICATION.switch_values(changes={"reoffer": "allowed"}))
    offers.refuse("A")
    assert offers.may_offer("A")


def test_a_request_that_has_failed_leaves_no_refusal_for_the_next_of_its_id():
    r = recovery(load_failure_policy="fail")
    r.take_report(LoadReport(failed_recving=["A"]), [HeldRequest("A", [[6]], 4, 4, "loading")])
    assert r.offers.may_offer("A")


# -- groups ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("window", "preempt"), [(None, True), (8, True), (4, False)])
def test_where_a_window_was_given_back_the_request_is_to_be_preempted(window, preempt):
    """It goes back to token 8; a window of 8 then begins at token 0, one of 4 at token 4."""
    r = recovery(Group(4), Group(4, window))
    q = HeldRequest("A", [[1, 2, 3, 4], [None, 12, 13, 14]], 16, 16)

    done = r.take_report(LoadReport({3}), [q]).rollbacks["A"]

    assert (done.num_computed_tokens, done.preempt) == (8, preempt)


def test_a_block_of_a_coarser_group_is_cut_where_its_request_goes_back_to():
    r = recovery(Group(1), Group(2))
    r.take_report(LoadReport({9}), [HeldRequest("A", [[8, 9], [10]], 2, 2)])
    assert r.wrong_from == {9: 1, 10: 1}


def test_a_block_is_wrong_from_the_first_of_its_wrong_tokens_on():
    r = recovery(Group(1), Group(4))
    r.take_report(LoadReport({9, 10}), [HeldRequest("A", [[8, 9, 10], [11]], 3, 3)])

    assert r.wrong_from == {9: 1, 10: 2, 11: 1}
    a = HeldRequest("A", [[8, 9, 10], [11]], 1, 3)
    r.dispatched([(a, 1)])
    assert r.wrong_from == {10: 2, 11: 2}


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ([HeldRequest("A", [[1], [2]], 4, 4)], "A has 2 block tables for 1 groups"),
        ([running("A", [1, 2], 8), running("B", [2, 1], 8)], "block 2 is at position 0 of B, 4 elsewhere"),
    ],
)
def test_tables_that_cannot_be_are_refused(requests, words):
    with pytest.raises(ValueError, match=words):
        recovery().take_report(LoadReport({2}), requests)


def test_a_status_that_is_not_one_is_refused_and_not_passed_over():
    with pytest.raises(ValueError, match="A is 'RUNNING'; a request that holds blocks is running, promoted"):
        HeldRequest("A", [[1]], 4, 4, "RUNNING")


def test_sizes_are_positive():
    with pytest.raises(ValueError, match="positive numbers of tokens"):
        Group(0)


# -- nothing to do -------------------------------------------------------------------------------------------


def test_a_report_on_blocks_that_nobody_counts_changes_no_request():
    """Freshly scheduled blocks are no loaded ones; a block that nobody holds loses its hash."""
    answer = recovery().take_report(LoadReport({9, 77}), [running("A", [7, 8, 9], 8, 3)])
    assert answer.rollbacks == {}
    assert answer.unhashed == {9, 77}


def test_a_map_that_is_wrong_by_more_than_one_token_changes_nothing_for_us():
    q = running("A", [7, 8, 9], 8, 3)
    right = recovery().take_report(LoadReport({8}, (), {"A": 3}), [q])
    for said in ({"A": 11}, {"A": 1}, {}, None):
        assert recovery().take_report(LoadReport({8}, (), said), [q]) == right
    believed = recovery(recovery_base="computed_minus_scheduled")
    assert believed.take_report(LoadReport({8}, (), {"A": 7}), [q]).rollbacks == {}


# -- what is compiled and what is not ----------------------------------------------------------------------------


def test_the_listing_says_what_is_compiled_and_what_is_not():
    rows = recovery_listing(SPECIFICATION, SPECIFICATION.switch_values())
    compiled = {r.where: r for r in rows if r.how == "compiled"}

    assert {r.where.rpartition("/")[2] for r in rows if r.kind == "row"} <= set(ACTIONS)
    assert {r.where.partition("/")[0] for r in rows if r.kind == "update"} <= set(ACTIONS)
    assert {r.kind for r in rows} == {"guard", "row", "update", "term", "choice"}
    assert "recovery_base" in compiled["base"].switches
    assert compiled["base"].text == "computed(r) - in_flight(r)"
    assert {s for r in rows for s in r.switches} >= {
        "recovery_base", "load_failure_policy", "invalid_hash", "in_flight_output", "invalid_scan", "reoffer",
        "shared_recompute", "cached_count",
    }  # fmt: skip
    assert {r.where for r in rows if r.how == "hand-written"} == {r.where for r in HAND_WRITTEN_FOR_RECOVERY}
    assert not any(r.switches for r in HAND_WRITTEN_FOR_RECOVERY)
    for r in HAND_WRITTEN_FOR_RECOVERY:
        assert pydoc.locate(f"interlock.statemachine.{r.where}") is not None, r.where


def test_no_length_of_the_models_prompts_is_left_in_what_recovery_runs():
    spec = with_prompts(SPECIFICATION)
    for name in ACTIONS:
        action = spec.action(name)
        terms = [t for u in action.updates for t in (u.value, u.when, *u.args)] + [c.term for c in action.guard]
        assert not any(T.Int(value=PROMPT) == t for term in terms for t in T.subterms(term)), name


@pytest.mark.parametrize("name", ["recovery", "offers"])
def test_examples_in_the_documentation_run(name):
    tried = doctest.testmod(import_module(f"interlock.statemachine.recovery.{name}"))

    assert tried.attempted
    assert not tried.failed


@pytest.mark.parametrize(
    ("table", "window", "tokens", "has_it"),
    [
        ((1, 2), None, 5, True),
        ((1, None), None, 5, False),  # the fifth token is in the second block
        ((1, None), None, 4, True),
        ((None, 2), None, 8, False),
        ((None, 2), 4, 8, True),
        ((None, 2), 5, 8, False),  # the window reaches into the first
        ((None, None), 4, 0, True),
    ],
)
def test_a_token_attends_to_whole_blocks_from_the_one_in_which_its_window_begins(table, window, tokens, has_it):
    request = HeldRequest("A", (table,), tokens, 8)

    assert has_what_it_attends_to(request, (Group(4, window),), tokens) == has_it


def test_a_request_without_more_is_running_with_nothing_under_way():
    request = HeldRequest("A", ((1,),), 4, 8)

    assert (request.status, tuple(request.scheduled), tuple(request.stale)) == ("running", (), ())
    assert (request.placeholders, request.num_cached_tokens, request.num_external_tokens) == (0, 0, 0)


# -- long tables -----------------------------------------------------------------------------------------


def test_who_is_asked_whether_it_waits_is_not_looked_through():
    """Once for each request and step, while something is owed: what is owed says where it would be."""

    def lines(blocks):
        table, others = list(range(1, blocks + 1)), list(range(blocks + 1, 2 * blocks + 1))
        r = recovery()
        r.take_report(LoadReport({blocks}), [running("A", table, 4 * blocks)])
        tables = {"A": table, "B": others, "C": table[:-1]}
        a, b, c = (HeldRequest(name, [t], 4 * blocks, 4 * blocks + 1) for name, t in tables.items())
        return [lines_of(lambda q=q: r.waits(q)) for q in (a, b, c)], [r.waits(q) for q in (a, b, c)]

    assert lines(2000) == lines(20)


@pytest.mark.parametrize("owed", [1, 3])
@pytest.mark.parametrize("group", [0, 1])
def test_a_block_is_found_whether_tables_or_what_is_owed_are_longer(owed, group):
    """In each of two groups, at a place of its own; where another has the same block elsewhere it is another's."""
    r = recovery(Group(1), Group(2))
    tables = [[7, 8, 9, 5], [17, 18]]
    r.take_report(LoadReport(set([tables[0][2:], tables[1][1:]][group])), [HeldRequest("A", tables, 4, 4)])
    assert set(r.wrong_from) == {9, 5, 18}
    if owed == 1:
        r.blocks_forgotten({9, 5, 18} - {9 if group == 0 else 18})
    waits = r.waits(HeldRequest("B", tables, 4, 5)), r.waits(HeldRequest("C", [[1, 2, 3, 4], [11, 12]], 4, 5))
    elsewhere = [9, 1, 2, 3] if group == 0 else [1, 2, 3, 4], [11, 12] if group == 0 else [18, 11]

    assert waits == (True, False)
    assert not r.waits(HeldRequest("D", elsewhere, 4, 5))


@pytest.mark.parametrize("failed", [1, None], ids=["one-fails", "all-fail"])
def test_the_work_of_a_failure_grows_with_the_table_and_not_with_its_square(failed):
    """Of blocks from place 10 on, shared by two; what lies behind the failed ones is owed."""

    def lines(blocks):
        table = list(range(1, blocks + 1))
        first, sharer = (running(n, table, 4 * blocks) for n in ("A", "B"))
        r = recovery()

        def take():
            r.take_report(LoadReport(set(table[10:][:failed])), [first, sharer])
            assert r.waits(sharer)
            r.take_over([sharer])

        taken = lines_of(take)
        assert len(r.wrong_from) == blocks - 10
        return taken

    assert lines(2000) < 16 * lines(250)
