"""A time limit on every construct and step: some connectors block for ever (gate-targets, 4).

By SIGALRM, so only in the main thread, and only where the blocked call lets Python run its handler.
A call that does not is ended by the parent, which kills the child (launch.py).
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class StepTimeoutError(BaseException):
    """A construct or a step took too long.

    Not an Exception, so that a connector which swallows errors cannot swallow it.
    """


@contextmanager
def time_limit(seconds: float, what: str) -> Iterator[None]:
    """Raise StepTimeoutError in the block once the time is up."""

    def expired(signum: int, frame: Any) -> None:
        raise StepTimeoutError(f"{what} did not end within {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
