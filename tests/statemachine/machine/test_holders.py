"""Who has a block: what one has lost and another has got is the other's, whoever is asked about first."""

from interlock.statemachine.lookup import FullAttention
from interlock.statemachine.offload.groups import BlockGroups
from interlock.statemachine.offload.holders import Holders
from interlock.statemachine.offload.tracked import BlockTable, Tracked


class Named:
    def __init__(self, request_id):
        self.request_id = request_id


def held(name, *blocks):
    (group,) = BlockGroups.of([FullAttention(4)], 4)
    return Tracked(Named(name), name, (BlockTable(group, list(blocks)),))


def holders():
    return Holders(lambda _, table: range(len(table.blocks)))


def test_a_block_that_another_has_got_stays_with_the_other_when_the_first_goes():
    asked, first, second = holders(), held("A", 1, 2), held("B", 3)
    asked.put(first)
    assert asked.of(1) is first
    first.tables[0].blocks[0] = 9
    second.tables[0].blocks.append(1)
    asked.put(second)
    assert asked.of(1) is second

    assert asked.drop(first)

    assert asked.of(1) is second
    assert asked.of(2) is None
    assert not asked.drop(first)


def test_a_table_that_has_lost_a_block_since_it_was_asked_about_has_it_no_more():
    asked, one = holders(), held("A", 1, 2)
    asked.put(one)
    assert asked.of(1) is one

    one.tables[0].blocks[:] = [2]

    assert asked.of(1) is None
