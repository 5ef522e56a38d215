"""Runs the conformance suite: chooses slices and driver, plays, and concludes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from interlock.adapters.conformance.driver import Driver
from interlock.adapters.conformance.judge import Judge
from interlock.adapters.conformance.machine import MachineDriver
from interlock.adapters.conformance.presets import require_described
from interlock.adapters.conformance.result import ConformanceResult, ConformanceVerdict, Progress
from interlock.adapters.conformance.suite import Suite
from interlock.adapters.own import OWN_MACHINE
from interlock.proofs.conformance.observed import ObservedGraph
from interlock.proofs.explorer.size import require_sizes
from interlock.spec.engine import SPECIFICATION as ENGINE
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.plural import counted
from interlock.statemachine.recovery import Offers

DEFAULT_SLICES = ("tiny", "store", "partial_failure", "reset", "load_ack")
"""Without --slice: everything that can happen, at sizes that take seconds."""


_OFFERED_AGAIN = ENGINE.switch_values(changes={"reoffer": "allowed"})
"""Module ``kv`` lets a request load again after a failure; that it is not offered anything is decided in ``engine``."""


class Played(Protocol):
    """What is played: how it is judged, and a driver for each slice.

    Attributes:
        preset: whose switch values the graph has; source: of its traces, which says how replay judges them.
        vllm: the release that runs; fixed: sizes that it has whatever the slice says.
    """

    preset: str
    source: str
    vllm: str | None
    fixed: Mapping[str, int]

    def driver(self, graph: ObservedGraph) -> Driver:
        """A driver for one slice."""


def run_conformance(
    *,
    slices: list[str] | None = None,
    scope: dict[str, int] | None = None,
    connector: str = OWN_MACHINE,
    vllm: str | None = None,
    sets: dict[str, str] | None = None,
    budget: float = 300.0,
    sample: int | None = None,
    trace_dir: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ConformanceResult:
    """Play the traces of slices on an implementation.

    Args:
        slices: of module kv; default: :data:`DEFAULT_SLICES`.
        connector: ``interlock`` or ``vllm:NAME``; the graph is that of its preset.
        vllm: a release; default: the installed one, else the newest that is supported.
        sets: switches of our own machine; the graph stays that of the specification, so what they change is found.
        budget: seconds for all slices; what is neither covered nor explained by then is inconclusive.
        sample: how many edges of each slice are asked for, drawn at random; that is inconclusive as well.

    Raises:
        UnknownName: a slice, sort, switch or value that module kv does not have.
        ScopeTooLarge, TooLarge: a slice that cannot be explored at this scope.
    """
    spec = SPECIFICATION
    chosen = [spec.slice(name) for name in dict.fromkeys(slices or DEFAULT_SLICES)]
    for sort in scope or ():
        spec.sort(sort)
    require_sizes(scope or {})
    machine = spec.switch_values("interlock", sets)
    if connector != OWN_MACHINE:
        require_described(connector.removeprefix("vllm:"))
    deadline = time.monotonic() + budget
    if progress is not None and connector != OWN_MACHINE:
        progress(Progress(f"starting vLLM for {connector}"))
    with nullcontext(_Own(machine)) if connector == OWN_MACHINE else _connector(connector, vllm) as played:
        result = ConformanceResult("holds", "", connector, played.vllm)
        undecided = ""
        for slice_ in chosen:
            if progress is not None:
                progress(Progress(f"slice {slice_.name}: its graph"))
            sizes = {**slice_.scope, **(scope or {}), **played.fixed}
            graph = ObservedGraph(spec, spec.switch_values(played.preset), slice_, sizes)
            judge = Judge(graph, connector, played.source, played.preset)
            suite = Suite(graph, played.driver(graph), judge, deadline, trace_dir, progress, sample)
            coverage = suite.run()
            undecided = undecided or suite.undecided
            result.slices.append(coverage)
            result.failures += suite.failures.values()
            result.edges += coverage.edges
            result.covered += coverage.covered
            if progress is not None:
                progress(Progress(f"slice {slice_.name}", finished=coverage))
    result.verdict, result.reason = _verdict(result, undecided)
    return result


class _Own:
    """Our own machine, at its port. Args: switches: those that it runs with."""

    preset, source, vllm = "interlock", "conformance", None
    fixed: Mapping[str, int] = {}

    def __init__(self, switches: dict[str, str]) -> None:
        self._switches = switches

    def driver(self, graph: ObservedGraph) -> Driver:
        """A driver whose machines have the pools of a graph's slice."""
        chunks, workers = graph.scope["chunk"], graph.scope["worker"]

        def make(block_size: int) -> KVOffloadScheduler:
            return KVOffloadScheduler(
                block_size=block_size,
                num_chunks=chunks,
                num_workers=workers,
                switches=self._switches,
                offers=Offers(_OFFERED_AGAIN),
            )

        return MachineDriver(make)


def _connector(connector: str, vllm: str | None) -> AbstractContextManager[Played]:
    from interlock.adapters.conformance.release import Release

    return Release(connector, vllm)


def _verdict(result: ConformanceResult, undecided: str) -> tuple[ConformanceVerdict, str]:
    """A difference beats what is left open beats conformance."""
    share = f"{result.covered:,} of {counted(result.edges, 'edge')} covered"
    if result.failures:
        return "violated", f"{', '.join(f.id for f in result.failures)}; {share}"
    if undecided:
        return "inconclusive", f"what was seen could not be judged: {undecided}"
    open_ = sum(u.edges for s in result.slices for u in s.uncovered if not u.why)
    if open_:
        return "inconclusive", f"{share}, and nothing explains why {open_:,} are not: give more --budget"
    if not result.covered:
        return "inconclusive", "no edge was covered"
    return "holds", f"no difference on what was taken; {share}, and each of the others has a reason"
