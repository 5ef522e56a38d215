"""One workload, served without offload and with it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from interlock.adapters.embedded import EmbeddedEngine, Scheduling, Sizes
from interlock.adapters.embedded.encoding import EncoderSizes
from interlock.adapters.embedded.events import Record
from interlock.adapters.embedded.items import ItemTiming
from interlock.adapters.embedded.scenario import own_machine
from interlock.adapters.simulate.arrivals import Workload
from interlock.adapters.simulate.figures import Figures, figures_of
from interlock.adapters.simulate.hardware import H100_8B, Hardware
from interlock.adapters.simulate.no_offload import NoOffload
from interlock.adapters.simulate.serve import Served, Server, Stuck
from interlock.adapters.simulate.timeline import Timeline
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.errors import SpecificationViolation
from interlock.statemachine.offload.choice import EVERYTHING, StoreLimits
from interlock.statemachine.plural import counted
from interlock.statemachine.port import ConnectorPort
from interlock.statemachine.recovery import Group, LoadRecovery
from interlock.statemachine.trace import TraceWriter, header

WITHOUT, WITH = "without offload", "with offload"
MAX_TOKENS_PER_STEP = 8192
MAX_RUNNING = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be simulated.

    Args:
        requests, rate: ``None``: as the workload has it.
        sets: switches that differ from the preset.
        load_failures: share of blocks whose load fails.
        limits: what is stored of what could be; with any, ``store_choice`` is ``some_blocks`` unless it is set.
        oracle: compare every read with what its prefix calls for.
        trace: where the specification's trace of the run with offload goes.
        timeline: note what happens when.
    """

    workload: Workload
    requests: int | None = None
    rate: float | None = None
    gpu_blocks: int = 4096
    cpu_blocks: int = 16384
    seed: int = 0
    preset: str = "interlock"
    sets: Mapping[str, str] = field(default_factory=dict)
    depth: int = 1
    load_failures: float = 0.0
    limits: StoreLimits = EVERYTHING
    oracle: bool = False
    trace: Path | None = None
    timeline: bool = False
    hardware: Hardware = H100_8B

    @property
    def switches(self) -> dict[str, str]:
        """The switches that differ from the preset."""
        return ({"store_choice": "some_blocks"} if self.limits.decline_some else {}) | dict(self.sets)


@dataclass(slots=True)
class SimulateResult:
    """What came of it.

    Args:
        runs: by ``without offload`` and ``with offload``.
        first_token_s: of each request, by run.
    """

    asked: Asked
    verdict: Literal["simulated", "violated", "inconclusive"] = "simulated"
    reason: str = ""
    runs: dict[str, Figures] = field(default_factory=dict)
    first_token_s: dict[str, list[float]] = field(default_factory=dict)
    timelines: list[Timeline] = field(default_factory=list)


class NotModelled(Exception):
    """What no run can be made of.

    Args:
        wrong: one line; right: what to do.
    """

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(wrong)
        self.wrong, self.right = wrong, right


@dataclass(frozen=True, slots=True)
class SimulateProgress:
    """Where a simulation is; ``so_far`` is the result as it stands."""

    description: str
    completed: float | None
    total: float | None
    so_far: SimulateResult


def run_simulate(
    asked: Asked, progress: Callable[[SimulateProgress], object] = lambda progress: None
) -> SimulateResult:
    """Serve a workload twice.

    Raises:
        UnknownName: of a preset, a switch or its value.
        UnsupportedSwitch: our machine does not run a value.
        BadTraceFile: the workload is a file that cannot be read.
        NotModelled: this workload, at this depth or with loads that fail.
    """
    if asked.workload.has_items and (asked.depth > 1 or asked.load_failures):
        what, option = ("depth 2", "--depth") if asked.depth > 1 else ("loads that fail", "--load-failures")
        wrong = f"{asked.workload.name} with {what} is not modelled: the machine of encoder caches is synchronous"
        raise NotModelled(wrong, f"leave {option} out")
    values = SPECIFICATION.switch_values(asked.preset, asked.switches)
    sizes = Sizes(
        block_size=asked.hardware.block_size,
        num_blocks=asked.gpu_blocks,
        num_chunks=asked.cpu_blocks,
        max_tokens_per_step=MAX_TOKENS_PER_STEP,
        max_running=MAX_RUNNING,
    )
    recovery = LoadRecovery(groups=(Group(sizes.block_size),)) if asked.load_failures else None
    machine = own_machine(values, sizes, recovery=recovery, limits=asked.limits)
    result = SimulateResult(asked)
    _serve(result, WITHOUT, NoOffload(), sizes, values, None, None, progress)
    with _recorder(asked) as record:
        _serve(result, WITH, machine, sizes, values, record, recovery, progress)
    if not result.reason:
        result.reason = _compared(result.runs)
    if result.verdict == "simulated" and not result.runs[WITH].requests:
        result.verdict = "inconclusive"
        result.reason = f"no request fits in {counted(asked.gpu_blocks, 'GPU block')} of {sizes.block_size} tokens"
    return result


def _serve(
    result: SimulateResult,
    title: str,
    connector: ConnectorPort,
    sizes: Sizes,
    values: Mapping[str, str],
    record: Record | None,
    recovery: LoadRecovery | None,
    progress: Callable[[SimulateProgress], object],
) -> None:
    asked, work = result.asked, result.asked.workload
    requests = work.requests if asked.requests is None else asked.requests
    timeline, chance = Timeline(title), random.Random(asked.seed)
    server = Server(
        work.arrivals(asked.requests, asked.rate, asked.seed),
        timeline.ended if asked.timeline else lambda request: None,
    )
    engine = EmbeddedEngine(
        connector,
        sizes,
        record,
        scheduling=Scheduling(depth=asked.depth, preempts=True),
        timing=asked.hardware.timing,
        switches=values,
        oracle=asked.oracle,
        recovery=recovery,
        load_fails=lambda job: chance.random() < asked.load_failures,
        items=_items(asked, remote=title == WITH),
        dispatched=timeline.dispatched if asked.timeline else lambda step: None,
        ended=server.ended,
    )
    if asked.timeline:
        timeline.watch(engine.transfers)
        result.timelines.append(timeline)

    def told(served: Served) -> None:
        description = f"{title}: {served.requests:,} requests, {engine.now_s:,.0f} s of virtual time"
        before = len(result.runs) * (requests or 0)
        progress(SimulateProgress(description, before + served.requests, requests and 2 * requests, result))

    began = time.process_time()
    try:
        served = server.run(engine, told)
    except (SpecificationViolation, Stuck) as error:
        result.verdict, result.reason = "violated", f"{title}, step {engine.step_number:,}: {error}"
        served = server.served
    result.runs[title] = figures_of(engine, served, asked.hardware.block_bytes, time.process_time() - began)
    result.first_token_s[title] = served.first_token_s
    if engine.faults:
        first = engine.faults[0]
        what = {"read": f"block {first.block}", "store": f"chunk {first.chunk}", "item": first.expected}[first.kind]
        result.verdict = "violated"
        result.reason = (
            f"{title}: {counted(len(engine.faults), 'wrong content')}, the first in step {first.step:,} "
            f"({'read' if first.kind == 'item' else first.kind} of {what})"
        )


def _items(asked: Asked, *, remote: bool) -> tuple[EncoderSizes, ItemTiming] | None:
    if not asked.workload.has_items:
        return None
    return asked.hardware.encoder_sizes(MAX_TOKENS_PER_STEP, remote=remote), asked.hardware.item_timing


@contextmanager
def _recorder(asked: Asked) -> Iterator[Record | None]:
    if asked.trace is None:
        yield None
        return
    head = header(
        SPECIFICATION,
        source="simulator",
        preset=asked.preset,
        switches=asked.switches,
        scope={"worker": 1},
        meta={
            "workload": asked.workload.name,
            "seed": asked.seed,
            "depth": asked.depth,
            "load_failures": asked.load_failures,
            "limits": asdict(asked.limits),
        },
    )
    with TraceWriter(asked.trace, head) as writer:
        yield writer.record


def _compared(runs: Mapping[str, Figures]) -> str:
    without, offload = runs[WITHOUT], runs[WITH]
    saved = without.computed + without.recomputed - offload.computed - offload.recomputed
    if not without.computed:
        return "nothing was computed"
    share = saved / (without.computed + without.recomputed)
    less = f"{share:.0%} fewer tokens computed" if saved >= 0 else f"{-share:.0%} more tokens computed"
    first_s = [runs[r].first_token_s["p50"] for r in (WITH, WITHOUT)]
    return f"{less}, median time to first token {first_s[0]:,.3f} s with offload and {first_s[1]:,.3f} s without"
