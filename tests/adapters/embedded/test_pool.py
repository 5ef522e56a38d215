"""The block pool."""

import pytest

from interlock.adapters.embedded.pool import BlockPool


def test_free_blocks_are_taken_least_recently_used_first_and_unpublished_before_all():
    pool = BlockPool(4)
    assert pool.allocate(3) == [1, 2, 3]
    pool.publish(1, "h1")
    pool.publish(2, "h2")

    pool.free_blocks([3, 2, 1])

    assert pool.allocate(4) == [3, 4, 2, 1]
    assert pool.find("h1") is None


def test_a_hash_may_name_two_blocks_and_the_first_is_found():
    pool = BlockPool(3)
    pool.allocate(2)
    pool.publish(1, "h")
    pool.publish(2, "h")
    assert pool.find("h") == 1

    pool.free_blocks([1])
    pool.allocate(2)

    assert pool.find("h") == 2


def test_a_block_in_use_is_not_free():
    pool = BlockPool(1)
    pool.allocate(1)
    pool.touch([1])
    pool.free_blocks([1])
    assert (pool.num_free, pool.references(1)) == (0, 1)
    with pytest.raises(ValueError, match="1 blocks asked for, 0 free"):
        pool.allocate(1)

    pool.free_blocks([1])

    with pytest.raises(ValueError, match="freed more often than it was taken"):
        pool.free_blocks([1])
