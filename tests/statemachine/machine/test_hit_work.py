"""What it costs to find blocks that have no name yet: a look at each block of who has them, and not one per hit."""

from types import SimpleNamespace as Of

import pytest
from support.watched import Watched

from interlock.statemachine.lookup import FullAttention, SlidingWindow
from interlock.statemachine.offload.groups import BlockGroups
from interlock.statemachine.offload.holders import Holders
from interlock.statemachine.offload.tracked import BlockTable, Tracked

GROUP = BlockGroups.of(None, 4)[0]


def watch(d):
    """From now on, what is read of all tables is counted."""
    for tracked in d.machine._tracked.values():
        for table in tracked.tables:
            table.blocks = Watched(table.blocks)
    Watched.read = 0


def hits_of_loaded(driver, waiting, blocks):
    """The last of some that have loaded and wait for room, and somebody finds all of its blocks; what is read for that."""
    d = driver(chunks=waiting * blocks + 1)
    for name in range(waiting):
        d.add(f"A{name}", hashes := [f"{name}.{n}" for n in range(blocks)])
        d.admit(f"A{name}", list(range(1, blocks + 2)))
        d.update(completed=[job.job for job in d.build().store_jobs])
        d.finish(f"A{name}")
        d.step()
    for name in range(waiting):
        d.add(f"W{name}", [f"{name}.{n}" for n in range(blocks)])
        d.load(f"W{name}", list(range(1000 * (name + 1), 1000 * (name + 1) + blocks)), external_blocks=blocks)
    loads = d.build().load_jobs
    d.update(completed=[job.job for job in loads], received=[f"W{name}" for name in range(waiting)])
    watch(d)
    d.add("C", hashes)
    d.admit("C", [*range(1000 * waiting, 1000 * waiting + blocks), 1], local_blocks=blocks)
    d.build()

    assert {(name, 1000 * waiting) for name in (f"W{waiting - 1}", "C")} <= d.machine.ledger.relation("holds")
    return Watched.read


@pytest.mark.parametrize("waiting", [1, 4])
def test_hits_of_blocks_of_who_has_loaded_and_waits_cost_one_look_at_each_block(driver, waiting):
    assert hits_of_loaded(driver, waiting, 64) <= 3 * waiting * 64


def hits_of_late(driver, running, blocks):
    """The blocks that an output has named of requests that get no tokens are found; what is read of tables for that."""
    d = driver(chunks=1)
    for name in range(running):
        first = 1000 * (name + 1)
        d.add(f"R{name}", [f"{name}.{n}" for n in range(blocks)], tokens=4 * blocks + 2)
        d.admit(f"R{name}", list(range(first, first + blocks + 1)), tokens=4 * blocks + 4)
    d.build()
    d.update()
    for name in range(running):
        r = d.requests[f"R{name}"]
        r.num_tokens, r.block_hashes = 4 * blocks + 5, [*r.block_hashes, f"{name}.{blocks}"]
    watch(d)
    for name in range(running):
        first = 1000 * (name + 1)
        d.add(f"C{name}", d.requests[f"R{name}"].block_hashes)
        d.admit(f"C{name}", [*range(first, first + blocks + 1), 100 + name], local_blocks=blocks + 1)
    d.build()

    held = d.machine.ledger.relation("holds")
    assert all((f"{who}{n}", 1000 * (n + 1) + blocks) in held for n in range(running) for who in "RC")
    return Watched.read


def test_hits_of_blocks_of_which_outputs_have_decided_cost_no_look_at_what_has_a_name(driver):
    few, many = hits_of_late(driver, 4, 4), hits_of_late(driver, 4, 64)

    assert many == few < 4 * 8
    assert hits_of_late(driver, 16, 4) == 4 * few


def test_a_window_is_looked_through_for_blocks_that_were_given_away_and_not_what_has_slid_out(driver):
    read = []
    for blocks in (8, 64):
        d = driver(chunks=1, groups=(FullAttention(4), SlidingWindow(4, 8)))
        d.add("A", [f"h{n}" for n in range(blocks)])
        d.admit("A", [list(range(1, blocks + 2)), list(range(101, blocks + 102))])
        d.build()
        d.update()
        d.go_on("A", 4 * blocks + 1, 0)
        d.build()
        d.update()
        d.machine._tracked["A"].tables[1].blocks = Watched(d.machine._tracked["A"].tables[1].blocks)
        Watched.read = 0
        held = {101 + blocks}
        d.machine._running._slides._give_up(held)
        read.append(Watched.read)

    assert read[0] == read[1] <= 4


# -- who has a block, whatever has become of tables since they were gone through --------------------------------


def has(name, blocks):
    return Tracked(Of(request_id=name), name, (BlockTable(GROUP, blocks),))


@pytest.fixture
def holders():
    return Holders(lambda _, table: range(len(table.blocks)))


def test_of_several_the_one_is_found_that_has_a_block_now(holders):
    a, b = has("A", [1, 2]), has("B", [3])
    holders.put(a)
    holders.put(b)

    assert [holders.of(block) for block in (1, 3, 4, 0)] == [a, b, None, None]


def test_a_block_that_was_given_away_is_not_found_with_who_had_it(holders):
    a, b = has("A", [1, 2]), has("B", [1])
    holders.put(a)
    assert holders.of(1) is a
    a.tables[0].blocks[0] = 0
    assert holders.of(1) is None
    holders.put(b)
    assert holders.of(1) is b
    assert holders.drop(a)
    assert holders.of(1) is b
    a.tables[0].clear()
    assert holders.of(2) is None


def test_who_is_dropped_leaves_nothing(holders):
    a, b = has("A", [1]), has("B", [1])
    holders.put(a)
    assert holders
    assert holders.of(1) is a
    holders.put(b)
    assert holders.of(1) is b

    assert [holders.drop(t) for t in (b, a, a)] == [True, True, False]
    assert not holders
    assert holders.of(1) is None


def test_who_is_put_in_again_is_gone_through_again(holders):
    a = has("A", [1])
    holders.put(a)
    assert holders.of(2) is None
    a.tables[0].blocks += [2]
    holders.put(a)

    assert holders.of(2) is a
