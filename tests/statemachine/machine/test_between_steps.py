"""What happens between two steps, or with an output, and no connector is told of at once."""

import pytest

from interlock.statemachine.errors import GuardViolation


def reset_and_abort(d, block_ids):
    """A stores a block and runs on; the cache is reset, running requests are preempted for it, and A is aborted.

    The machine is not told of the preemption, so as far as it knows blocks are in use: the caller is to ask again.
    """
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    assert not d.machine.reset_cache()
    d.tables["A"] = block_ids
    d.finish("A")


def test_what_a_request_has_lost_to_a_reset_is_not_stored_when_it_is_aborted(driver):
    """vLLM has taken its blocks, and may give them to others: that it ends without any is how the machine can tell."""
    d = driver(finish_store="yes")
    reset_and_abort(d, [])

    assert d.build(preempted=["A"]).store_jobs == ()
    d.update()
    d.add("B", ["h1"])
    assert d.match("B") == (0, False)


def test_what_an_aborted_request_still_had_is_stored(driver):
    """A reset without a preemption: the tier has forgotten the block, which is as true as before."""
    d = driver(finish_store="yes")
    reset_and_abort(d, [1, 2])

    assert [job.block for job in d.build().store_jobs] == [1]


def fill_without_a_hash(d):
    """A step ahead of its outputs: A's first block is full, and what its last token is, is not known yet."""
    d.add("A", [], tokens=3)
    d.admit("A", [1], tokens=3)
    d.build()
    d.go_on("A", 3, 1)
    assert d.build().store_jobs == ()
    d.update()
    d.requests["A"].block_hashes.append("h1")


@pytest.mark.parametrize("loses", ["preempted", "finished"])
def test_a_block_that_an_output_makes_addressable_can_be_found(driver, loses):
    d = driver()
    fill_without_a_hash(d)
    if loses == "finished":
        d.finish("A")
    d.build(preempted=["A"] if loses == "preempted" else [])
    d.update()

    d.add("B", ["h1"])
    d.admit("B", [1, 2], local_blocks=1)
    (job,) = d.build().store_jobs
    d.update(completed=[job.job])
    d.add("C", ["h1"])

    assert (job.request, job.block) == ("B", 1)
    assert d.match("C") == (4, True)


def test_once_the_hash_is_known_the_next_step_stores_it(driver):
    d = driver()
    fill_without_a_hash(d)
    d.go_on("A", 4, 1, [2])

    assert [job.block for job in d.build().store_jobs] == [1]


def test_a_block_that_was_given_away_since_is_found_by_nobody(driver):
    d = driver()
    fill_without_a_hash(d)
    d.build(preempted=["A"])
    d.update()
    d.add("X", [], tokens=2)
    d.admit("X", [1], tokens=2)
    d.build()
    d.update()
    d.finish("X")

    d.add("B", ["h1"])
    d.admit("B", [1, 2], local_blocks=1)
    with pytest.raises(GuardViolation, match=r"hit\(B, 1\)"):
        d.build()


def test_a_preemption_counts_for_a_request_whose_id_has_come_again(driver):
    """Who was aborted before a metadata is passed over in it, and in no later one."""
    d = driver()
    d.add("A", ["h1"])
    d.finish("A")
    d.step()
    d.add("A", ["h2"])
    d.admit("A", [1, 2], tokens=4)
    (job,) = d.build().store_jobs
    d.update()

    assert d.build(preempted=["A"]).jobs_to_flush == (job.job,)
