"""Several KV cache groups: what is found, loaded, stored and given up. At random: ``test_stateful_groups``."""

from types import SimpleNamespace

import pytest

from interlock.statemachine.errors import SpecificationViolation, UnsupportedGroups
from interlock.statemachine.lookup import ChunkedLocal, FullAttention, Mamba, SlidingWindow
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.groups import BlockGroups
from interlock.statemachine.offload.kept import Kept
from interlock.statemachine.offload.tracked import BlockTable, Tracked
from interlock.statemachine.port import ScheduledStep

H = 4
"""Tokens to one hash."""


WINDOW = (FullAttention(H), SlidingWindow(H, 2 * H))


def stored(d, hashes, name="S", first=50, groups=2):
    """These hashes are in ready chunks of every group, and nobody is left."""
    n = len(hashes) + 1
    d.add(name, hashes)
    d.admit(name, [list(range(first + g * n, first + g * n + n)) for g in range(groups)])
    jobs = d.build().store_jobs
    d.finish(name)
    d.update(completed=[j.job for j in jobs])
    d.step()
    return [j.chunk for j in jobs]


def pairs(jobs):
    return [(j.block, j.chunk) for j in jobs]


def test_of_a_window_its_blocks_are_loaded_and_never_into_the_null_block(driver):
    d = driver(chunks=8, groups=WINDOW)
    chunks = stored(d, ["h1", "h2", "h3"])
    d.add("B", ["h1", "h2", "h3"])
    d.load("B", [[1, 2, 3], [0, 4, 5]], external_blocks=3)

    assert pairs(d.build().load_jobs) == list(zip((1, 2, 3, 4, 5), (*chunks[::2], *chunks[3::2]), strict=True))


def test_a_hit_of_all_groups_is_as_long_as_the_window_reaches(driver):
    d = driver(chunks=8, groups=WINDOW)
    d.add("A", ["h1", "h2", "h3", "h4"])
    d.admit("A", [[1, 2, 3, 4, 5], [0, 6, 7, 0, 8]])  # of the window, h2 and h3 are there
    jobs = d.build().store_jobs
    d.finish("A")
    d.update(completed=[j.job for j in jobs])
    d.add("B", ["h1", "h2", "h3", "h4"])

    assert d.match("B") == (12, True)
    assert d.match("B", 1) == (8, True)
    assert d.match("B", 3) == (0, False)


def test_a_hit_that_ends_inside_a_larger_block_loads_all_of_it_and_is_published_when_it_is_full(driver):
    d = driver(chunks=8, groups=(FullAttention(2 * H), SlidingWindow(H, H)))
    d.add("A", ["h1", "h2", "h3", "h4"])
    d.admit("A", [[1, 2, 3], [0, 0, 6, 0, 8]])
    jobs = d.build().store_jobs
    d.finish("A")
    d.update(completed=[j.job for j in jobs])
    d.add("B", ["h1", "h2", "h3", "h4"], tokens=18)
    d.load("B", [[11, 12], [0, 0, 13]], external_blocks=3)
    loads = d.build().load_jobs
    assert [j.block for j in loads] == [11, 12, 13]
    d.update(completed=[j.job for j in loads], received=["B"])

    d.machine.update_state_after_alloc(d.requests["B"], [[11, 12, 14], [0, 0, 13, 15]], 0)
    d.go_on("B", 12, 1)
    d.build()
    hashed = d.machine.ledger.relation("hashed")
    assert (12 in hashed, 13 in hashed) == (False, True)
    d.update()
    d.go_on("B", 13, 4)
    d.build()
    assert {12, 15} <= hashed


def test_what_is_being_stored_is_waited_for_and_found(driver):
    d = driver(chunks=8, groups=WINDOW)
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    jobs = d.build().store_jobs
    d.update(completed=[jobs[0].job])
    d.add("B", ["h1", "h2"])

    assert d.match("B") == (None, False)
    d.step(completed=[jobs[1].job])
    assert d.match("B") == (4, True)


def test_what_a_hit_that_is_being_loaded_needs_stays_and_nothing_else():
    """Of three blocks; the window needs the last two, and the fourth is another hit's."""
    groups = BlockGroups.of(WINDOW, H)
    kept = Kept(groups)
    hashes = ["h1", "h2", "h3", "h4"]
    for name, blocks in (("B", 3), ("C", 1)):
        request = SimpleNamespace(request_id=name, num_tokens=4 * H + 1, block_hashes=hashes)
        kept.load_planned(Tracked(request, name, tuple(map(BlockTable, groups))), blocks * H)
    needed = {(0, "h1"), (0, "h2"), (0, "h3"), (1, "h2"), (1, "h3"), (1, "h1")}
    every = {(group, key) for group in (0, 1) for key in hashes}

    assert {key for key in every if key in kept} == needed
    kept.load_ended("B")
    assert {key for key in every if key in kept} == {(0, "h1"), (1, "h1")}
    kept.load_ended("C")
    kept.load_ended("never")
    assert not any(key in kept for key in every)


def test_who_records_is_told_what_a_store_scan_passes(driver):
    told = []
    d = driver(chunks=8, groups=WINDOW, options={"record": lambda event, **more: told.append((event, more))})
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    jobs = d.build().store_jobs

    assert told == [
        ("store", {"request": "A", "group": g, "place": 0, "block": j.block, "chunk": j.chunk, "job": j.job})
        for g, j in enumerate(jobs)
    ]
    assert [j.block for j in jobs] == [1, 3]


def test_who_records_is_told_what_is_evicted_and_not_what_else_leaves(driver):
    told = []
    d = driver(chunks=2, groups=WINDOW, options={"record": lambda event, **more: told.append((event, more))})
    (full, window) = stored(d, ["h1"])
    d.add("B", ["g1"])
    d.admit("B", [[1, 2], [3, 4]])
    jobs = d.build().store_jobs
    d.update(failed=[j.job for j in jobs])

    assert [more for event, more in told if event == "evict"] == [{"chunk": window}, {"chunk": full}]


def test_a_store_that_fails_is_waited_for_no_longer(driver):
    d = driver(chunks=8, groups=WINDOW)
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    jobs = d.build().store_jobs
    d.update(completed=[jobs[0].job], failed=[jobs[1].job])
    d.add("B", ["h1", "h2"])

    assert d.match("B") == (0, False)


def test_what_no_hit_needs_goes_first_then_windows_then_the_end_of_the_prefix(driver):
    d = driver(chunks=8, groups=WINDOW)
    chunks = stored(d, ["h1", "h2", "h3"])
    full, window = chunks[::2], chunks[1::2]
    d.add("B", ["h1", "h2", "h3"])
    d.load("B", [[1, 2, 3], [0, 4, 5]], external_blocks=3)
    d.build()

    assert d.machine.chunks.ready == (window[0], window[2], window[1], full[2], full[1], full[0])


def test_the_source_of_a_store_slides_out_and_its_store_is_flushed_when_it_is_given_away(driver):
    d = driver(chunks=8, groups=(FullAttention(H), SlidingWindow(H, H)))
    d.add("A", ["h1", "h2", "h3"], tokens=8)
    d.admit("A", [[1, 2], [3, 4]])
    stores = d.build().store_jobs
    d.update()
    d.add("B", ["g1"])
    d.go_on("A", 8, 1, blocks=[[5], [6]])
    d.admit("B", [[3, 7], [8, 9]])  # 3 was the first of A's window

    metadata = d.build()

    assert metadata.jobs_to_flush == tuple(j.job for j in stores if j.block == 3)
    assert ("B", 3) in [(j.request, j.block) for j in metadata.store_jobs]


def test_what_has_slid_out_before_there_was_room_is_not_stored(driver):
    d = driver(chunks=3, groups=(FullAttention(H), SlidingWindow(H, H)))
    d.add("X", ["g1"])
    d.admit("X", [[11, 12], [13, 14]])
    a = d.add("A", ["h1", "h2", "h3"], tokens=13)
    d.admit("A", [[1, 2], [3, 4]], tokens=8)
    jobs = d.build().store_jobs
    assert [j.block for j in jobs] == [11, 13, 1]  # and no room for 3
    d.update()
    d.go_on("A", 8, 5, blocks=[[5, 6], [7, 8]])
    d.build()
    d.update(completed=[j.job for j in jobs])
    a.num_tokens = 14
    d.go_on("A", 13, 1)

    assert [j.block for j in d.build().store_jobs] == [2, 5, 7]  # 4 has slid out as well


def test_a_block_of_a_request_that_got_no_tokens_is_given_up_when_it_comes_again(driver):
    d = driver(chunks=8, groups=(FullAttention(H), SlidingWindow(H, H)))
    d.add("A", ["h1", "h2"], tokens=8)
    d.admit("A", [[1, 2], [3, 4]])
    d.build()
    d.update()
    d.add("B", ["g1"])
    d.admit("B", [[3, 7], [8, 9]])  # A was visited, gave up 3, and found no room
    d.build()

    assert d.machine._tracked["A"].tables[1].blocks == [0, 4]


def test_a_block_that_no_window_has_passed_is_not_given_twice(driver):
    d = driver(chunks=8, groups=(FullAttention(H), SlidingWindow(H, H)))
    d.add("A", ["h1", "h2"], tokens=8)
    d.admit("A", [[1, 2], [3, 4]])
    d.build()
    d.update()
    d.add("B", ["g1"])
    d.admit("B", [[1, 7], [8, 9]])

    with pytest.raises(SpecificationViolation, match="block 1 is used: allocate is illegal"):
        d.build()


def test_what_a_hit_needs_stays_also_where_it_is_not_loaded(driver):
    """A hit that ends with a stretch of a chunked local group needs the stretch, and the request's next token does not."""
    d = driver(chunks=4, groups=(FullAttention(H), ChunkedLocal(H, 2 * H)))
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"])
    d.load("B", [[1, 2], [0, 0]], external_blocks=2)
    loads = d.build().load_jobs

    assert [job.block for job in loads] == [1, 2]
    d.update()  # while a step runs, nothing is evicted anyway
    assert d.machine.chunks.take() is None
    d.update(completed=[job.job for job in loads], received=["B"])
    assert d.machine.chunks.take() is not None


def test_fewer_tokens_than_were_found_are_loaded_if_the_window_is_there_and_refused_if_not(driver):
    d = driver(chunks=8, groups=WINDOW)
    stored(d, ["h1", "h2", "h3"])
    d.add("B", ["h1", "h2", "h3"])
    d.load("B", [[1, 2], [3, 4]], external_blocks=2)
    assert [j.block for j in d.build().load_jobs] == [1, 2, 3, 4]

    e = driver(chunks=8, groups=WINDOW)
    e.add("A", ["h1", "h2", "h3"])
    e.admit("A", [[1, 2, 3, 4], [0, 5, 6, 7]])
    jobs = e.build().store_jobs
    e.finish("A")
    e.update(completed=[j.job for j in jobs])
    e.add("B", ["h1", "h2", "h3"])
    e.load("B", [[1, 2], [3, 4]], external_blocks=2)
    with pytest.raises(SpecificationViolation, match="block 0 of group 1 is not in the tier: grant all, or none"):
        e.build()


def test_a_hit_that_ends_where_a_window_needs_nothing_is_there_at_once(driver):
    d = driver(chunks=8, groups=(ChunkedLocal(2 * H, H),))
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2])
    jobs = d.build().store_jobs
    d.finish("A")
    d.update(completed=[j.job for j in jobs])
    d.add("B", ["h1", "h2"])

    assert d.match("B") == (8, False)  # the next token begins a stretch


def test_who_comes_back_with_one_more_hash_is_looked_up_again(driver):
    """A hit may end inside a block that the tier has whole: which one it is, is known only when the block is full."""
    d = driver(chunks=8, groups=(FullAttention(2 * H),))
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2])
    (job,) = d.build().store_jobs
    d.finish("A")
    d.update(completed=[job.job])
    b = d.add("B", ["h1"], tokens=7)
    assert d.match("B") == (0, False)
    d.admit("B", [3])
    d.build()
    d.update()
    b.num_tokens, b.block_hashes = 8, ["h1", "h2"]
    d.build(preempted=["B"])
    d.update()

    assert d.match("B") == (4, True)


def test_a_hit_of_which_nothing_is_loaded_keeps_nothing_in_the_tier(driver):
    """No load for it ever ends: what it needed makes room like anything else."""
    d = driver(chunks=1, groups=(ChunkedLocal(2 * H, H),))
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2])
    (first,) = d.build().store_jobs
    d.finish("A")
    d.update(completed=[first.job])
    b = d.add("B", ["h1", "h2"])
    assert d.match("B") == (8, False)
    d.machine.update_state_after_alloc(b, [0, 3], 8)
    assert d.machine.build_connector_meta(ScheduledStep(("B",), (8,), {"B": 1})).load_jobs == ()
    d.update()
    d.finish("B")
    d.step()

    d.add("C", ["h3", "h4"])
    d.admit("C", [4, 5])
    assert pairs(d.build().store_jobs) == [(4, first.chunk)]


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ((), "groups is empty; leave it out, or name one at least"),
        ((FullAttention(6),), "group 0 has blocks of 6 tokens, and hashes are of 4; make its blocks a multiple of 4"),
        ((FullAttention(4), Mamba(2)), "group 1 has blocks of 2 tokens, and hashes are of 4"),
    ],
)
def test_groups_that_are_not_run_are_refused(groups, says):
    with pytest.raises(UnsupportedGroups, match=says):
        KVOffloadScheduler(block_size=H, groups=groups, num_chunks=12, num_workers=1)


def test_a_reset_flushes_stores_of_requests_that_go_on(driver):
    """No block of full attention is given away before its request ends, and still its store writes a chunk that is free."""
    d = driver(chunks=8, groups=WINDOW)
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    jobs = d.build().store_jobs
    d.update()

    assert not d.machine.reset_cache()

    assert d.build().jobs_to_flush == tuple(j.job for j in jobs)


def test_what_a_reset_has_forgotten_is_not_waited_for(driver):
    """Its chunk is reserved until the last report, and nothing is ever found in it."""
    d = driver(chunks=8, groups=WINDOW, kv_reset="hold", source_hold="pin", idle="drain")
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    d.build()
    d.update()
    d.add("B", ["h1", "h2"])
    assert d.match("B") == (None, False)

    d.machine.reset_cache()

    assert d.match("B") == (0, False)


def test_a_window_slides_in_the_schedule_in_which_a_failed_load_is_looked_up_anew(driver):
    d = driver(chunks=8, groups=(FullAttention(H), SlidingWindow(H, H)))
    stored(d, ["h1"])
    d.add("A", ["g1", "g2", "g3"], tokens=8)
    d.admit("A", [[1, 2], [3, 4]])
    d.add("B", ["h1", "h2"])
    d.load("B", [[11], [12]], external_blocks=1)
    loads = d.build().load_jobs
    d.update(failed=[j.job for j in loads], received=["B"])
    assert d.match("B") == (0, False)
    d.go_on("A", 8, 1, blocks=[[5], [6]])
    d.admit("B", [[3, 7, 11], [8, 9, 12]])  # 3 was the first of A's window, 11 and 12 were B's

    d.build()

    assert d.machine._tracked["A"].tables[1].blocks == [0, 4, 6]


def test_a_block_that_comes_back_to_the_id_that_had_it_is_fenced_as_with_another(driver):
    d = driver(chunks=8, groups=WINDOW)
    d.add("X", [], tokens=1)  # somebody is left, or all jobs would be flushed
    d.admit("X", [[8], [9]])
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    stores = d.build().store_jobs
    d.finish("A")
    d.step()
    d.add("A", ["g1"])
    d.admit("A", [[1, 5], [6, 7]])

    assert d.build().jobs_to_flush == tuple(j.job for j in stores if j.block == 1)


@pytest.mark.parametrize("at_once", [True, False])
def test_also_where_its_store_is_planned_after_the_id_has_come_again(driver, at_once):
    """There was no room while the first had the block, so what it leaves is stored with the metadata after its end."""
    d = driver(chunks=2, groups=WINDOW, finish_store="yes")
    d.add("X", ["h0"], tokens=5)
    d.admit("X", [[8, 9], [10, 11]])
    busy = d.build().store_jobs
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    assert not d.build().store_jobs
    d.update(completed=[j.job for j in busy])
    d.finish("A")
    d.add("A", ["g1"])
    if not at_once:
        stores = d.build().store_jobs
    d.admit("A", [[1, 5], [6, 7]])
    metadata = d.build()

    of_block_1 = [j.job for j in (metadata.store_jobs if at_once else stores) if (j.request, j.block) == ("A", 1)]
    assert len(of_block_1) == 1
    assert list(metadata.jobs_to_flush) == of_block_1


def test_what_a_hit_needed_makes_room_once_it_is_loaded(driver):
    d = driver(chunks=2, groups=WINDOW)
    stored(d, ["h1"])
    d.add("B", ["h1"])
    d.load("B", [[1], [2]], external_blocks=1)
    loads = d.build().load_jobs
    d.update()
    assert d.machine.chunks.take() is None
    d.update(completed=[j.job for j in loads], received=["B"])

    assert d.machine.chunks.take() is not None


def finds_no_room(d):
    """X, as all that is in the tier is kept."""
    d.add("X", ["x1"])
    d.admit("X", [[91, 92], [93, 94]])
    assert not d.build().store_jobs
    d.update()


def blocks_of_x(d):
    d.go_on("X", 5, 0)
    return [j.block for j in d.build().store_jobs if j.request == "X"]


def beginning(d):
    """Y has begun to compute what the tier has: until its scan has passed that, it stays there."""
    stored(d, ["h1"])
    d.add("Y", ["h1"])
    d.admit("Y", [[1], [2]], tokens=2)
    d.build()
    d.update()


def test_who_found_no_room_has_some_once_another_has_ended(driver):
    d = driver(chunks=2, groups=WINDOW)
    beginning(d)
    finds_no_room(d)
    assert not blocks_of_x(d)
    d.update()
    d.finish("Y")

    assert blocks_of_x(d) == [91, 93]


def test_who_found_no_room_has_some_once_another_is_preempted(driver):
    d = driver(chunks=2, groups=WINDOW)
    beginning(d)
    finds_no_room(d)
    d.go_on("X", 5, 0)

    assert [j.block for j in d.build(preempted=["Y"]).store_jobs] == [91, 93]


def test_who_found_no_room_has_some_once_the_scan_of_another_has_passed_it_over(driver):
    d = driver(chunks=2, groups=WINDOW)
    beginning(d)
    finds_no_room(d)
    d.go_on("X", 5, 0)
    d.go_on("Y", 2, 3, [[3], [4]])
    assert not d.build().store_jobs  # X comes before Y, whose block is in the tier
    d.update()

    assert blocks_of_x(d) == [91, 93]


def test_who_has_nothing_to_store_is_done_in_the_step_in_which_another_finds_no_room(driver):
    d = driver(chunks=2, groups=WINDOW)
    beginning(d)
    d.add("X", ["x1"])
    d.admit("X", [[91, 92], [93, 94]])
    d.go_on("Y", 2, 3, [[3], [4]])
    assert not d.build().store_jobs

    assert set(d.machine._behind) == {"X"}


def loading(d):
    """Y loads what the tier has."""
    stored(d, ["h1"])
    d.add("Y", ["h1"])
    d.load("Y", [[1], [2]], external_blocks=1)
    jobs = [j.job for j in d.build().load_jobs]
    d.update()
    return jobs


def test_who_found_no_room_has_some_once_it_is_known_that_a_load_is_over(driver):
    d = driver(chunks=2, groups=WINDOW)
    jobs = loading(d)
    finds_no_room(d)
    d.update(completed=jobs)
    assert not blocks_of_x(d)
    d.update(received=["Y"])

    assert blocks_of_x(d) == [91, 93]


def test_who_found_no_room_has_some_once_another_is_looked_up_anew(driver):
    d = driver(chunks=2, groups=WINDOW)
    jobs = loading(d)
    finds_no_room(d)
    d.update(failed=jobs, received=["Y"])
    assert not blocks_of_x(d)
    d.update()
    d.match("Y")

    assert blocks_of_x(d) == [91, 93]


def test_what_a_scan_has_passed_makes_room_in_the_same_step(driver):
    """X takes the chunks of h2, Y needs it no less: what it has passed of h1 goes for that."""
    d = driver(chunks=4, groups=WINDOW)
    stored(d, ["h1", "h2"])
    d.add("Y", ["h1", "h2"])
    d.admit("Y", [[1, 2, 3], [4, 5, 6]], tokens=2)
    d.build()
    d.update()
    d.add("X", ["x1"])
    d.admit("X", [[91, 92], [93, 94]])
    d.go_on("Y", 2, 7)

    assert [j.block for j in d.build().store_jobs] == [91, 93, 2, 5]


def test_what_was_to_be_loaded_and_is_computed_is_stored(driver):
    """The scan went on behind the hit; the load has failed, and the chunks that it was to read have made room."""
    d = driver(groups=(FullAttention(4), SlidingWindow(4, 4)), chunks=2)
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    d.update(completed=[job.job for job in d.build().store_jobs])
    d.finish("A")
    d.add("B", ["h1"])
    d.load("B", [[5], [6]], external_blocks=1)
    d.update(failed=[job.job for job in d.build().load_jobs], received=["B"])
    d.add("Z", ["z1"])
    d.admit("Z", [[7, 8], [9, 10]])
    assert d.build().store_jobs == ()  # B's scan has not passed what it would replace
    d.update()
    d.finish("Z")
    d.update(completed=[job.job for job in d.build().store_jobs])

    d.admit("B", [[5, 11], [6, 12]])

    assert [(job.request, job.block) for job in d.build().store_jobs] == [("B", 5), ("B", 6)]
