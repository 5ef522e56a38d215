"""Eager stores: dedup, reports, failures, eviction, fences, references."""

import weakref

import pytest

from interlock.statemachine.errors import IllegalTransition, UnsupportedSwitch
from interlock.statemachine.offload.moves import Moves


def pairs(jobs):
    return [(j.block, j.chunk) for j in jobs]


def test_a_block_whose_store_is_in_flight_is_not_stored_again(driver):
    d = driver()
    d.store_one("A", "h1", block=1)
    d.add("B", ["h1"])
    d.admit("B", [1, 3], local_blocks=1)

    assert d.build().store_jobs == ()


@pytest.mark.parametrize("chunks", [4, 1])
def test_a_request_whose_blocks_are_all_stored_is_scanned_no_more(driver, chunks):
    """With one chunk the second block has no room until the first one's store has failed."""
    d = driver(chunks=chunks)
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])
    d.build()
    assert set(d.machine._behind) == (set() if chunks > 1 else {"A"})
    if chunks == 1:
        d.update(failed=[0])
        d.go_on("A", 9, 1)
        assert pairs(d.build().store_jobs) == [(2, 0)]

    assert not d.machine._behind


def test_flipping_the_switch_in_the_specification_alone_brings_the_double_store_back(driver):
    d = driver(store_dedup="per_step")
    first = d.store_one("A", "h1", block=1)
    d.add("B", ["h1"])
    d.admit("B", [1, 3], local_blocks=1)

    (second,) = d.build().store_jobs

    assert (second.block, second.chunk) == (first.block, first.chunk + 1)


def test_dedup_goes_by_id_two_blocks_of_one_hash_are_both_stored(driver):
    d = driver()
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    d.add("B", ["h1"], tokens=4)  # fully cached and aligned: its last block is computed again
    d.admit("B", [3])

    assert pairs(d.build().store_jobs) == [(1, 0), (3, 1)]


def test_dedup_by_hash_skips_the_second_block_and_loses_it_when_the_first_store_fails(driver):
    d = driver(store_dedup="in_flight_by_hash")
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    d.add("B", ["h1"], tokens=4)
    d.admit("B", [3])

    assert pairs(d.build().store_jobs) == [(1, 0)]
    d.update(failed=[0])
    d.finish("A")
    d.finish("B")
    assert d.step().store_jobs == ()  # the cursor has passed it: nobody comes back
    d.add("C", ["h1"])
    assert d.match("C") == (0, False)


@pytest.mark.parametrize("choice", ["every_block", "some_blocks"])
def test_behind_a_block_that_the_tier_has_the_next_is_stored(driver, choice):
    d = driver(store_choice=choice)
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.add("B", ["h1", "h2"])
    d.admit("B", [3, 4, 5])

    assert pairs(d.build().store_jobs) == [(4, 1)]


def test_a_request_that_has_nothing_left_to_store_is_let_go_when_it_ends(driver):
    d = driver()
    d.store_one("A", "h1", block=1)
    d.add("B", ["h2", "h3"])
    ended = weakref.ref(d.requests["A"])

    d.finish("A")

    assert ended() is None


def test_a_stored_block_is_not_stored_again(driver):
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.add("B", ["h1"])
    d.admit("B", [1, 3], local_blocks=1)

    assert d.build().store_jobs == ()


def test_the_chunk_is_visible_after_the_last_worker_and_not_before(driver):
    d = driver(workers=2)
    d.store_one()
    d.update(completed=[0])
    d.add("B", ["h1", "h2"])
    assert d.match("B") == (0, False)

    d.step(completed=[0])

    assert d.match("B") == (4, True)


def test_both_workers_in_one_report(driver):
    d = driver(workers=2)
    d.store_one()
    d.update(completed=[0, 0])
    d.add("B", ["h1", "h2"])

    assert d.match("B") == (4, True)


@pytest.mark.parametrize("reports", [{"failed": [0], "completed": [0]}, {"failed": [0, 0]}])
def test_one_failed_worker_fails_the_store_and_frees_the_chunk(driver, reports):
    d = driver(workers=2, chunks=1)
    d.store_one()
    d.update(**reports)
    d.add("B", ["h1", "h2"])
    assert d.match("B") == (0, False)
    assert d.machine.chunks.absent == (0,)

    d.admit("B", [1, 3, 4], local_blocks=1)

    assert pairs(d.build().store_jobs) == [(1, 0)]  # it may be stored again, and is


def test_a_second_store_of_one_allocation_after_its_chunk_was_evicted(driver):
    d = driver(chunks=1)
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.add("B", ["g1"])
    d.admit("B", [3, 4])
    (evicting,) = d.build().store_jobs
    assert (evicting.block, evicting.chunk) == (3, 0)
    d.update(completed=[evicting.job])
    d.add("C", ["h1"])
    d.admit("C", [1, 5], local_blocks=1)

    (again,) = d.build().store_jobs

    assert (again.block, again.chunk) == (1, 0)


def test_where_all_chunks_are_pending_the_block_waits_for_the_next_scan_or_the_finish(driver):
    d = driver(chunks=1)
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])
    assert pairs(d.build().store_jobs) == [(1, 0)]
    d.finish("A")
    d.update(completed=[0])
    assert d.machine.has_pending_work()

    assert pairs(d.step().store_jobs) == [(2, 0)]

    assert d.machine.has_pending_work()
    d.step(completed=[1])
    assert not d.machine.has_pending_work()


def test_finish_time_store_and_reallocation_in_one_metadata_is_flushed_there(driver):
    d = driver(chunks=1)
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])
    d.build()
    d.finish("A")
    d.update(completed=[0])
    d.add("B", ["g1"])
    d.admit("B", [2, 4])  # A's second block, still to be stored, is given to B

    metadata = d.build()

    (job,) = metadata.store_jobs
    assert (job.request, job.block) == ("A", 2)
    assert metadata.jobs_to_flush == (job.job,)


def test_reallocation_of_an_open_stores_source_orders_its_flush_and_the_new_content_is_stored(driver):
    d = driver()
    first = d.store_one("A", "h1", block=1)
    d.finish("A")
    d.add("B", ["g1"])
    d.admit("B", [1, 5])

    metadata = d.build()

    assert metadata.jobs_to_flush == (first.job,)
    assert pairs(metadata.store_jobs) == [(1, 1)]
    d.update(completed=[first.job, *(j.job for j in metadata.store_jobs)])
    assert not d.machine.has_pending_work()


def test_fences_take_no_references_and_pins_hold_the_source_until_the_report(driver):
    fenced, pinned = driver(), driver(source_hold="pin")
    for d in (fenced, pinned):
        d.store_one("A", "h1", block=1)
        assert d.finish("A") is False
    assert fenced.pool.held == []
    assert pinned.pool.held == [1]

    pinned.update(completed=[0])

    assert pinned.pool.held == []


def test_a_report_on_an_unknown_job_is_refused_by_name(driver):
    d = driver()
    d.build()

    with pytest.raises(IllegalTransition) as refused:
        d.update(completed=[7])

    error = refused.value
    assert (error.lifecycle, error.entity, error.state, error.event) == ("job", (7,), "absent", "acknowledge")
    assert "legal from: store_in_flight" in error.rule
    assert str(error).startswith("job 7 is absent: acknowledge is illegal; ")


def test_one_report_too_many_is_refused(driver):
    d = driver(workers=2)
    d.store_one()

    with pytest.raises(IllegalTransition, match="job 0 is completed: acknowledge is illegal"):
        d.update(completed=[0, 0, 0])


def test_a_reference_is_taken_with_the_plan_and_kept_to_the_last_report(driver):
    d = driver(source_hold="pin", workers=2)
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    (job,) = d.build().store_jobs

    assert d.pool.held == [1]  # the request may lose the block before we are told

    d.update(completed=[job.job])
    assert d.pool.held == [1]
    d.update(completed=[job.job])
    assert d.pool.held == []


def test_lazy_stores_are_refused_and_not_run_as_eager_ones(driver):
    with pytest.raises(UnsupportedSwitch, match="does not run store_mode=lazy; leave it out"):
        driver(store_mode="lazy", source_hold="pin")


def test_who_has_found_no_room_is_gone_through_again_only_when_there_may_be_some(driver, monkeypatch):
    """Or each step would cost what nobody has stored, all of it."""
    asked = []
    plan_each = Moves.plan_each

    def noted(self, what, rows, most):
        return plan_each(self, what, (asked.append(row) or row for row in rows), most)

    monkeypatch.setattr(Moves, "plan_each", noted)
    d = driver(chunks=1)
    d.add("A", ["h1", "h2", "h3"])
    d.admit("A", [1, 2, 3, 4])
    (job,) = d.build().store_jobs
    d.update()
    for step in range(3):
        d.requests["A"].block_hashes.append(f"h{step + 4}")
        d.go_on("A", 13 + 4 * step, 4, [step + 5])
        assert not d.build().store_jobs
        d.update()
    assert asked == [("A", 1), ("A", 2)]  # up to the first that found none, once

    d.update(completed=[job.job])
    d.go_on("A", 25, 1)
    (job,) = d.build().store_jobs  # the first is evicted for the second
    assert job.block == 2


def test_what_was_read_by_a_load_makes_room_when_it_has_ended(driver):
    d = driver(chunks=1)
    d.update(completed=[d.store_one().job])
    d.finish("A")
    d.add("B", ["h1"])
    d.load("B", [3], external_blocks=1)
    (load,) = d.build().load_jobs
    d.add("C", ["g1"])
    d.admit("C", [5, 6])
    assert not d.build().store_jobs
    d.update(completed=[load.job], received=["B"])
    d.go_on("C", 5, 1)

    assert [job.request for job in d.build().store_jobs] == ["C"]


@pytest.mark.parametrize("preempted", [False, True])
def test_who_is_preempted_without_room_passes_what_is_being_stored_when_it_comes_again(driver, preempted):
    """As who is not. What it had come to was noted as stuck."""
    d = driver(chunks=1)
    job = d.store_one("A", "h1", block=1).job
    d.add("B", ["h1", "h2"])
    d.admit("B", [1, 3, 4], local_blocks=1)
    assert d.build().store_jobs == ()
    d.update()
    if preempted:
        d.build(preempted=["B"])
        d.update()
        d.admit("B", [1, 3, 4], local_blocks=1)
        assert d.build().store_jobs == ()
        d.update()

    d.update(failed=[job])
    d.go_on("B", 9, 1)

    assert pairs(d.build().store_jobs) == [(3, 0)]
