"""Programs of others: looked for, built in a folder, and timed."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.adapters.bench.measure import MissingEngine

PROGRAMS = {"spin": "spin", "rumur": "rumur", "gcc": "gcc libc6-dev"}
"""Each program that is needed, and the Debian packages that have it."""


def require_programs() -> None:
    """Make sure that all programs are there.

    Raises:
        MissingEngine: names those that are not, and the command that installs them.
    """
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent:
        packages = " ".join(PROGRAMS[name] for name in absent)
        raise MissingEngine(
            f"{', '.join(absent)} not installed",
            f"on Debian or Ubuntu: apt-get update && apt-get install -y {packages}",
        )


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that has ended: what it printed, its exit code, and its times in seconds."""

    output: str
    code: int
    seconds: float
    cpu_seconds: float


def run(command: Sequence[str], folder: Path) -> Ended:
    """Run a program to its end; standard error is part of the output."""
    output = folder / "output.txt"
    with output.open("w+b") as file:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env=_environment()
        )
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    text = output.read_text(encoding="utf-8", errors="replace")
    return Ended(text, process.returncode, seconds, used.ru_utime + used.ru_stime)


def build(command: Sequence[str], folder: Path) -> str:
    """Run a step of a build; returns the command line.

    Raises:
        RuntimeError: it failed; with what it printed.
    """
    ended = run(command, folder)
    if ended.code:
        raise RuntimeError(f"{' '.join(command)} failed: {ended.output[-2000:]}")
    return " ".join(command)


def first_line(command: Sequence[str], folder: Path) -> str:
    """What a program says first, such as its version."""
    return next(iter(run(command, folder).output.strip().splitlines()), "unknown").strip()


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}
