"""How much a call does: what it calls in turn, or its lines, so that a test of costs says the same on every machine.

Nothing is collected meanwhile: what other tests have left behind, and who listens to collections (hypothesis does),
would be counted, too.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def calls_of(run: Callable[[], object]) -> int:
    """How many calls a call makes, of functions in Python and in C; a turn of a generator is one."""
    made = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    with _nothing_is_collected():
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            run()
        finally:
            sys.setprofile(before)
    return made


def lines_of(run: Callable[[], object]) -> int:
    """How many lines of Python a call takes."""
    taken = 0

    def count(frame: object, event: str, argument: object) -> object:
        nonlocal taken
        taken += event == "line"
        return count

    with _nothing_is_collected():
        before = sys.gettrace()
        sys.settrace(count)
        try:
            run()
        finally:
            sys.settrace(before)
    return taken


@contextmanager
def _nothing_is_collected() -> Iterator[None]:
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
