"""A reset of the tier while jobs are open."""

import pytest


def test_a_reset_flushes_what_is_open_and_takes_the_late_report_for_nothing(driver):
    d = driver(chunks=1)
    old = d.store_one("A", "h1", block=1)
    assert not d.machine.reset_cache()  # a request still has blocks: the caller has to try again
    assert d.machine.chunks.absent == (0,)

    metadata = d.build()

    assert metadata.jobs_to_flush == (old.job,)
    d.update(completed=[old.job])
    assert d.machine.chunks.ready == ()


def test_after_a_reset_nothing_old_is_found(driver):
    d = driver()
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.finish("A")
    d.add("B", ["h1", "h2"])
    assert d.match("B") == (4, True)

    assert d.machine.reset_cache()

    assert d.match("B") == (0, False)


def test_a_chunk_that_a_load_reads_is_taken_by_nobody_after_a_reset_that_holds(driver):
    d = driver(chunks=1, kv_reset="hold", match_busy="proceed")
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.finish("A")
    d.build()
    d.update()
    d.add("B", ["h1", "h2"])
    d.load("B", [7], external_blocks=1)
    d.build()

    assert not d.machine.reset_cache()

    assert (d.machine.chunks.absent, d.machine.chunks.ready) == ((), (0,))
    assert d.machine.chunks.take() is None
    d.update(completed=[1], received=["B"])
    assert d.machine.chunks.take() == 0


@pytest.mark.parametrize("checking", [True, False])
def test_what_a_finish_has_left_is_not_stored_after_a_reset(driver, checking):
    d = driver(chunks=1, options={"checking": checking})
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])
    assert [job.block for job in d.build().store_jobs] == [1]  # there is room for one
    d.finish("A")

    d.machine.reset_cache()

    assert d.build().store_jobs == ()


def test_the_last_report_on_a_job_that_a_reset_forgot_gives_its_reference_back(driver):
    d = driver(source_hold="pin", kv_reset="hold", idle="drain")
    job = d.store_one("A", "h1", block=1).job
    d.finish("A")
    d.machine.reset_cache()
    d.step()
    assert d.pool.held == [1]

    d.update(completed=[job])

    assert d.pool.held == []


@pytest.mark.parametrize("hold", ["pin", "fence"])
def test_a_reset_that_holds_is_refused_while_a_copy_runs_and_goes_on_serving(driver, hold):
    """As SimpleCPUOffloadConnector of 0.32.0 does (tests/adapters/vllm/test_resets.py)."""
    d = driver(source_hold=hold, kv_reset="hold", idle="drain")
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.finish("A")
    d.build()
    d.update()
    late = d.store_one("B", "h2", block=2).job
    d.finish("B")
    d.build()
    d.update()
    d.add("C", ["h1", "h3"])
    d.add("D", ["h2", "h3"])

    assert not d.machine.reset_cache()

    assert (d.match("C"), d.match("D")) == ((4, True), (0, False))
    assert not d.machine.reset_cache()
    d.update(completed=[late])
    assert (d.match("C"), d.match("D")) == ((4, True), (0, False))
    assert d.machine.reset_cache()
    assert (d.match("C"), d.match("D")) == ((0, False), (0, False))


@pytest.mark.parametrize(("reset", "succeeds"), [("unsupported", False), ("ignored", True)])
def test_a_reset_that_does_nothing_leaves_all_as_it_was(driver, reset, succeeds):
    d = driver(kv_reset=reset)
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.finish("A")
    d.build()
    d.update()
    d.add("B", ["h1", "h2"])

    assert d.machine.reset_cache() == succeeds

    assert d.match("B") == (4, True)


@pytest.mark.parametrize("checking", [True, False])
def test_the_engine_may_still_find_what_its_own_reset_has_left(driver, checking):
    """A step is under way that computes for a request that was aborted: vLLM's cache keeps all, and tells nobody."""
    d = driver(options={"checking": checking})
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    d.build()
    d.finish("A")
    d.machine.reset_cache()
    d.update(completed=[0])

    d.add("B", ["h1"])
    d.admit("B", [1, 3], local_blocks=1)
    stored = d.build().store_jobs

    assert ("B", 1) in d.machine.ledger.relation("holds")
    assert [(j.request, j.block) for j in stored] == [("B", 1)]


def test_after_a_reset_what_requests_still_have_is_stored_again(driver):
    """The tier has forgotten it, and nobody computes it a second time."""
    d = driver()
    job = d.store_one("A", "h1", block=1)
    d.update(completed=[job.job])

    d.machine.reset_cache()
    d.go_on("A", 5, 1)

    assert [(j.request, j.block) for j in d.build().store_jobs] == [("A", 1)]


def test_after_a_reset_that_holds_a_scan_without_room_passes_what_the_tier_still_has(driver):
    """Which a load reads. Once that is over, and another's store has taken its place, the scan goes on behind it."""
    d = driver(chunks=1, kv_reset="hold", match_busy="proceed")
    d.update(completed=[d.store_one("A", "h1", block=1).job])
    d.add("C", ["h1", "h3"], tokens=8)
    d.load("C", [7, 8], external_blocks=1)
    d.add("B", ["h2"])
    d.admit("B", [5, 6])
    d.add("D", ["h1", "h4"])
    d.admit("D", [1, 3, 4], local_blocks=1)
    (load,) = d.build().load_jobs
    d.update()

    assert not d.machine.reset_cache()
    stored = []
    for reports in ({}, {"completed": [load.job], "received": ["C"]}, {}, {}):
        d.go_on("B", 5, 1)
        d.go_on("D", 9, 1)
        jobs = d.build().store_jobs
        stored += [job.block for job in jobs]
        d.update(**reports)
        d.update(completed=[job.job for job in jobs])

    assert stored == [5, 3]


def test_what_a_reset_that_holds_has_left_is_found_by_who_had_found_it_before(driver):
    """A load reads it, so no chunk has moved, and the caller is to try again."""
    d = driver(chunks=1, kv_reset="hold", match_busy="proceed")
    d.update(completed=[d.store_one("A", "h1", block=1).job])
    d.add("B", ["h1"])
    d.load("B", [7], external_blocks=1)
    d.build()
    d.update()
    d.add("C", ["h1"])
    assert d.match("C") == (4, True)

    assert not d.machine.reset_cache()

    assert d.match("C") == (4, True)
