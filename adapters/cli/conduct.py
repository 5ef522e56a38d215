"""Runs a verb's binding to its end, whatever the end: a document, a report, an exit code."""

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Literal, Protocol, TypeVar

from rich.console import RenderableType

from interlock.adapters.cli.mistakes import mistake_in_specification
from interlock.adapters.cli.problems import UsageProblem, as_usage_problem, one_line
from interlock.adapters.cli.session import Session
from interlock.adapters.documents.base import Document
from interlock.adapters.documents.write import to_json, write_atomically
from interlock.adapters.report.console import as_text

D = TypeVar("D", bound=Document)

OutputFormat = Literal["text", "json"]


class Binding(Protocol[D]):
    """What ties a verb to its engine."""

    def run(self) -> D:
        """Run the engine. Bad input raises UsageProblem, or what as_usage_problem knows."""

    def partial(self, reason: str) -> D:
        """The inconclusive document of what is known so far; called in place of a finished run."""

    def render(self, document: D) -> RenderableType:
        """The document for a person."""


def conduct(binding: Binding[D], session: Session, output: OutputFormat = "text") -> int:
    """Run, write the document, print the report; returns the exit code.

    Ctrl-C and SIGTERM (which CI systems send at their time limit) end in a partial document, and
    so does a fault of ours, with its traceback: neither may look like a verdict.

    Raises:
        UsageProblem: bad input or environment; nothing was written.
    """
    try:
        with _termination_interrupts(), session.progress:
            document = binding.run()
    except KeyboardInterrupt:
        document = binding.partial(f"interrupted after {session.seconds:.1f} s")
    except Exception as error:
        if (problem := mistake_in_specification(error) or as_usage_problem(error)) is not None:
            raise problem from error
        traceback.print_exc()
        document = binding.partial(one_line(f"internal error, please report it: {type(error).__name__}: {error}"))
    if session.json is not None:
        _write(session.json, to_json(document))
    _print(to_json(document) if output == "json" else as_text(binding.render(document)))
    return document.exit_code


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text)
    except OSError as error:
        wrong = f"cannot write {path}: {error.strerror}"
        raise UsageProblem(wrong, "name a file in a folder that can be written") from error


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # `interlock … | head`: the verdict stands, and what is left has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread, where signals cannot be set (a test, a server)
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
