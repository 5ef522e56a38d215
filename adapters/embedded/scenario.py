"""Scenarios: plain lists of operations, played deterministically on our own machine or on any port.

An operation that finds nothing to act on is passed over and counted, so every sublist of a scenario is
a scenario: shrinking needs that. The JSON form is the one of the gate on a real scheduler, and ``fail``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from interlock.adapters.embedded.engine import Chooser, EmbeddedEngine
from interlock.adapters.embedded.events import Record
from interlock.adapters.embedded.ghost import Fault
from interlock.adapters.embedded.sizes import Scheduling, Sizes
from interlock.adapters.embedded.tokens import prompt_of
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.specification import Specification
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.choice import EVERYTHING, StoreLimits
from interlock.statemachine.port import ConnectorPort
from interlock.statemachine.recovery import LoadRecovery
from interlock.statemachine.trace import TraceEvent, event


class ScenarioError(ValueError):
    """What was given is not a scenario; says which operation and what would be right."""


@dataclass(frozen=True, slots=True)
class Add:
    """A request arrives: a full block per symbol, then ``tail`` tokens that all requests share."""

    op: ClassVar[str] = "add"
    request: str
    prompt: Sequence[str]
    tail: int = 0
    max_tokens: int = 1


@dataclass(frozen=True, slots=True)
class Step:
    """The engine makes a step, if it has anything to do."""

    op: ClassVar[str] = "step"


@dataclass(frozen=True, slots=True)
class Complete:
    """The ``nth`` oldest open job ends (on one worker, or on all); reported with the next step."""

    op: ClassVar[str] = "complete"
    nth: int = 0
    worker: int | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """The bytes of the ``nth`` oldest open job move now; the report comes later."""

    op: ClassVar[str] = "copy"
    nth: int = 0
    worker: int | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """The ``nth`` oldest open job fails on a worker and ends on the others; a load only where somebody recovers."""

    op: ClassVar[str] = "fail"
    nth: int = 0
    worker: int = 0


@dataclass(frozen=True, slots=True)
class Abort:
    """A request is aborted."""

    op: ClassVar[str] = "abort"
    request: str


Operation = Add | Step | Complete | Copy | Fail | Abort
Scenario = Sequence[Operation]
_KINDS: dict[str, type[Operation]] = {k.op: k for k in (Add, Step, Complete, Copy, Fail, Abort)}


@dataclass(slots=True)
class Run:
    """What came of a scenario.

    Args:
        ignored: indexes of operations that found nothing to act on.
        open_jobs, unfinished, used_blocks: what was left at the end; of GPU blocks, how many were in use.
    """

    events: list[TraceEvent] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    steps: int = 0
    ignored: list[int] = field(default_factory=list)
    open_jobs: tuple[int, ...] = ()
    unfinished: tuple[str, ...] = ()
    used_blocks: int = 0


def run(
    scenario: Scenario,
    switches: Mapping[str, str] | None = None,
    sizes: Sizes | None = None,
    *,
    scheduling: Scheduling | None = None,
    connector: ConnectorPort | None = None,
    chooser: Chooser | None = None,
    recovery: LoadRecovery | None = None,
    drain: bool = False,
    rest: bool = False,
    record: Record | None = None,
    spec: Specification = SPECIFICATION,
) -> Run:
    """Play a scenario on a fresh engine.

    Args:
        switches: that differ from the default preset.
        connector: the connector under test; our own machine if not given.
        recovery: decides about requests whose loads fail; without it no load can.
        drain: afterwards, complete everything and step until nothing is left to do.
        rest: afterwards, step for as long as the engine has a reason to; ``open_jobs`` are then left for ever.
        record: also called for each event (a trace's writer).

    Raises:
        ScenarioError: the scenario cannot be played.
    """
    sizes = sizes or Sizes()
    values = spec.switch_values(changes=dict(switches or {}))
    played = Run()

    def note(name: str, **fields: object) -> None:
        played.events.append(event(len(played.events), name, **fields))
        if record is not None:
            record(name, **fields)

    engine = EmbeddedEngine(
        connector or own_machine(values, sizes, spec, recovery),
        sizes,
        note,
        scheduling=scheduling,
        chooser=chooser,
        switches=values,
        recovery=recovery,
    )
    for index, operation in enumerate(scenario):
        if not _apply(engine, operation):
            played.ignored.append(index)
    if drain:
        drain_engine(engine)
    if rest:
        let_engine_rest(engine)
    played.faults = engine.faults
    played.steps = engine.step_number
    played.open_jobs = engine.open_jobs
    played.unfinished = tuple(engine.requests)
    played.used_blocks = sizes.num_blocks - engine.pool.num_free
    return played


def own_machine(
    switches: Mapping[str, str],
    sizes: Sizes,
    spec: Specification = SPECIFICATION,
    recovery: LoadRecovery | None = None,
    limits: StoreLimits = EVERYTHING,
) -> KVOffloadScheduler:
    """Our machine, sized for an engine; it offers nothing to whom recovery has refused."""
    return KVOffloadScheduler(
        block_size=sizes.block_size,
        num_chunks=sizes.num_chunks,
        num_workers=sizes.num_workers,
        switches=switches,
        offers=recovery.offers if recovery else None,
        limits=limits,
        spec=spec,
    )


DRAIN_STEPS_MAX = 1000


def drain_engine(engine: EmbeddedEngine) -> None:
    """Complete everything and step, until nothing is left to do.

    Raises:
        RuntimeError: that does not end.
    """
    for _ in range(DRAIN_STEPS_MAX):
        if not engine.has_work():
            return
        for job in engine.open_jobs:
            engine.complete(job)
        engine.step()
    raise RuntimeError(f"after {DRAIN_STEPS_MAX} steps there is still work: {engine.requests}, {engine.open_jobs}")


PATIENCE_STEPS = 4
REST_STEPS_MAX = 64


def let_engine_rest(engine: EmbeddedEngine) -> None:
    """Step until the engine has no reason to go on. Copies take their time, but not for ever."""
    for step in range(REST_STEPS_MAX):
        if not engine.has_work():
            return
        for job in engine.open_jobs if step >= PATIENCE_STEPS else ():
            engine.complete(job)
        engine.step()


def _apply(engine: EmbeddedEngine, operation: Operation) -> bool:
    match operation:
        case Add():
            if not 0 <= operation.tail < engine.sizes.block_size:
                raise ScenarioError(f"{operation}: tail is from 0 to {engine.sizes.block_size - 1}")
            prompt = prompt_of(operation.prompt, operation.tail, engine.sizes.block_size)
            return bool(prompt) and engine.add(operation.request, prompt, operation.max_tokens)
        case Step():
            if not engine.has_work():
                return False
            engine.step()
            return True
        case Abort():
            return engine.abort(operation.request)
    jobs = engine.open_jobs
    if not 0 <= operation.nth < len(jobs):
        return False
    job = jobs[operation.nth]
    match operation:
        case Complete():
            return engine.complete(job, operation.worker)
        case Copy():
            return engine.copy(job, operation.worker)
        case Fail():
            return engine.fail(job, operation.worker)


def to_json(scenario: Scenario) -> list[dict[str, Any]]:
    """The scenario as a JSON list of objects."""
    return [{"op": o.op, **{k: v for k, v in asdict(o).items() if v is not None}} for o in scenario]


def from_json(scenario: Any) -> list[Operation]:
    """A scenario from JSON.

    Raises:
        ScenarioError: names the operation and what is wrong with it.
    """
    if not isinstance(scenario, list):
        raise ScenarioError("a scenario is a JSON list of operations")
    return [_operation(i, o) for i, o in enumerate(scenario)]


def _operation(index: int, given: Any) -> Operation:
    kind = _KINDS.get(given.get("op", "")) if isinstance(given, dict) else None
    if kind is None:
        raise ScenarioError(f"operation {index}: op is one of {', '.join(_KINDS)}")
    try:
        return kind(**{k: v for k, v in given.items() if k != "op"})
    except TypeError as error:
        raise ScenarioError(f"operation {index} ({kind.op}): {error}") from error
