"""What an engine may do, and seldom does; and what it may not: each is one line that says what is wrong."""

import pytest

from interlock.statemachine.errors import ImpossibleGrant, MissingBlocks, RequestIdInUse, UnknownRequest, WrongHit
from interlock.statemachine.lookup import FullAttention, SlidingWindow
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.port import ScheduledRequest, ScheduledStep

SIZES = {"block_size": 4, "num_chunks": 2, "num_workers": 1}


def test_who_is_preempted_between_steps_and_aborted_before_the_next_is_still_named_as_preempted(driver):
    """vLLM: reset_prefix_cache(reset_running_requests=True), then an abort, then schedule()."""
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.finish("A")

    d.build(preempted=["A"])

    d.update()
    d.add("B", ["h1"])
    assert d.match("B") == (4, True)


CALLS = {
    "get_num_new_matched_tokens": lambda machine, request: machine.get_num_new_matched_tokens(request, 0),
    "update_state_after_alloc": lambda machine, request: machine.update_state_after_alloc(request, [1], 0),
    "request_finished": lambda machine, request: machine.request_finished(request, [1]),
    "build_connector_meta": lambda machine, _: machine.build_connector_meta(ScheduledStep(preempted=("A",))),
}


@pytest.mark.parametrize("call", CALLS)
def test_who_has_not_arrived_is_named(driver, call):
    other = driver().add("A", ["h1"])
    d = driver()

    with pytest.raises(UnknownRequest, match=f"^{call}: request 'A' has not arrived"):
        CALLS[call](d.machine, other)


def test_a_step_that_computes_for_who_has_not_arrived_is_refused(driver):
    with pytest.raises(UnknownRequest, match=r"^build_connector_meta: request 'A' has not arrived"):
        driver().machine.build_connector_meta(ScheduledStep.of([ScheduledRequest("A", 0, 4)], ()))


@pytest.mark.parametrize(
    ("size", "value"),
    [
        ("block_size", 0),
        ("block_size", 2.5),
        ("num_chunks", -1),
        ("num_workers", 0),
        ("num_workers", True),
        ("deadline", -1),
    ],
)
def test_a_size_that_is_none_is_named(size, value):
    with pytest.raises(ValueError, match=f"^{size} is {value!r}; give"):
        KVOffloadScheduler(**(SIZES | {size: value}))


def test_a_tier_of_no_chunks_stores_nothing(driver):
    d = driver(chunks=0)
    d.add("A", ["h1"])
    d.admit("A", [1, 2])

    assert d.build().store_jobs == ()


def test_an_id_that_comes_again_at_once_is_another_request(driver):
    """What the first one left is stored under its own hash, and the second has blocks and stores of its own."""
    d = driver(finish_store="yes")
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    first = d.build().store_jobs
    d.update()
    d.finish("A")
    d.add("A", ["h2"])
    assert d.match("A") == (0, False)
    d.admit("A", [3, 4])
    second = d.build().store_jobs
    d.update(completed=[job.job for job in (*first, *second)])

    assert [(job.request, job.block) for job in (*first, *second)] == [("A", 1), ("A", 3)]
    d.add("B", ["h2"])
    assert d.match("B") == (4, True)
    d.finish("A")
    d.step()
    d.add("A", ["h1"])
    assert d.match("A") == (4, True)


def test_an_id_that_comes_again_before_it_was_ever_scheduled(driver):
    d = driver()
    d.add("A", ["h1"])
    d.finish("A")
    d.add("A", ["h2"])
    d.admit("A", [1, 2])

    assert [job.request for job in d.build().store_jobs] == ["A"]


def test_what_is_left_to_store_of_the_first_life_is_not_taken_for_the_seconds(driver):
    """There was no room while it ran; the second life computes another prompt in another block, in the same step."""
    d = driver(chunks=1)
    d.store_one("X", "h0", block=9)
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    assert d.build().store_jobs == ()
    d.update(completed=[0])
    d.finish("X")
    d.finish("A")
    d.add("A", ["h2"])
    d.admit("A", [3, 4])
    (job,) = d.build().store_jobs
    d.update(completed=[job.job])

    d.add("C", ["h1" if job.block == 1 else "h2"])
    assert d.match("C") == (4, True)


def test_the_preemption_of_the_first_life_is_not_the_seconds(driver):
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.finish("A")
    d.add("A", ["h2"])
    d.admit("A", [3, 4])

    (job,) = d.build(preempted=["A"]).store_jobs

    assert (job.request, job.block) == ("A", 3)


def test_a_load_of_a_second_life_is_reported_under_its_id(driver):
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.finish("A")
    d.add("A", ["h1"])
    d.load("A", [3], 1)
    (job,) = d.build().load_jobs
    d.finish("A")  # while it is being loaded
    with pytest.raises(RequestIdInUse, match="'A' ended while it was being loaded: name it in finished_recving before"):
        d.add("A", ["h1"])
    d.update(completed=[job.job], received=["A"])
    d.add("A", ["h1"])
    d.build()

    assert job.request == "A"
    assert d.match("A") == (4, True)


def test_an_id_in_use_is_refused(driver):
    d = driver()
    d.add("A", ["h1"])

    with pytest.raises(RequestIdInUse, match="'A' has not ended"):
        d.add("A", ["h1"])


def test_who_is_let_in_ends_and_comes_again_in_one_schedule(driver):
    """An abort between two visits: the blocks are those of its second life."""
    d = driver()
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    d._scheduled.clear()
    d.finish("A")
    d.add("A", ["h2"])
    d.admit("A", [3, 4])

    assert [job.block for job in d.build().store_jobs] == [3]


# -- grants: what a lookup has found is loaded, all of it or what begins it, or nothing ----------------------


def found(d):
    """B, of whose prompt the tier has two blocks, and which has been told so."""
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])
    jobs = d.build().store_jobs
    d.update(completed=[job.job for job in jobs])
    return d.add("B", ["h1", "h2", "h3"])


@pytest.mark.parametrize(
    ("local", "granted", "blocks", "said"),
    [
        (
            0,
            6,
            [7, 8],
            "granted 6 external tokens where its lookup has answered 8, in blocks of 4: grant what it answered",
        ),
        (0, -4, [7, 8], "granted -4 external tokens where its lookup has answered 8, in blocks of 4: grant what it"),
        (0, 12, [7, 8, 9], "granted 12 external tokens where its lookup has answered 8, in blocks of 4: grant what it"),
        (1, 8, [1, 7, 8], "granted 8 external tokens where its lookup has answered 4, in blocks of 4: grant what it"),
        (2, 4, [1, 2, 7], "granted 4 external tokens where its lookup has answered 0, in blocks of 4: grant what it"),
        (0, 8, [7], "granted 8 external tokens beyond 0, and has 1 block of 4: pass its whole table"),
        (1, 4, [7], "granted 4 external tokens beyond 4, and has 1 block of 4: pass its whole table"),
    ],
)
def test_a_grant_that_cannot_be_is_refused_and_nothing_has_changed(driver, local, granted, blocks, said):
    d = driver()
    b = found(d)
    offered, _ = d.match("B", local)

    with pytest.raises(ImpossibleGrant, match=f"^update_state_after_alloc: request 'B' is {said}"):
        d.machine.update_state_after_alloc(b, blocks, granted)
    d.machine.update_state_after_alloc(b, [[7, 8], [1, 7], [1, 2]][local], offered)
    assert len(d.build().load_jobs) == offered // 4


@pytest.mark.parametrize("checking", [True, False])
def test_what_another_schedule_has_found_is_granted_only_while_it_is_there(driver, checking):
    """The tier has room for two blocks, and Z has taken them: they would come into the blocks of B."""
    d = driver(chunks=2, options={"checking": checking})
    b = found(d)
    d.finish("A")
    assert d.match("B") == (8, True)
    d.add("Z", ["z1", "z2"])
    d.admit("Z", [4, 5, 6])
    d.update(completed=[job.job for job in d.build().store_jobs])

    with pytest.raises(
        ImpossibleGrant, match=r"8 external tokens of a look-up of which something has moved since: look"
    ):
        d.machine.update_state_after_alloc(b, [7, 8], 8)
    assert d.match("B") == (0, False)
    d.machine.update_state_after_alloc(b, [7, 8], 0)
    assert d.build().load_jobs == ()


@pytest.mark.parametrize(("local", "blocks"), [(1, [5, 7, 8]), (2, [2, 1, 7]), (2, [1, 5, 7])])
def test_with_checking_a_hit_is_of_the_prefix_that_it_is_found_for(driver, local, blocks):
    """A broken prefix cache of an engine: a block of another prompt, or two of one's own the wrong way round."""
    d = driver(chunks=8)
    found(d)
    d.add("Z", ["z1", "z2"])
    d.admit("Z", [5, 6, 9])
    d.build()
    d.update()
    d.admit("B", blocks, local_blocks=local)

    with pytest.raises(WrongHit, match=r"request 'B' has block . at place . from the engine's cache, which has"):
        d.build()


def test_what_was_granted_once_is_not_granted_again(driver):
    d = driver()
    b = found(d)
    d.load("B", [7, 8], 2)
    d.update(completed=[job.job for job in d.build().load_jobs], received=["B"])

    with pytest.raises(ImpossibleGrant, match="of a look-up of which something has moved since"):
        d.machine.update_state_after_alloc(b, [7, 8], 8)


def test_what_another_schedule_has_found_is_granted_while_nothing_has_moved(driver):
    d = driver()
    b = found(d)
    assert d.match("B") == (8, True)
    d.step()

    d.machine.update_state_after_alloc(b, [7, 8], 8)
    assert [job.block for job in d.build().load_jobs] == [7, 8]


def test_what_is_to_be_asked_about_later_cannot_be_granted(driver):
    """Its lookup has found a store that is under way, of one group; the other's is over."""
    d = driver(groups=(FullAttention(4), SlidingWindow(4, 4)), chunks=8)
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    first, _ = d.build().store_jobs
    d.update(completed=[first.job])
    b = d.add("B", ["h1", "h2"])
    assert d.match("B") == (None, False)

    with pytest.raises(ImpossibleGrant, match="where its lookup has answered 0"):
        d.machine.update_state_after_alloc(b, [[5], [6]], 4)


@pytest.mark.parametrize("checking", [True, False])
def test_what_was_not_offered_is_not_granted_after_a_load_that_failed(driver, checking):
    d = driver(options={"checking": checking})
    b = found(d)
    d.load("B", [7, 8], 2)
    d.update(failed=[job.job for job in d.build().load_jobs], received=["B"])
    d.admit("B", [7, 8, 9])
    d.build()
    d.update()
    d.build(preempted=["B"])
    d.update()
    assert d.match("B") == (0, False)

    with pytest.raises(ImpossibleGrant, match="granted 8 external tokens where its lookup has answered 0"):
        d.machine.update_state_after_alloc(b, [4, 5], 8)
    assert d.build().load_jobs == ()


@pytest.mark.parametrize("checking", [True, False])
def test_what_was_not_offered_is_not_granted_while_a_store_of_the_request_is_open(driver, checking):
    d = driver(options={"checking": checking})
    b = d.add("B", ["h1", "h2"], tokens=12)
    d.admit("B", [7, 8, 9], tokens=4)
    d.update(completed=[job.job for job in d.build().store_jobs])
    d.go_on("B", 4, 4)
    (job,) = d.build().store_jobs
    d.update()
    d.build(preempted=["B"])
    d.update()
    assert d.match("B") == (None, False)

    with pytest.raises(ImpossibleGrant, match="granted 4 external tokens where its lookup has answered 0"):
        d.machine.update_state_after_alloc(b, [4, 5, 6], 4)
    assert d.step(completed=[job.job]).load_jobs == ()
    assert d.match("B") == (8, True)


@pytest.mark.parametrize(
    ("groups", "got"),
    [(None, [1]), ((FullAttention(4), SlidingWindow(4, 4)), [[1], [2]])],
    ids=["one-group", "two-groups"],
)
def test_a_request_that_fills_a_block_of_which_nobody_told_is_named(driver, groups, got):
    """B-148: the engine allocates a block for an answer and reports none."""
    d = driver(chunks=8, groups=groups)
    d.add("A", ["h1", "h2"])
    d.admit("A", got, tokens=4)
    d.build()
    d.update()
    d.go_on("A", 4, 4)

    with pytest.raises(MissingBlocks, match=r"request 'A' fills 8 tokens, and has 1 block.s. of 4: give each block"):
        d.build()
