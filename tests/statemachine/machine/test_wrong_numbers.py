"""What is of the right shape and cannot be: refused in one line before anything is done, so it can be said again."""

from types import SimpleNamespace

import pytest

from interlock.statemachine.errors import Misshapen, OutOfTurn
from interlock.statemachine.lookup import FullAttention, SlidingWindow
from interlock.statemachine.port import ConnectorOutput, ScheduledStep

TWO = (FullAttention(4), SlidingWindow(4, 4))


@pytest.fixture
def running(driver):
    """A and B run, have five tokens computed, and room in a block."""
    d = driver(chunks=8)
    for name, block in (("A", 1), ("B", 5)):
        d.add(name, [f"{name}1", f"{name}2"], tokens=9)
        d.admit(name, [block, block + 1], tokens=5)
    d.build()
    d.update(completed=[0, 1])
    return d


def goes_on(d):
    """The step as it should have been said: it finds all as it was."""
    step = ScheduledStep(("A", "B"), (5, 5), {"A": 3, "B": 3}, (), (), 6)
    jobs = d.machine.build_connector_meta(step).store_jobs
    return [(job.request, job.block) for job in jobs]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (
            ScheduledStep(("A", "A"), (5, 5), {"A": 3, "B": 3}),
            "the step names request 'A' twice: name each request once",
        ),
        (
            ScheduledStep(("A", "B"), (5, -3), {"A": 3, "B": 3}),
            "num_computed_tokens of request 'B' is -3: give what it",
        ),
        (
            ScheduledStep(("A", "B"), (5, 5), {"A": 3, "B": 0}),
            "num_scheduled_tokens of request 'B' is 0: leave out who",
        ),
        (ScheduledStep(("A", "B"), (5, 5), {"A": -5, "B": 3}), "num_scheduled_tokens of request 'A' is -5: leave out"),
        (
            ScheduledStep(("A", "B"), (5, 5), {"A": 3, "B": 3}, (), (), 2),
            "total_num_scheduled_tokens is 2, and num_scheduled_tokens are 6 together: give their sum, or leave it out",
        ),
        (ScheduledStep(("A", "B"), (5, 5), {"A": 3, "B": 3}, (), (), "6"), "total_num_scheduled_tokens is '6', and"),
        (
            ScheduledStep(("A", "B"), (5, 5), {"A": 3, "B": 3}, [None, [[6, 0]]]),
            "request 'B' gets block 0 in KV cache group 0: ids of blocks are numbers from 1 on",
        ),
        (
            ScheduledStep(("A", "B"), (5, 5), {"A": 3, "B": 3}, [[[-7]]]),
            "request 'A' gets block -7 in KV cache group 0: ids of blocks are numbers from 1 on",
        ),
    ],
)
def test_a_step_that_cannot_be_is_refused_and_can_be_said_again(running, step, said):
    with pytest.raises(Misshapen, match=f"^build_connector_meta: {said}"):
        running.machine.build_connector_meta(step)

    assert goes_on(running) == [("A", 2), ("B", 6)]


def test_while_the_same_requests_decode_a_step_that_cannot_be_is_refused_too(driver):
    """Steps that go as expected are not gone through; one that does not is."""
    d = driver(chunks=8)
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    for _ in range(6):
        d.machine.build_connector_meta(ScheduledStep(("A",), (5,), {"A": 1}, (), (), 1))
        d.update()

    for computed, tokens, total in ((-3, 1, 1), (5, 0, 0), (5, 2, 1), (5, 1, 2)):
        with pytest.raises(Misshapen, match="tokens"):
            d.machine.build_connector_meta(ScheduledStep(("A",), (computed,), {"A": tokens}, (), (), total))
    d.machine.build_connector_meta(ScheduledStep(("A",), (5,), {"A": 1}, (), (), 1))


def test_steps_that_go_as_expected_are_not_gone_through(running, monkeypatch):
    looked = []
    monkeypatch.setattr("interlock.statemachine.offload.looks.refuse_wrong_numbers", lambda *a: looked.append(a))
    for at in range(5, 8):
        running.machine.build_connector_meta(ScheduledStep(("A", "B"), (at, at), {"A": 1, "B": 1}, (), (), 2))
        running.update()

    assert len(looked) == 1


@pytest.mark.parametrize(
    ("groups", "table", "said"),
    [
        (
            None,
            [9, 0],
            "request 'C' gets block 0 in KV cache group 0: ids of blocks are numbers from 1 on; 0 stands in",
        ),
        (None, [-1, 9], "request 'C' gets block -1 in KV cache group 0: "),
        (TWO, [[9, 0], [10, 11]], "request 'C' gets block 0 in KV cache group 0: "),
        (TWO, [[9, 12], [0, -2]], "request 'C' gets block -2 in KV cache group 1: "),
    ],
)
def test_a_table_with_what_is_no_block_is_refused_and_can_be_said_again(driver, groups, table, said):
    d = driver(groups=groups, chunks=8)
    request = d.add("C", ["c"])
    with pytest.raises(Misshapen, match=f"^update_state_after_alloc: {said}"):
        d.machine.update_state_after_alloc(request, table, 0)

    d.admit("C", [9, 12] if groups is None else [[9, 12], [0, 11]])
    assert [job.block for job in d.build().store_jobs] == [9]


@pytest.fixture
def loaded(driver):
    """B waits with the two blocks, 5 and 6, that it has loaded of its five."""
    d = driver(chunks=8)
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])
    d.update(completed=[job.job for job in d.build().store_jobs])
    d.add("B", ["h1", "h2", "h3", "h4"])
    d.load("B", [5, 6], 2)
    d.update(completed=[job.job for job in d.build().load_jobs], received=["B"])
    return d


@pytest.mark.parametrize("table", [[7, 8, 9], [6, 5, 7, 8, 9], [5], [], [5, 7, 8, 9, 10]])
def test_who_has_blocks_is_given_its_whole_table(loaded, table):
    """What is new alone would be taken for what it begins with, and stored under the hashes of that."""
    said = r"the table of request 'B' is .*, and it has \[5, 6\]: give its whole table: those first, then what is new"
    with pytest.raises(Misshapen, match=f"^update_state_after_alloc: {said}"):
        loaded.machine.update_state_after_alloc(loaded.requests["B"], table, 0)

    loaded.machine.update_state_after_alloc(loaded.requests["B"], [5, 6, 7, 8, 9], 0)
    jobs = loaded.machine.build_connector_meta(ScheduledStep(("B",), (8,), {"B": 9})).store_jobs
    assert [(job.block, job.request) for job in jobs] == [(7, "B"), (8, "B")]


def test_null_blocks_may_stand_for_what_a_window_has_passed(driver):
    d = driver(groups=TWO, chunks=8)
    d.add("A", ["h1", "h2", "h3"])
    d.admit("A", [[1, 2, 3, 4], [5, 6, 7, 8]])
    d.build()
    d.update()

    d.machine.update_state_after_alloc(d.requests["A"], [[1, 2, 3, 4, 9], [0, 0, 7, 8, 10]], 0)
    d.build()


@pytest.mark.parametrize("checking", [True, False])
def test_who_is_let_in_has_computed_what_was_cached_and_loaded(driver, checking):
    """More was computed by nobody, and would be stored: a prefix hit of which its lookup does not know."""
    d = driver(chunks=8, options={"checking": checking})
    c = d.add("C", ["h1", "h2"])
    d.match("C")
    d.machine.update_state_after_alloc(c, [1, 2, 3], 0)

    for _ in range(2):
        said = "num_computed_tokens of request 'C' is 4, and 0 were cached or loaded: give what it had computed before"
        with pytest.raises(Misshapen, match=f"^build_connector_meta: {said}"):
            d.machine.build_connector_meta(ScheduledStep(("C",), (4,), {"C": 4}))
    jobs = d.machine.build_connector_meta(ScheduledStep(("C",), (0,), {"C": 4})).store_jobs
    assert [job.block for job in jobs] == [1]


def test_who_has_loaded_has_computed_what_was_loaded_at_most(loaded):
    b = loaded.requests["B"]
    loaded.machine.update_state_after_alloc(b, [5, 6, 7, 8, 9], 0)

    said = "num_computed_tokens of request 'B' is 12, and 8 were cached or loaded"
    with pytest.raises(Misshapen, match=f"^build_connector_meta: {said}"):
        loaded.machine.build_connector_meta(ScheduledStep(("B",), (12,), {"B": 4}))
    jobs = loaded.machine.build_connector_meta(ScheduledStep(("B",), (4,), {"B": 4})).store_jobs  # its load has failed
    assert jobs == ()


def test_who_comes_back_from_a_preemption_has_what_its_cache_has(running):
    """What it was let in with the first time says nothing any more."""
    d = running
    d.match("A", local_blocks=1)
    d.machine.update_state_after_alloc(d.requests["A"], [1, 7, 8], 0)

    with pytest.raises(Misshapen, match=r"num_computed_tokens of request 'A' is 8, and 4 were cached or loaded"):
        d.machine.build_connector_meta(ScheduledStep(("A",), (8,), {"A": 1}, (), ("A",)))
    d.machine.build_connector_meta(ScheduledStep(("A",), (4,), {"A": 1}, (), ("A",)))


def test_with_checking_who_runs_has_computed_what_it_was_scheduled_at_most(running):
    d = running
    for step, name, most in (
        (ScheduledStep(("A", "B"), (5, 6), {"A": 1, "B": 1}), "B", 5),
        (ScheduledStep(("B", "A"), (5, 7), {"A": 1, "B": 1}), "A", 5),
        (ScheduledStep(("A",), (9,), {"A": 1}), "A", 5),
    ):
        said = rf"num_computed_tokens of request '{name}' is \d, and its last step ended at {most}: give what it had"
        with pytest.raises(Misshapen, match=f"^build_connector_meta: {said}"):
            d.machine.build_connector_meta(step)

    assert goes_on(d) == [("A", 2), ("B", 6)]


def test_the_engine_may_change_its_columns_after_a_step(running):
    computed, scheduled = [5, 5], {"A": 1, "B": 1}
    running.machine.build_connector_meta(ScheduledStep(("A", "B"), computed, scheduled))
    running.update()
    computed[:], scheduled["B"] = [0, 0], 0

    running.machine.build_connector_meta(ScheduledStep(("A", "B"), (6, 6), {"A": 2, "B": 1}))


def test_a_new_block_that_is_no_number_is_refused_and_can_be_said_again(running):
    step = ScheduledStep(("A", "B"), (5, 5), {"A": 4, "B": 3}, [[[7.5]]])
    with pytest.raises(Misshapen, match=r"new_block_ids\[0\]\[0\]\[0\] is 7.5"):
        running.machine.build_connector_meta(step)

    running.machine.build_connector_meta(step._replace(new_block_ids=[[[7]]]))


@pytest.mark.parametrize("table", [None, 5, "1"])
def test_who_ends_has_a_table(running, table):
    with pytest.raises(
        Misshapen, match=r"^request_finished: the table of request 'A' is .*: give its blocks, or an empty"
    ):
        running.machine.request_finished(running.requests["A"], table)

    running.finish("A")


def test_a_lookup_is_for_no_more_than_the_request_has(driver):
    d = driver()
    request = d.add("A", ["h1"])
    with pytest.raises(
        Misshapen, match=r"num_computed_tokens of request 'A' is 8, and it has 5: give how many of its own"
    ):
        d.machine.get_num_new_matched_tokens(request, 8)


def test_null_blocks_may_stand_in_what_a_windowed_group_gets(driver):
    d = driver(groups=TWO, chunks=8)
    d.add("A", ["a"])
    d.admit("A", [[1, 2], [11, 12]])
    d.build()
    d.update()
    d.go_on("A", 5, 4, blocks=[[3], [0]])
    d.build()


@pytest.mark.parametrize("tokens", [1, 3, 6])
def test_what_the_gpu_has_is_whole_blocks(driver, tokens):
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    request = d.add("B", ["h1", "h2"])

    said = (
        f"^get_num_new_matched_tokens: num_computed_tokens of request 'B' is {tokens}: give the tokens of whole blocks"
    )
    for _ in range(2):
        with pytest.raises(Misshapen, match=f"{said}, of 4 each$"):
            d.machine.get_num_new_matched_tokens(request, tokens)
    assert d.match("B") == (4, True)


def test_with_blocks_of_several_sizes_it_may_end_within_one(driver):
    d = driver(groups=(FullAttention(4), FullAttention(8)), chunks=8)
    request = d.add("B", ["h1", "h2", "h3", "h4"])

    assert d.machine.get_num_new_matched_tokens(request, 4) == (0, False)


def test_who_is_looked_up_again_in_one_schedule_is_answered_again(driver):
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.add("B", ["h1"])

    assert [d.match("B"), d.match("B")] == [(4, True)] * 2


def test_who_runs_is_not_looked_up(running):
    """Heard when the step names it, as who was preempted between steps is looked up before that is said."""
    running.match("A")
    with pytest.raises(OutOfTurn, match="request 'A' was looked up, and is scheduled: look up who waits"):
        running.build()

    assert goes_on(running) == [("A", 2), ("B", 6)]


def test_who_was_preempted_between_steps_is_looked_up_before_that_is_said(running):
    """vLLM: reset_prefix_cache(reset_running_requests=True), and it is let in again by the next schedule."""
    running.match("A")
    running.tables.pop("A")
    running.admit("A", [9, 10], tokens=5)

    running.build(preempted=["A"])

    assert ("A", 10) in running.machine.ledger.relation("holds")


def test_a_visit_is_told_once_in_a_schedule(driver):
    d = driver()
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    said = "^update_state_after_alloc: request 'A' has its blocks in this schedule: say it once in a schedule, with its"
    with pytest.raises(OutOfTurn, match=said):
        d.machine.update_state_after_alloc(d.requests["A"], [1, 2], 0)

    assert [job.block for job in d.build().store_jobs] == [1]
    d.update(completed=[0])
    d.build(preempted=["A"])
    d.update()
    d.admit("A", [3, 4])
    d.build()
    assert ("A", 3) in d.machine.ledger.relation("holds")


def test_a_visit_of_who_has_ended_since_is_not_that_of_who_comes_next(driver):
    d = driver()
    d.add("A", ["h1"])
    d.machine.update_state_after_alloc(d.requests["A"], [], 0)
    d.finish("A")
    d.add("A", ["h1"])
    d.admit("A", [1, 2])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"request_id": ""}, "has no request_id: give"),
        ({"num_tokens": -5}, "has -5 for num_tokens: give"),
        ({"num_tokens": True}, "has True for num_tokens: give"),
    ],
)
def test_a_request_that_cannot_be_is_refused_and_may_come_as_it_is(driver, wrong, said):
    d = driver()
    right = {"request_id": "A", "num_tokens": 5, "block_hashes": ["h1"]}
    with pytest.raises(Misshapen, match=rf"^on_new_request: namespace.* {said} an object with request_id"):
        d.machine.on_new_request(SimpleNamespace(**{**right, **wrong}))

    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    assert len(d.build().store_jobs) == 1


def test_contained_reports_are_counted_and_not_gone_through_one_by_one(driver, monkeypatch):
    d = driver(workers=2, options={"contain": True})
    d.store_one("A", "h1", block=1)
    asked, num_due = [], d.machine._moves.num_due
    monkeypatch.setattr(d.machine._moves, "num_due", lambda job: asked.append(job) or num_due(job))

    d.machine.update_connector_output(ConnectorOutput(completed={0: 10**4, 9: 10**4}))

    assert d.machine.contained == 2 * 10**4 - 2
    assert len(asked) == 2
    d.add("B", ["h1"])
    assert d.match("B") == (0, False)  # with reports too many the store has failed
