"""Loads: how long a hit may be, what is pinned, and how a request goes on."""

import pytest

from interlock.statemachine.errors import SpecificationViolation
from interlock.statemachine.lookup import FullAttention, SlidingWindow


def stored(d, hashes):
    """All of these hashes are in ready chunks."""
    d.add("A", hashes)
    d.admit("A", list(range(1, len(hashes) + 2)))
    jobs = d.build().store_jobs
    d.finish("A")
    d.update(completed=[j.job for j in jobs])
    d.step()


@pytest.mark.parametrize(
    ("tokens", "local_blocks", "hit"),
    [
        (13, 0, 12),  # one token is left to compute
        (12, 0, 8),  # fully cached and aligned: the last full block is dropped
        (12, 1, 4),
        (12, 2, 0),  # the GPU has all that may be taken
        (9, 0, 8),
        (8, 0, 4),
        (5, 0, 4),
        (4, 0, 0),
        (3, 0, 0),
    ],
)
def test_a_hit_leaves_a_token_to_compute(driver, tokens, local_blocks, hit):
    d = driver()
    stored(d, ["h1", "h2", "h3"])
    d.add("B", ["h1", "h2", "h3"][: tokens // 4], tokens=tokens)

    assert d.match("B", local_blocks) == (hit, hit > 0)


def test_a_hit_ends_at_the_first_chunk_that_is_not_there(driver):
    d = driver()
    stored(d, ["h1"])
    d.add("B", ["h1", "h2", "h3"])

    assert d.match("B") == (4, True)
    assert d.match("B", 1) == (0, False)


def test_asking_has_no_effect(driver):
    d = driver()
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"])

    assert [d.match("B") for _ in range(3)] == [(8, True)] * 3
    assert d.step().load_jobs == ()


def test_a_load_and_what_follows(driver):
    d = driver(workers=2)
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])
    d.build()
    d.finish("A")
    d.update(completed=[0, 0, 1, 1])
    d.add("B", ["h1", "h2"])
    d.load("B", [7, 8], external_blocks=2)

    metadata = d.build()

    assert [(j.request, j.block, j.chunk) for j in metadata.load_jobs] == [("B", 7, 0), ("B", 8, 1)]
    d.update(completed=[2, 3])
    with pytest.raises(SpecificationViolation, match="loads-have-ended"):
        d.step(received=["B"])
    d.update(completed=[2, 3], received=["B"])
    d.admit("B", [7, 8, 9], local_blocks=0)
    assert d.build().store_jobs == ()  # published, and in the tier already


def test_a_chunk_that_is_being_loaded_is_not_evicted(driver):
    d = driver(chunks=1)
    stored(d, ["h1"])
    d.add("B", ["h1", "g2"])
    d.load("B", [7], external_blocks=1)
    d.build()
    d.add("C", ["x1"])
    d.update()
    d.admit("C", [4, 5])

    assert d.build().store_jobs == ()  # no room

    d.update(completed=[1], received=["B"])
    d.finish("C")
    (job,) = d.step().store_jobs
    assert (job.request, job.chunk) == ("C", 0)


def test_the_end_of_a_loaded_prefix_goes_before_its_beginning(driver):
    d = driver(chunks=2)
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"])
    d.load("B", [7, 8], external_blocks=2)
    d.build()

    assert d.machine.chunks.ready == (1, 0)


class Counted(list):
    """Hashes that count how often they are read."""

    reads = 0

    def __getitem__(self, place):
        self.reads += 1
        return super().__getitem__(place)


def test_a_lookup_asked_again_reads_nothing_while_nothing_has_changed(driver):
    d = driver()
    stored(d, ["h1", "h2"])
    request = d.add("B", ["h1", "h2"])
    request.block_hashes = hashes = Counted(request.block_hashes)

    assert d.match("B") == (8, True)
    read = hashes.reads
    assert d.match("B") == d.match("B") == (8, True)
    assert hashes.reads == read > 0
    assert d.match("B", 1) == (4, True)  # the GPU has more
    assert hashes.reads > read


def test_a_lookup_asked_again_sees_what_has_been_stored_since(driver):
    d = driver()
    d.add("B", ["h1", "h2"])
    assert d.match("B") == (0, False)
    stored(d, ["h1", "h2"])
    assert d.match("B") == (8, True)
    d.machine.reset_cache()
    assert d.match("B") == (0, False)


def elsewhere(d, hash_):
    """A chunk of a prefix of its own becomes pending, and ready."""
    job = d.store_one(hash_, hash_, block=100 + 2 * len(d.tables))
    d.finish(hash_)
    d.update(completed=[job.job])


def remembered(d, hashes, name="B", **request):
    """Who waits has been asked about again although something has moved, and is asked about once more; its hashes."""
    waiting = d.add(name, hashes, **request)
    waiting.block_hashes = counted = Counted(waiting.block_hashes)
    answers = [d.match(name)]
    for other in ("x1", "x2"):
        elsewhere(d, other)
        answers.append(d.match(name))
    assert answers[1:] == answers[:1] * 2
    return counted


def test_a_lookup_asked_again_reads_nothing_for_what_moves_elsewhere(driver):
    d = driver(chunks=8)
    stored(d, ["h1", "h2"])
    hashes = remembered(d, ["h1", "h2", "h3"])
    read = hashes.reads

    for other in ("y1", "y2", "y3", "y4", "y5", "y6"):
        elsewhere(d, other)  # the last two make room, of what was there before
        d.machine.chunks.touch(0)
        d.machine.chunks.touch(1)
        assert d.match("B") == (8, True)
    assert hashes.reads == read


def test_of_several_groups_it_reads_nothing_either(driver):
    d = driver(chunks=12, groups=(FullAttention(4), SlidingWindow(4, 3)))
    d.add("A", ["h1", "h2"])
    d.admit("A", [[1, 2, 3], [4, 5, 6]])
    jobs = [job.job for job in d.build().store_jobs]
    d.update(completed=jobs[:1])
    waiting = d.add("B", ["h1", "h2"])
    waiting.block_hashes = hashes = Counted(waiting.block_hashes)
    assert [d.match("B"), d.match("B")] == [(None, False)] * 2
    d.add("C", ["g1"])
    d.admit("C", [[7, 8], [9, 10]])
    others = [job.job for job in d.build().store_jobs]
    assert d.match("B") == (None, False)
    read = hashes.reads
    d.update(completed=others)
    assert d.match("B") == (None, False)
    assert hashes.reads == read

    d.update(completed=jobs[1:2])
    assert d.match("B") == (None, False)  # of four chunks two are there
    d.update(completed=jobs[2:])
    assert d.match("B") == (8, True)


def evicted(d):
    for other in ("y1", "y2", "y3", "y4"):
        elsewhere(d, other)


def one_more(d):
    stored(d, ["h1", "h2", "h3"])


def reset(d):
    assert d.machine.reset_cache()


def fewer_tokens(d):
    d.requests["B"].num_tokens = 8


def fewer_hashes(d):
    del d.requests["B"].block_hashes[1:]


@pytest.mark.parametrize(
    ("what", "answer"),
    [(evicted, 0), (one_more, 12), (reset, 0), (fewer_tokens, 4), (fewer_hashes, 4)],
)
def test_what_was_found_is_looked_up_anew_once_it_may_be_other(driver, what, answer):
    d = driver(chunks=6)
    stored(d, ["h1", "h2"])
    hashes = remembered(d, ["h1", "h2", "h3"])
    read = hashes.reads

    what(d)
    assert d.match("B") == (answer, answer > 0)
    assert hashes.reads > read
    assert not d.machine.chunks.watches  # what has changed may change again
    read = hashes.reads
    assert d.match("B") == (answer, answer > 0)
    assert hashes.reads == read


def test_who_found_nothing_finds_what_has_been_stored_since(driver):
    d = driver(chunks=8)
    remembered(d, ["h1"])

    stored(d, ["h1"])
    assert d.match("B") == (4, True)


def test_all_who_have_found_a_chunk_hear_that_it_has_gone(driver):
    d = driver(chunks=6)
    stored(d, ["h1", "h2"])
    for name in ("B", "C", "D"):
        d.add(name, ["h1", "h2"])
    for other in ("x1", "x2"):
        assert [d.match(name) for name in "BCD"] == [(8, True)] * 3
        elsewhere(d, other)
    assert [d.match(name) for name in "BCD"] == [(8, True)] * 3
    d.finish("C")

    evicted(d)
    assert [d.match(name) for name in "BD"] == [(0, False)] * 2


@pytest.mark.parametrize("kv_reset", ["forget", "flush"])
def test_a_chunk_is_not_waited_for_that_a_reset_has_forgotten(driver, kv_reset):
    d = driver(chunks=12, groups=(FullAttention(4), SlidingWindow(4, 3)), kv_reset=kv_reset)
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    d.build()
    d.update()
    d.finish("A")
    d.add("B", ["h1"])
    assert d.match("B") == (None, False)
    reset(d)
    assert d.match("B") == (0, False)


@pytest.mark.parametrize(("fails", "answer"), [(False, (4, True)), (True, (0, False))])
def test_who_waits_for_a_pending_chunk_hears_what_becomes_of_it(driver, fails, answer):
    d = driver(chunks=12, groups=(FullAttention(4), SlidingWindow(4, 3)))
    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    jobs = [job.job for job in d.build().store_jobs]
    d.update()
    d.add("B", ["h1"])
    for other, block in (("x1", 11), ("x2", 21)):
        assert d.match("B") == (None, False)
        d.add(other, [other])
        d.admit(other, [[block, block + 1], [block + 2, block + 3]])
        d.build()
        d.update()
    assert d.match("B") == (None, False)

    d.update(**{"failed" if fails else "completed": jobs})
    assert d.match("B") == answer


def test_who_found_nothing_hears_of_a_store_that_is_planned(driver):
    d = driver(chunks=12, groups=(FullAttention(4), SlidingWindow(4, 3)))
    d.add("B", ["h1"])
    for other, block in (("x1", 11), ("x2", 21)):
        assert d.match("B") == (0, False)
        d.add(other, [other])
        d.admit(other, [[block, block + 1], [block + 2, block + 3]])
        d.build()
        d.update()
    assert d.match("B") == (0, False)

    d.add("A", ["h1"])
    d.admit("A", [[1, 2], [3, 4]])
    d.build()
    d.update()
    assert d.match("B") == (None, False)


def test_who_may_not_load_while_its_own_store_is_open_may_once_that_has_ended(driver):
    d = driver(chunks=8)
    stored(d, ["h1"])
    d.add("B", ["h1", "h2"])
    d.admit("B", [1, 2, 3])
    (job,) = d.build().store_jobs
    d.update()
    d.build(preempted=["B"])
    d.update()
    for other in ("x1", "x2"):
        assert d.match("B") == (None, False)
        elsewhere(d, other)
    assert d.match("B") == (None, False)

    d.update(completed=[job.job])
    assert d.match("B") == (8, True)


def test_only_what_an_answer_depends_on_is_watched(driver):
    d = driver(chunks=8)
    stored(d, ["h1", "h2", "h3"])
    remembered(d, ["h1", "h2", "h3"], tokens=12)  # of which one token is left to compute

    assert set(d.machine.chunks.watches) == {"h1", "h2"}


@pytest.mark.parametrize("how", ["ends", "loads", "is lost", "is reset", "asks of less"])
def test_nobody_is_told_of_what_was_found_for_who_does_not_ask_any_more(driver, how):
    d = driver(chunks=6)
    stored(d, ["h1", "h2"])
    remembered(d, ["h1", "h2", "h3"])
    assert set(d.machine.chunks.watches) == {"h1", "h2", "h3"}

    match how:
        case "ends":
            d.finish("B")
        case "loads":
            d.load("B", [7, 8], external_blocks=2)
            d.build()
        case "is lost":
            evicted(d)
        case "is reset":
            reset(d)
        case _:
            d.match("B", 1)
    assert not d.machine.chunks.watches


def test_who_has_run_is_looked_up_anew(driver):
    """Of who comes back the last tokens may be others, and as many."""
    d = driver(chunks=8)
    stored(d, ["h1", "h2"])
    hashes = d.add("B", ["h1", "h2"]).block_hashes
    d.admit("B", [1, 2, 3])
    d.build()
    d.update()
    hashes[1] = "g2"
    d.build(preempted=["B"])
    d.update()

    assert d.match("B") == (4, True)


@pytest.mark.parametrize("checking", [True, False])
def test_a_request_that_is_asked_about_again_after_its_load_failed_has_other_blocks(driver, checking):
    """Q15: vLLM frees what it has, and gives it blocks anew; here the other way round, as its free queue does."""
    d = driver(options={"checking": checking}, chunks=4)
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"])
    d.load("B", [11, 12], external_blocks=2)
    jobs = [j.job for j in d.build().load_jobs]
    d.update(failed=jobs, received=["B"])
    d.machine.reset_cache()
    assert d.match("B") == (0, False)
    d.tables.pop("B")

    d.admit("B", [12, 11, 13])

    assert [j.block for j in d.build().store_jobs] == [12, 11]


def test_one_that_gets_no_blocks_when_it_is_asked_about_again_has_none(driver):
    d = driver()
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"])
    d.load("B", [11, 12], external_blocks=2)
    jobs = [j.job for j in d.build().load_jobs]
    d.update(failed=jobs, received=["B"])
    d.match("B")
    d.add("C", ["h3"])

    d.admit("C", [11, 12])

    assert [j.block for j in d.build().store_jobs] == [11]
    d.tables.pop("B")
    d.admit("B", [13, 14, 15])
    d.update()
    assert [j.block for j in d.build().store_jobs] == []
