"""Ids that look like the machine's own names of a second life: whoever has them, in whatever order they come."""

from itertools import permutations, product

import pytest

from interlock.statemachine.errors import UnknownRequest

NAMES = ("A", "A#1", "A#2", "A#1#2")


def left_to_store(driver, names):
    """Each has filled a block that there was no room for; and one more request goes on."""
    d = driver(chunks=1, finish_store="yes")
    d.store_one("Z", "z", block=90)
    for n, name in enumerate(names):
        d.add(name, [f"first of {name}"])
        d.admit(name, [2 * n + 1, 2 * n + 2])
    assert d.build().store_jobs == ()
    d.update()
    return d


@pytest.mark.parametrize("ran", [NAMES[:n] for n in range(len(NAMES) + 1)])
def test_every_order_in_which_such_ids_come_again(driver, ran):
    """Those that run end, each before it comes again; then all that live compute, as the requests that they are."""
    orders = set(permutations(NAMES)) | set(product(NAMES, repeat=3))
    for order in sorted(orders):
        d = left_to_store(driver, ran)
        for name in order:
            if name in d.requests:
                d.finish(name)
            d.add(name, [f"then of {name}"])
        for n, name in enumerate(order := list(dict.fromkeys(order))):
            d.admit(name, [100 + 2 * n, 101 + 2 * n])
        d.update(completed=[0])
        d.build()

        keys = [d.machine._tracked[name].key for name in d.requests]
        assert len(set(keys)) == len(d.requests)
        holds = d.machine.ledger.relation("holds")
        for n, name in enumerate(order):
            assert (d.machine._tracked[name].key, 100 + 2 * n) in holds


def test_a_job_and_a_report_name_the_id(driver):
    """Both have come again, and are loaded under names that are the id of neither."""
    d = driver(chunks=1)
    d.store_one("Z", "z", block=90)
    for name, block in (("A", 1), ("A#1", 3)):
        d.add(name, [f"h{block}"])
        d.admit(name, [block, block + 1])
    d.build()
    d.update(completed=[0])
    for name in ("A", "A#1"):
        d.finish(name)
    for name, block in (("A", 5), ("A#1", 7)):
        d.add(name, ["z"])
        d.load(name, [block], 1)
    loads = d.build().load_jobs
    assert [(job.request, job.block) for job in loads] == [("A", 5), ("A#1", 7)]
    assert not {t.key for t in d.machine._tracked.values()} & {"A", "A#1"}

    d.update(completed=[job.job for job in loads], received=["A", "A#1"])
    for name, block in (("A", 5), ("A#1", 7)):
        d.admit(name, [block, block + 1])
    d.build()
    assert {(d.machine._tracked[n].key, b) for n, b in (("A", 6), ("A#1", 8))} <= d.machine.ledger.relation("holds")


def test_a_report_that_names_a_name_of_ours_is_refused(driver):
    d = driver(chunks=1)
    d.store_one("Z", "z", block=90)
    d.add("A", ["h1"])
    d.admit("A", [1, 2])
    d.build()
    d.update(completed=[0])
    d.finish("A")
    d.add("A", ["z"])
    d.load("A", [5], 1)
    (job,) = d.build().load_jobs
    name = d.machine._tracked["A"].key

    assert name != "A"
    with pytest.raises(UnknownRequest, match=f"^update_connector_output: request '{name}' has not arrived"):
        d.update(completed=[job.job], received=[name])
    d.update(received=["A"])
    d.admit("A", [5, 6])
    d.build()
