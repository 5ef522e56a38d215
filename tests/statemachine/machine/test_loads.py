"""Loads: how long a hit may be, what is pinned, and how a request goes on."""

import pytest

from interlock.statemachine.errors import SpecificationViolation


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
