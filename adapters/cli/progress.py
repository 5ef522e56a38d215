"""Progress on anything over two seconds, on standard error, so that standard output stays clean.

On a terminal it is rich's bar, which vanishes at the end; elsewhere (CI, a pipe) a plain line every
ten seconds. Nothing is shown, and rich is not even imported, for a verb that ends sooner.
"""

import sys
import threading
import time
from types import TracebackType
from typing import Protocol, Self, TextIO

SILENT_S = 2.0
LINE_EVERY_S = 10.0


class Progress(Protocol):
    """What an engine reports, as often as it likes; `completed` of `total` where it can tell."""

    @property
    def description(self) -> str:
        """What is being done, with its numbers: `slice dedup: 12,345 states, depth 9`."""

    @property
    def completed(self) -> float | None:
        """How much is done, in units of `total`."""

    @property
    def total(self) -> float | None:
        """How much there is to do; None if it cannot be known."""


class ProgressView:
    """Shows the latest progress while its context is open."""

    def __init__(self, verb: str, stream: TextIO | None = None) -> None:
        self._description = verb
        self._completed = 0.0
        self._total: float | None = None
        self._stream = stream
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)
        self._started = time.monotonic()

    def show(self, progress: Progress) -> None:
        """Take over what an engine reports; cheap, so engines may call it for every batch."""
        self._description = progress.description
        self._completed = progress.completed or 0.0
        self._total = progress.total

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        if self._stop.wait(SILENT_S):
            return
        stream = self._stream or sys.stderr
        if stream.isatty():
            self._bar(stream)
        else:
            self._lines(stream)

    def _bar(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(file=stream), transient=True) as bar:
            task = bar.add_task(self._description, total=None)
            while not self._stop.wait(0.1):
                bar.update(task, description=self._description, completed=self._completed, total=self._total)

    def _lines(self, stream: TextIO) -> None:
        while True:
            share = f" ({self._completed / self._total:.0%})" if self._total else ""
            print(f"{time.monotonic() - self._started:6.0f} s  {self._description}{share}", file=stream, flush=True)
            if self._stop.wait(LINE_EVERY_S):
                return
