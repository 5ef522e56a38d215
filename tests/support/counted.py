"""How much a call does: what it calls in turn, or its lines, so that a test of costs says the same on every machine.

Nothing is collected meanwhile: what other tests have left behind, and who listens to collections (hypothesis does),
would be counted, too.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any


def calls_of(run: Callable[[], object]) -> int:
    """How many calls a call makes, of functions in Python and in C; a turn of a generator is one."""
    made = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    _run_told_to(count, sys.getprofile, sys.setprofile, run)
    return made


def lines_of(run: Callable[[], object]) -> int:
    """How many lines of Python a call takes."""
    taken = 0

    def count(frame: object, event: str, argument: object) -> object:
        nonlocal taken
        taken += event == "line"
        return count

    _run_told_to(count, sys.gettrace, sys.settrace, run)
    return taken


def _run_told_to(
    count: Callable[..., object], get: Callable[[], Any], put: Callable[[Any], None], run: Callable[[], object]
) -> None:
    """A call, of which ``count`` is told what Python tells; what was told before is told again afterwards."""
    before, collects = get(), gc.isenabled()
    gc.disable()
    put(count)
    try:
        run()
    finally:
        put(before)
        if collects:
            gc.enable()
