"""Runs the conformance suite: chooses slices and driver, plays, and concludes."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from interlock.adapters.conformance.driver import Driver
from interlock.adapters.conformance.judge import Judge
from interlock.adapters.conformance.machine import MachineDriver
from interlock.adapters.conformance.result import ConformanceResult, ConformanceVerdict, Progress
from interlock.adapters.conformance.suite import Suite
from interlock.proofs.conformance.observed import ObservedGraph
from interlock.proofs.explorer.size import require_sizes
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.settings import Slice
from interlock.statemachine.machine import KVOffloadMachine
from interlock.statemachine.plural import counted

OWN = "interlock"

DEFAULT_SLICES = ("tiny", "store", "partial_failure", "reset", "load_ack")
"""Without --slice: everything that can happen, at sizes that take seconds."""

MakeDriver = Callable[[ObservedGraph], AbstractContextManager[Driver]]


def run_conformance(
    *,
    slices: list[str] | None = None,
    scope: dict[str, int] | None = None,
    connector: str = OWN,
    vllm: str | None = None,
    sets: dict[str, str] | None = None,
    budget: float = 300.0,
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
    preset = "interlock"
    deadline = time.monotonic() + budget
    result = ConformanceResult("holds", "", connector, None)
    undecided = ""
    for slice_ in chosen:
        if progress is not None:
            progress(Progress(f"slice {slice_.name}: its graph"))
        graph = _graph(slice_, preset, scope)
        with _own(machine, graph) as driver:
            judge = Judge(graph, connector, "conformance", preset)
            suite = Suite(graph, driver, judge, deadline, trace_dir, progress)
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


def _graph(slice_: Slice, preset: str, scope: dict[str, int] | None) -> ObservedGraph:
    sizes = {sort: size for sort, size in (scope or {}).items() if sort in slice_.scope}
    return ObservedGraph(SPECIFICATION, SPECIFICATION.switch_values(preset), slice_, sizes or None)


def _own(switches: dict[str, str], graph: ObservedGraph) -> AbstractContextManager[Driver]:
    def make(block_size: int) -> KVOffloadMachine:
        return KVOffloadMachine(
            block_size=block_size,
            num_chunks=graph.scope["chunk"],
            num_workers=graph.scope["worker"],
            switches=switches,
        )

    return nullcontext(MachineDriver(make))


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
    return "holds", f"{share}, and each of the others has a reason"
