"""Waiting for a pool's results ends when the pool is left."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from threading import Timer

import pytest

from interlock.proofs.smt.work import Pool


def test_results_come_as_they_are_there() -> None:
    slow, quick = Future[int](), Future[int]()
    quick.set_result(1)
    Timer(0.1, slow.set_result, (2,)).start()

    assert list(Pool.finished({slow: "slow", quick: "quick"})) == [("quick", 1), ("slow", 2)]


@pytest.mark.timeout(20)
def test_what_is_cancelled_while_one_waits_ends_the_wait() -> None:
    """A future that is cancelled wakes nobody who waits for several: an interrupted proof once waited for ever."""
    one, other = Future[int](), Future[int]()
    Timer(0.1, one.cancel).start()

    with pytest.raises(CancelledError):
        list(Pool.finished({one: "one", other: "other"}))
