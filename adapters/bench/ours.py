"""Our own explorers on the toy model."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

from interlock.adapters.bench.measure import Counts
from interlock.adapters.bench.toy import system
from interlock.proofs.explorer.result import Exploration
from interlock.proofs.explorer.search import Limits, explore
from interlock.proofs.vectorised.run import explore_vectorised

LIMITS = Limits(states=200_000_000, seconds=3600.0)

WARM_UP = (2, 2)
"""Requests and blocks of a first exploration that is not measured."""


@dataclass(slots=True)
class Explorer:
    """An explorer with the plain explorer's interface, at one size.

    The time of a run is the one that the exploration reports: the search, without compiling the system.
    """

    name: str
    requests: int
    blocks: int
    explore: Callable[..., Exploration]
    more = (0, 0)

    def version(self) -> str:
        engine = f"interlock {version('interlock')}"
        return engine if self.name == "plain" else f"{engine}, numpy {version('numpy')}"

    def compile(self) -> list[str]:
        return [f"{self.explore.__module__}.{self.explore.__name__}"]

    def warm_up(self) -> None:
        self._explored(*WARM_UP)

    def run(self) -> Counts:
        gc.collect()
        before_cpu, before = time.process_time(), time.perf_counter()
        found = self._explored(self.requests, self.blocks)
        cpu_seconds, seconds = time.process_time() - before_cpu, time.perf_counter() - before
        failed = sorted(i for i, verdict in found.verdicts.items() if verdict == "violated")
        complaint = found.reason if not found.exhaustive else ", ".join(f"{i} fails" for i in failed)
        # Only the whole has a processor time; the search is taken to have its share of it.
        outside = max(seconds - found.seconds, 0.0)
        share = found.seconds / max(seconds, 1e-9)
        return Counts(found.states, found.transitions, found.seconds, cpu_seconds * share, complaint, outside)

    def _explored(self, requests: int, blocks: int) -> Exploration:
        return self.explore(system(requests, blocks), limits=LIMITS)


def plain(requests: int, blocks: int) -> Explorer:
    """The plain explorer."""
    return Explorer("plain", requests, blocks, explore)


def vectorised(requests: int, blocks: int) -> Explorer:
    """The vectorised explorer on the CPU."""
    return Explorer("vectorised", requests, blocks, explore_vectorised)
