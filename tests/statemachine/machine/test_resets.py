"""A reset of the tier while jobs are open."""


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
