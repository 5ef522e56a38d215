"""How much a call does: what it calls in turn, counted, so that a test of costs says the same on every machine."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable


def calls_of(run: Callable[[], object]) -> int:
    """How many calls a call makes, of functions in Python and in C; a turn of a generator is one.

    Nothing is collected meanwhile: what other tests have left behind, and who listens to collections (hypothesis does),
    would be counted, too.
    """
    made = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before, collecting = sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
    return made
