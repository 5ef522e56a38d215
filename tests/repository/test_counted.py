"""What counts the calls of a call, or its lines, counts those alone."""

import gc
from collections.abc import Callable

import pytest
from support.counted import calls_of, lines_of


def allocates() -> None:
    kept = [[] for _ in range(5 * gc.get_threshold()[0])]
    assert len(kept) > 0


@pytest.mark.parametrize("count", [calls_of, lines_of])
@pytest.mark.parametrize("collecting", [True, False])
def test_who_listens_to_collections_is_not_counted(count: Callable[..., int], collecting: bool) -> None:
    """A run of all tests counted a call too many now and then: hypothesis times collections."""
    heard = []

    def listens(phase: str, info: object) -> None:
        heard.append(phase)

    was = gc.isenabled()
    alone = count(allocates)
    gc.callbacks.append(listens)
    try:
        gc.enable() if collecting else gc.disable()
        del heard[:]
        assert count(allocates) == alone
        assert heard == []
        assert gc.isenabled() is collecting
    finally:
        gc.callbacks.remove(listens)
        gc.enable() if was else gc.disable()
