"""What a connector chooses not to store: answers, the far end of long requests, what is not seen again."""

import doctest
import re
from dataclasses import dataclass

import pytest

from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.errors import UnsupportedSwitch
from interlock.statemachine.lookup import FullAttention, SlidingWindow
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload import choice
from interlock.statemachine.offload.choice import StoreLimits
from interlock.statemachine.port import NULL_BLOCK, ConnectorOutput, ScheduledRequest, ScheduledStep

SOME = {"store_choice": "some_blocks"}


@dataclass
class Request:
    request_id: str
    num_tokens: int
    block_hashes: list[str]


def blocks(metadata):
    return [j.block for j in metadata.store_jobs]


def limited(driver, chunks=8, **limits):
    return driver(chunks=chunks, options={"limits": StoreLimits(**limits)}, **SOME)


def arrive(d, name, hashes, first, **more):
    """A request that computes all in one step, in blocks from ``first`` on; what is stored for it."""
    d.add(name, hashes)
    d.admit(name, range(first, first + len(hashes) + 1), **more)
    return blocks(d.build())


def ends(d, name, metadata_jobs=()):
    d.update(completed=metadata_jobs)
    d.finish(name)


# -- prompts only -----------------------------------------------------------------------------------------


def a_long_answer(d):
    """Two blocks of prompt, the second only begun; three more tokens make it full."""
    request = d.add("A", ["h1"], tokens=6)
    d.admit("A", [1, 2])
    d.build()
    d.update()
    request.num_tokens = 8
    request.block_hashes += ["h2"]
    d.go_on("A", 6, 2)
    return blocks(d.build())


def test_a_block_that_holds_a_token_of_the_answer_is_not_stored(driver):
    assert a_long_answer(limited(driver, prompt_only=True)) == []
    assert a_long_answer(driver(**SOME)) == [2]


def test_the_prompt_is_what_came_with_the_arrival_also_after_a_preemption(driver):
    d = limited(driver, prompt_only=True)
    a_long_answer(d)
    d.update()
    d.build(preempted=["A"])
    d.update()
    d.admit("A", [3, 4])

    assert blocks(d.build()) == [3]


# -- so many blocks of a request --------------------------------------------------------------------------


def test_the_first_blocks_of_a_request_are_stored_and_no_others(driver):
    assert arrive(limited(driver, blocks_per_request=2), "A", ["h1", "h2", "h3"], 1) == [1, 2]


def test_blocks_that_the_gpu_or_the_tier_had_count(driver):
    d = limited(driver, blocks_per_request=2)
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    (job,) = d.build().store_jobs
    d.update(completed=[job.job])
    d.add("B", ["h1", "h2", "h3"])
    d.admit("B", [1, 3, 4, 5], local_blocks=1)

    assert blocks(d.build()) == [3]


def test_each_request_has_its_own_limit_in_one_scan(driver):
    d = limited(driver, blocks_per_request=1)
    for name, first in (("A", 1), ("B", 11), ("C", 21)):
        d.add(name, [f"{name}1", f"{name}2"])
        d.admit(name, [first, first + 1, first + 2])

    assert blocks(d.build()) == [1, 11, 21]


@pytest.mark.parametrize(("limits", "left"), [({}, [2, 3]), ({"blocks_per_request": 2}, [2])])
def test_what_a_request_leaves_at_its_finish_is_limited_too(driver, limits, left):
    d = limited(driver, chunks=2, **limits)
    other = arrive(d, "S", ["s1"], 51)
    d.update()
    arrive(d, "A", ["h1", "h2", "h3"], 1)  # there is room for h1
    d.update()
    assert arrive(d, "B", ["g1"], 61) == []  # a scan that A has no part in
    d.update(failed=[0, 1])
    d.finish("A")

    assert other == [51]
    assert blocks(d.build()) == left


# -- what is seen again -----------------------------------------------------------------------------------


def test_stored_for_the_request_that_sees_it_the_second_time(driver):
    d = limited(driver, sightings=2)

    assert arrive(d, "A", ["h1", "h2"], 1) == []
    ends(d, "A")
    assert arrive(d, "B", ["h1", "h3"], 11) == [11]


def test_two_requests_of_one_step_are_two_sightings(driver):
    d = limited(driver, sightings=2)
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    d.add("B", ["h1"], tokens=4)
    d.admit("B", [3])

    assert blocks(d.build()) == [3]


def test_a_request_counts_once_whatever_becomes_of_it(driver):
    d = limited(driver, sightings=2)
    arrive(d, "A", ["h1", "h2"], 1)
    d.update()
    for first in (11, 21):
        d.build(preempted=["A"])
        d.update()
        d.admit("A", [first, first + 1], tokens=4)
        assert blocks(d.build()) == []
        d.update()
        d.go_on("A", 4, 5, [first + 2])
        assert blocks(d.build()) == []
        d.update()
    d.machine.reset_cache()
    d.go_on("A", 9, 1)
    assert blocks(d.build()) == []


def test_a_request_that_comes_back_gets_what_others_have_seen_since(driver):
    d = limited(driver, sightings=2, chunks=1)
    arrive(d, "A", ["h1"], 1)
    d.update()
    d.build(preempted=["A"])
    d.update()
    assert arrive(d, "B", ["h1"], 11) == [11]
    d.update(failed=[0])
    d.admit("A", [21, 22])

    assert blocks(d.build()) == [21]


def test_an_id_that_comes_again_is_another_request(driver):
    d = limited(driver, sightings=2)
    arrive(d, "A", ["h1"], 1)
    ends(d, "A")
    d.step()

    assert arrive(d, "A", ["h1"], 11) == [11]


def test_what_there_was_no_room_for_has_been_seen(driver):
    d = limited(driver, sightings=2, chunks=1)
    arrive(d, "A", ["h1", "h2"], 1)
    d.update()
    assert arrive(d, "B", ["h1", "h2"], 11) == [11]
    d.update(failed=[0])
    d.go_on("B", 9, 1)

    assert blocks(d.build()) == [12]


def test_only_so_many_prefixes_are_remembered_and_the_oldest_is_forgotten(driver):
    d = limited(driver, sightings=2, remembered=2)
    for n, hash_ in enumerate(["h1", "h2", "h1", "h3"]):  # h1 is seen again, so h2 is the oldest
        arrive(d, f"A{n}", [hash_], 10 * n + 1)
        ends(d, f"A{n}")
        d.step()

    assert arrive(d, "B", ["h2"], 51) == []
    assert arrive(d, "C", ["h3"], 61) == [61]


def test_an_answer_is_no_sighting_where_only_prompts_are_stored(driver):
    d = limited(driver, sightings=2, prompt_only=True)
    a_long_answer(d)
    ends(d, "A")
    d.step()

    assert arrive(d, "B", ["h1", "h2"], 11) == [11]


# -- several KV cache groups ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "of_the_prompt", "of_the_answer"),
    [
        (StoreLimits(), [1, 2, 11, 3], [4, 12]),
        (StoreLimits(prompt_only=True), [1, 2, 11, 3], []),
        (StoreLimits(blocks_per_request=1), [1, 11], []),
    ],
)
def test_each_group_counts_in_its_own_blocks(limits, of_the_prompt, of_the_answer):
    machine = KVOffloadScheduler(
        block_size=4,
        groups=(FullAttention(4), FullAttention(8)),
        num_chunks=8,
        num_workers=1,
        switches=SPECIFICATION.switch_values(changes=SOME),
        limits=limits,
    )
    request = Request("A", 14, ["h1", "h2", "h3"])
    machine.on_new_request(request)
    machine.get_num_new_matched_tokens(request, 0)
    machine.update_state_after_alloc(request, ([1, 2, 3, 4], [11, 12]), 0)

    assert blocks(machine.build_connector_meta(ScheduledStep.of([ScheduledRequest("A", 0, 14)]))) == of_the_prompt
    machine.update_connector_output(ConnectorOutput())
    request.num_tokens, request.block_hashes = 16, ["h1", "h2", "h3", "h4"]
    assert blocks(machine.build_connector_meta(ScheduledStep.of([ScheduledRequest("A", 14, 2)]))) == of_the_answer


def test_what_has_slid_out_of_its_window_is_no_candidate():
    machine = KVOffloadScheduler(
        block_size=4,
        groups=(FullAttention(4), SlidingWindow(4, 4)),
        num_chunks=8,
        num_workers=1,
        switches=SPECIFICATION.switch_values(changes=SOME),
        limits=StoreLimits(sightings=3),
    )

    def stored(name, local, *tables):
        request = Request(name, 13, ["h1", "h2", "h3"])
        machine.on_new_request(request)
        machine.get_num_new_matched_tokens(request, local)
        machine.update_state_after_alloc(request, tables, 0)
        metadata = machine.build_connector_meta(ScheduledStep.of([ScheduledRequest(name, local, 13 - local)]))
        machine.update_connector_output(ConnectorOutput())
        return blocks(metadata)

    assert stored("A", 0, [1, 2, 3, 4], [11, 12, 13, 14]) == []
    assert stored("B", 8, [1, 2, 23, 24], [NULL_BLOCK, 12, 33, 34]) == []
    assert stored("C", 0, [41, 42, 43, 44], [51, 52, 53, 54]) == [41, 42, 52, 43, 53]


# -- beside the rest --------------------------------------------------------------------------------------


def test_a_declined_block_holds_up_nothing(driver):
    d = limited(driver, sightings=2)
    for name, first in (("A", 1), ("B", 11)):
        arrive(d, name, ["h1", f"{name}2", "h3"], first)
        d.update()

    assert not d.machine._behind  # no scan goes over them again


def test_what_is_forgotten_while_it_has_no_room_is_passed_over(driver):
    """And it is not stored for that request when others have come to it since."""
    d = limited(driver, chunks=1, sightings=2, remembered=2)
    arrive(d, "A", ["h1", "h2"], 1)
    ends(d, "A")
    assert arrive(d, "B", ["h1", "h2"], 11) == [11]
    d.update()
    d.go_on("B", 9, 0)
    assert arrive(d, "C", ["g1", "g2"], 21) == []  # behind B, for which h2 has been judged
    d.update()
    d.go_on("B", 9, 0)
    assert blocks(d.build()) == []
    for name, first in (("D", 31), ("E", 41)):
        d.update()
        assert arrive(d, name, ["h2"], first) == []
    d.update(completed=[0])
    d.go_on("B", 9, 0)
    d.go_on("E", 5, 0)

    assert blocks(d.build()) == [41]


def test_what_is_forgotten_behind_a_request_is_stored_for_it(driver):
    d = limited(driver, chunks=1, sightings=2, remembered=2)
    arrive(d, "A", ["h1", "h2"], 1)
    ends(d, "A")
    assert arrive(d, "B", ["h1", "h2"], 11) == [11]
    d.update(completed=[0])
    d.go_on("B", 9, 0)

    assert arrive(d, "C", ["g1", "g2"], 21) == [12]


def test_a_block_that_waits_for_room_is_judged_by_what_came_before_its_request(driver):
    d = limited(driver, chunks=2, sightings=2)
    arrive(d, "A", ["h1", "h2"], 1)
    ends(d, "A")
    arrive(d, "B", ["g1"], 11)
    ends(d, "B")
    assert arrive(d, "C", ["g1", "h1", "h2", "h3"], 21) == [21, 22]
    d.update(completed=[0, 1])
    d.go_on("C", 17, 0)

    assert arrive(d, "D", ["h1", "h3"], 31) == [23, 32]  # h3 is seen a second time, and it is D who sees it


def test_no_room_is_not_a_choice(driver):
    d = limited(driver, chunks=1, blocks_per_request=2)
    arrive(d, "A", ["h1", "h2", "h3"], 1)
    d.update(failed=[0])
    d.go_on("A", 13, 1)

    assert blocks(d.build()) == [2]


@pytest.mark.parametrize("options", [{}, {"limits": StoreLimits()}])
def test_without_limits_all_is_stored_whatever_the_switch_allows(driver, options):
    assert arrive(driver(options=options, **SOME), "A", ["h1", "h2"], 1) == [1, 2]


def test_limits_and_every_block_contradict_each_other(driver):
    with pytest.raises(UnsupportedSwitch) as refused:
        driver(options={"limits": StoreLimits(prompt_only=True)})

    assert str(refused.value) == (
        "limits say that not every block is stored, and store_choice is every_block; "
        "set store_choice=some_blocks, or leave limits out"
    )


def test_limits_that_decline_nothing_need_no_switch(driver):
    assert arrive(driver(options={"limits": StoreLimits()}), "A", ["h1"], 1) == [1]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"sightings": 0}, "sightings is 0; give a whole number of at least 1"),
        ({"sightings": True}, "sightings is True; give a whole number of at least 1"),
        ({"remembered": -1}, "remembered is -1; give a whole number of at least 1"),
        ({"blocks_per_request": 1.5}, "blocks_per_request is 1.5; give a whole number of at least 1"),
        ({"prompt_only": 1}, "prompt_only is 1; give True or False"),
    ],
)
def test_limits_are_validated(wrong, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        StoreLimits(**wrong)


def test_the_docstring_example():
    assert doctest.testmod(choice).failed == 0
