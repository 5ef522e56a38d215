"""SPIN on the toy model: breadth-first, safety only, without reductions, so that counts can be compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from interlock.adapters.bench.measure import Counts
from interlock.adapters.bench.processes import build, first_line, run
from interlock.adapters.bench.promela import promela

COMPILE = ("gcc", "-O2", "-DBFS", "-DSAFETY", "-DNOREDUCE", "-DNOCOMP", "-DMEMLIM=16000", "-o", "pan", "pan.c")
"""``NOCOMP`` leaves states as they are in the table, which costs memory and saves a quarter of the time."""

_COUNTS = re.compile(r"^\s*(\d+) states, stored\n(?:.*\n)*?\s*(\d+) transitions", re.MULTILINE)
_ERRORS = re.compile(r"errors: (\d+)")


@dataclass(slots=True)
class Spin:
    """SPIN at one size.

    Args:
        folder: where it is built.
        table_bits: its hash table has two to this many slots; a few slots per state are best.
        model: another text in place of the model (a fault on purpose, in tests).
    """

    requests: int
    blocks: int
    folder: Path
    table_bits: int = 22
    model: str | None = None

    name = "spin"
    more = (0, 1)
    """SPIN counts the way into the initial state as a transition."""

    def version(self) -> str:
        return first_line(("spin", "-V"), self.folder)

    def compile(self) -> list[str]:
        text = promela(self.requests, self.blocks) if self.model is None else self.model
        (self.folder / "toy.pml").write_text(text, encoding="utf-8")
        built = [build(("spin", "-a", "toy.pml"), self.folder), build(COMPILE, self.folder)]
        return [*built, " ".join(self._command())]

    def warm_up(self) -> None:
        """Nothing: a program starts as fast the first time."""

    def run(self) -> Counts:
        ended = run(self._command(), self.folder)
        counts, errors = _COUNTS.search(ended.output), _ERRORS.search(ended.output)
        if counts is None or errors is None:
            raise RuntimeError(f"SPIN gave no counts: {ended.output[-2000:]}")
        complaint = "" if errors[1] == "0" else "an invariant fails"
        if "out of memory" in ended.output or "truncated" in ended.output:
            complaint = complaint or "SPIN ran out of memory"
        states, transitions = int(counts[1]) - self.more[0], int(counts[2]) - self.more[1]
        return Counts(states, transitions, ended.seconds, ended.cpu_seconds, complaint)

    def _command(self) -> tuple[str, ...]:
        # -E: a state without successor is no error.
        return ("./pan", f"-w{self.table_bits}", "-E")
