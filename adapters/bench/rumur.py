"""Rumur on the toy model: without symmetry reduction, so that counts can be compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from interlock.adapters.bench.measure import Counts
from interlock.adapters.bench.murphi import murphi
from interlock.adapters.bench.processes import build, first_line, run

OPTIONS = ("--symmetry-reduction", "off", "--deadlock-detection", "off", "--pack-state", "off")
"""``pack-state off`` is faster where memory is enough, as Rumur's manual says."""
COMPILE = ("gcc", "-std=c11", "-O3", "-march=native", "-mcx16", "-o", "toy", "toy.c", "-lpthread")

_COUNTS = re.compile(r"^\s*(\d+) states, (\d+) rules fired", re.MULTILINE)


@dataclass(slots=True)
class Rumur:
    """Rumur at one size with a number of threads, in its own folder; ``model`` as for SPIN."""

    name: str
    requests: int
    blocks: int
    folder: Path
    threads: int = 1
    model: str | None = None

    more = (0, 0)

    def version(self) -> str:
        return first_line(("rumur", "--version"), self.folder)

    def compile(self) -> list[str]:
        text = murphi(self.requests, self.blocks) if self.model is None else self.model
        (self.folder / "toy.m").write_text(text, encoding="utf-8")
        generate = ("rumur", "--quiet", "--threads", str(self.threads), *OPTIONS, "--output", "toy.c", "toy.m")
        return [build(generate, self.folder), build(COMPILE, self.folder), "./toy"]

    def warm_up(self) -> None:
        """Nothing: a program starts as fast the first time."""

    def run(self) -> Counts:
        ended = run(("./toy",), self.folder)
        counts = _COUNTS.search(ended.output)
        if counts is None:
            raise RuntimeError(f"Rumur gave no counts: {ended.output[-2000:]}")
        complaint = "" if ended.code == 0 else "an invariant fails"
        return Counts(int(counts[1]), int(counts[2]), ended.seconds, ended.cpu_seconds, complaint)
