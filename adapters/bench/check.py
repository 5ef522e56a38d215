"""Measures the explorers on the toy model in one run: plain, vectorised, SPIN and Rumur.

Rounds, and not all runs of one engine after the other, so that what else happens on the machine meets all of
them. Counts are compared with the plain explorer's; speeds say nothing where counts differ.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from interlock.adapters.bench.machine import Machine, cores, machine
from interlock.adapters.bench.measure import Engine, Measurement
from interlock.adapters.bench.ours import plain, vectorised
from interlock.adapters.bench.processes import require_programs
from interlock.adapters.bench.rumur import Rumur
from interlock.adapters.bench.spin import Spin
from interlock.adapters.bench.toy import TOY

Verdict = Literal["agree", "disagree", "inconclusive"]

SIZES = {"small": (3, 3), "large": (4, 4)}
"""Requests and blocks: 11,668 and 1,171,401 states."""

TABLE_BITS = {"small": 16, "large": 22}
"""Of SPIN's hash table: about four slots per state."""

ROUNDS = 3
REPEAT_UP_TO_S = 20.0
"""An engine whose first run took longer than this is run once."""

PEERS = ("spin", "rumur-1-thread", "rumur-all-cores")


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a measurement is, and what is known so far."""

    description: str
    so_far: BenchCheckResult
    completed: int | None = None
    total: int | None = None


@dataclass(slots=True)
class BenchCheckResult:
    """The measurements, and what they come to.

    Args:
        ratio: states per second, vectorised over the faster of the peers; None without one of them.
        ratio_to: which peer that was.
        ratio_cpu: the same per second of processor time, which other load on the machine disturbs less;
            None without one of them.
    """

    size: str
    requests: int
    blocks: int
    engines: list[Measurement] = field(default_factory=list)
    machine: Machine = field(default_factory=machine)
    spec_digest: str = TOY.digest

    @classmethod
    def empty(cls, size: str) -> BenchCheckResult:
        """Nothing measured yet at a size of :data:`SIZES`."""
        return cls(size, *SIZES[size])

    @property
    def states(self) -> int | None:
        return self.engines[0].states if self.engines else None

    @property
    def transitions(self) -> int | None:
        return self.engines[0].transitions if self.engines else None

    @property
    def states_per_second(self) -> dict[str, float]:
        return {m.engine: round(m.states_per_second, 1) for m in self.engines}

    @property
    def ratio(self) -> float | None:
        return self._ratio({m.engine: m.seconds for m in self.engines})

    @property
    def ratio_to(self) -> str | None:
        seconds = {m.engine: m.seconds for m in self.engines if m.engine in PEERS}
        return min(seconds, key=seconds.__getitem__) if seconds else None

    @property
    def ratio_cpu(self) -> float | None:
        return self._ratio({m.engine: m.cpu_seconds for m in self.engines})

    @property
    def verdict(self) -> Verdict:
        return self._judged()[0]

    @property
    def reason(self) -> str:
        return self._judged()[1]

    def _ratio(self, seconds: dict[str, float]) -> float | None:
        """How many times faster the vectorised explorer is than the fastest peer."""
        peers = [seconds[name] for name in PEERS if name in seconds]
        if "vectorised" not in seconds or not peers:
            return None
        return round(min(peers) / max(seconds["vectorised"], 1e-9), 2)

    def _judged(self) -> tuple[Verdict, str]:
        if not self.engines:
            return "inconclusive", "nothing was measured"
        first = self.engines[0]
        wanted = (first.states, first.transitions)
        for m in self.engines:
            if m.complaint:
                return "disagree", f"{m.engine}: {m.complaint}"
            if (m.states, m.transitions) != wanted:
                counts = f"{m.states:,} states and {m.transitions:,} transitions"
                return "disagree", f"{m.engine} finds {counts}, {first.engine} {wanted[0]:,} and {wanted[1]:,}"
        found = f"{len(self.engines)} engines find {wanted[0]:,} states and {wanted[1]:,} transitions"
        if self.ratio is None:
            return "inconclusive", f"{found}; the vectorised explorer was not compared"
        return "agree", f"{found}; vectorised is {self.ratio} times as fast as {self.ratio_to}"


def run_bench_check(*, size: str = "large", progress: Callable[[Progress], None] | None = None) -> BenchCheckResult:
    """Measure all engines at a size of :data:`SIZES`.

    Raises:
        MissingEngine: SPIN, Rumur or gcc is not installed.
    """
    require_programs()
    result = BenchCheckResult.empty(size)
    requests, blocks = result.requests, result.blocks

    def report(description: str, completed: int, total: int) -> None:
        if progress is not None:
            progress(Progress(description, result, completed, total))

    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as folder:
        engines = list(_engines(requests, blocks, TABLE_BITS[size], Path(folder)))
        total = len(engines) * (ROUNDS + 1)
        measured = {}
        for number, engine in enumerate(engines):
            report(f"compiles the model for {engine.name}", number, total)
            measured[engine.name] = _compiled(engine)
        for round_ in range(ROUNDS):
            for number, engine in enumerate(engines):
                mine = measured[engine.name]
                if round_ and mine.runs[0].seconds > REPEAT_UP_TO_S:
                    continue
                done = len(engines) * (round_ + 1) + number
                report(f"round {round_ + 1} of {ROUNDS}: {engine.name} explores {requests} x {blocks}", done, total)
                mine.runs.append(engine.run())
                if not round_:
                    result.engines.append(mine)
        report("is done", total, total)
    return result


def _engines(requests: int, blocks: int, table_bits: int, folder: Path) -> Iterator[Engine]:
    yield plain(requests, blocks)
    yield vectorised(requests, blocks)
    yield Spin(requests, blocks, _made(folder / "spin"), table_bits)
    yield Rumur("rumur-1-thread", requests, blocks, _made(folder / "rumur1"), threads=1)
    if cores() > 1:
        yield Rumur("rumur-all-cores", requests, blocks, _made(folder / "rumur"), threads=cores())


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _compiled(engine: Engine) -> Measurement:
    version = engine.version()
    started = time.perf_counter()
    commands = engine.compile()
    seconds = time.perf_counter() - started
    engine.warm_up()
    return Measurement(engine.name, version, commands, seconds, engine.more)
