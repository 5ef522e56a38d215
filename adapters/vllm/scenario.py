"""A scenario: a plain JSON list of operations, played on a fresh scheduler by the harness of a module.

The operations of module kv (those of another are with its harness, see `stage`):

- {"op": "add", "request": "A", "prompt": ["p", "q"], "tail": 1, "max_tokens": 2}: the prompt is one
  full block per symbol, then `tail` tokens (default 0) that are the same for every request
- {"op": "step"}
- {"op": "complete", "nth": 0, "worker": null}: the completion of the nth oldest open job comes with the next step; from
  one of several workers, or (null) from all that have not said so yet. So for "copy" and "fail"
- {"op": "copy", "nth": 0}: the bytes of the nth oldest job not yet copied move now; without it they
  move with the completion, or before the forward where a flush is ordered
- {"op": "fail", "nth": 0}: the nth oldest job not yet copied fails, and the next step's report says so; where the
  connector knows failures (ours)
- {"op": "abort", "request": "A"}
- {"op": "reset", "running": false}: the prefix cache and its connector are reset; running requests are preempted for it

An operation that finds nothing to act on (no such job, request gone) is ignored, and counted: so
every sublist of a scenario is a scenario, which shrinking needs.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from interlock.adapters.vllm.construct import ConstructError, Constructor
from interlock.adapters.vllm.harness import VOCABULARY, DriveError, Harness
from interlock.adapters.vllm.late_publishes import in_their_schedule
from interlock.adapters.vllm.observers.none import NoObserver
from interlock.adapters.vllm.stage import Playing, Shapes, Stage
from interlock.adapters.vllm.timeout import StepTimeoutError, time_limit

Scenario = Sequence[dict[str, Any]]

REST_STEPS = 16
"""Steps after which an engine without requests rests, or never does."""

SLOW_STEPS = 4
"""Steps that a copy may take at most."""

CONSTRUCT_SECONDS = 40.0
"""The first scheduler of a process compiles what our machines run: seconds, on a busy machine many."""

CHUNKS = {"pending": "pending-chunk-has-one-store", "pinned": "pins-equal-outstanding-users"}
"""What a chunk breaks that is so though no job is open."""

SHAPES: Shapes = {
    "add": {"request": (str,), "prompt": (list,), "tail": (int,), "max_tokens": (int,)},
    "step": {},
    "complete": {"nth": (int,), "worker": (int, type(None))},
    "copy": {"nth": (int,), "worker": (int, type(None))},
    "fail": {"nth": (int,), "worker": (int, type(None))},
    "abort": {"request": (str,)},
    "reset": {"running": (bool,)},
}
DEFAULTS: dict[str, Any] = {"tail": 0, "max_tokens": 1, "nth": 0, "worker": None, "running": False}


class ScenarioError(Exception):
    """The scenario is not one; the message names the operation and what would be right."""


@dataclass
class Played:
    """What came of a scenario."""

    events: list[dict[str, Any]] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)
    steps: int = 0
    ignored: list[int] = field(default_factory=list)  # indexes of operations without effect
    open_jobs: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    owed: dict[str, list[str]] | None = None
    free_blocks: int | None = None
    error: dict[str, Any] | None = None  # kind, operation, type, message, where
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """For the child's answer."""
        return dict(vars(self))


class KvHarness(Harness):
    """The harness of module kv, moved by operations."""

    def apply(self, operation: dict[str, Any]) -> bool:
        """One operation; False where it finds nothing to act on."""
        match operation["op"]:
            case "add":
                prompt = prompt_tokens(operation["prompt"], operation["tail"], self.block_size)
                self.add(operation["request"], prompt, operation["max_tokens"])
                return True
            case "step":
                self.step()
                return True
            case "complete" | "copy" | "fail" as move:
                done: bool = getattr(self, move)(operation["nth"], operation["worker"])
                return done
            case "reset":
                return self.reset(operation["running"])
            case _:
                return self.abort(operation["request"])

    @property
    def under_test(self) -> tuple[type, ...]:
        """The connector."""
        return type(self.scheduler.connector).__mro__

    def owed(self) -> dict[str, list[str]] | None:
        """What nothing comes of any more: the engine rests, and makes no step until a request arrives.

        Jobs on which no report will ever come; where none is left, requests that have ended and hold blocks still,
        blocks that are in use though nobody has them, and chunks that are pinned or pending though nothing reads or
        writes them: of these also that there are none, an empty list, unless the observer cannot tell.

        Nothing is known where requests are left to run, or jobs are not seen. Copies take longer than the first few
        steps; what a step flushes ends with it.
        """
        if self.scheduler.has_unfinished_requests() or isinstance(self.recorder.observer, NoObserver):
            return None
        for step in range(REST_STEPS):
            if not self.goes_on(slowly=step < SLOW_STEPS):
                if left := self.jobs.unflushed:
                    return {"issued-jobs-complete": left}
                return {} if self.open_jobs() else self._kept()
        # It goes on stepping, and what is held though no job is open nothing will ever end; all else is not known.
        kept = {} if self.open_jobs() else self._kept()
        return {name: left for name, left in kept.items() if left} or None

    def _kept(self) -> dict[str, list[str]]:
        """Requests, blocks and chunks that are held though no job is open."""
        if held := self.unfinished:
            return {"held-requests-are-released": held}
        pool = self.scheduler.kv_cache_manager.block_pool.blocks
        if used := [f"block {b.block_id}" for b in pool if b.ref_cnt and not b.is_null]:
            return {"used-block-has-a-user": used}
        if (in_use := getattr(self.recorder.observer, "chunks_in_use", None)) is None:
            return {}
        return {CHUNKS[how]: [f"chunk {c}" for c in found] for how, found in in_use(self.scheduler.connector).items()}

    def open_jobs(self) -> list[str]:
        """By the connector's ids."""
        return self.jobs.ids


KV = Stage(SHAPES, DEFAULTS, KvHarness)
_ELSEWHERE = {
    "engine": "failing_loads",
    "encoder": "encoder_items",
    "groups": "several_groups",
    "released-engine": "released_loads",
    "released-encoder": "released_items",
}
"""Modules whose operations are in another file; of what is ours, or of a release's own scheduler."""


def stage(module: str) -> Stage:
    """What plays scenarios of a module.

    Raises:
        ScenarioError: nothing does.
        ConstructError: what does cannot be imported with this release.
    """
    if module == "kv":
        return KV
    if module not in _ELSEWHERE:
        raise ScenarioError(f"module is {module!r}; it is one of kv, {', '.join(_ELSEWHERE)}")
    try:
        found: Stage = importlib.import_module(f"interlock.adapters.vllm.{_ELSEWHERE[module]}").STAGE
    except ImportError as error:
        raise ConstructError(f"module {module} is not played on this release: {error}") from error
    return found


def check(scenario: Any, stage: Stage = KV) -> Scenario:
    """The scenario with its defaults filled in; ScenarioError for a malformed one."""
    if not isinstance(scenario, list):
        raise ScenarioError("a scenario is a JSON list of operations")
    return [_check_operation(i, operation, stage) for i, operation in enumerate(scenario)]


def _check_operation(index: int, operation: Any, stage: Stage) -> dict[str, Any]:
    name = operation.get("op") if isinstance(operation, dict) else None
    if not isinstance(name, str) or name not in stage.shapes:
        raise ScenarioError(f"operation {index}: op is {name!r}; it is one of {', '.join(stage.shapes)}")
    keys = stage.shapes[name]
    filled: dict[str, Any] = {key: stage.defaults[key] for key in keys if key in stage.defaults} | operation
    shape = {"op": (str,), **keys}
    if set(filled) != set(shape):
        wrong = sorted(set(filled) ^ set(shape))
        raise ScenarioError(f"operation {index} ({name}): missing or unknown {', '.join(wrong)}")
    for key, types in shape.items():
        if type(filled[key]) not in types:
            raise ScenarioError(f"operation {index} ({name}): {key} is {filled[key]!r}")
    return filled


@lru_cache(maxsize=4096)
def block_tokens(symbol: str, size: int) -> tuple[int, ...]:
    """The tokens of a prompt symbol; equal symbols give equal blocks."""
    digest = hashlib.blake2b(symbol.encode(), digest_size=64).digest()
    return tuple(3 + (digest[i % 64] * 256 + i * 7 + digest[(i + 1) % 64]) % (VOCABULARY - 3) for i in range(size))


def prompt_tokens(prompt: Sequence[Any], tail: int, block_size: int) -> list[int]:
    """The tokens of an add operation."""
    if not 0 <= tail < block_size:
        raise ScenarioError(f"tail is {tail}; it is at least 0 and less than a block, {block_size}")
    tokens = [t for symbol in prompt for t in block_tokens(str(symbol), block_size)]
    return tokens + list(block_tokens("", block_size)[:tail])


def play(
    constructor: Constructor,
    scenario: Any,
    step_seconds: float = 10.0,
    observer: str | None = None,
    module: str = "kv",
) -> Played:
    """Play a scenario on a fresh scheduler; whatever the scheduler raises is part of the result."""
    stage_ = stage(module)
    operations = check(scenario, stage_)
    played = Played()
    start = time.perf_counter()

    def record(event: str, **args: Any) -> None:
        played.events.append({"event": event, **args})

    with time_limit(max(step_seconds, CONSTRUCT_SECONDS), "constructing the scheduler"):
        playing = stage_.open(constructor, record, observer)
    for index, operation in enumerate(operations):
        with _noted(played, playing, index), time_limit(step_seconds, f"operation {index} ({operation['op']})"):
            if not playing.apply(operation):
                played.ignored.append(index)
        if played.error is not None:
            break
    played.steps = playing.steps
    played.open_jobs = playing.open_jobs()
    played.unfinished = playing.unfinished
    played.free_blocks = playing.scheduler.kv_cache_manager.block_pool.get_num_free_blocks()
    if played.error is None:
        with _noted(played, playing, len(operations)), time_limit(step_seconds, "coming to rest"):
            played.owed = playing.owed()
    played.events, faults = in_their_schedule(played.events, playing.faults)
    played.faults = [fault.to_json() for fault in faults]
    played.seconds = time.perf_counter() - start
    return played


@contextmanager
def _noted(played: Played, playing: Playing, index: int) -> Iterator[None]:
    """What the scheduler raises is part of the result; what is wrong with the operation is not."""
    try:
        yield
    except DriveError as error:
        raise ScenarioError(f"operation {index}: {error}") from error
    except ScenarioError:
        raise
    except StepTimeoutError as error:
        played.error = {"kind": "timeout", "operation": index, "message": str(error)}
    except Exception as error:
        played.error = _crash(index, error, playing)


CONNECTOR_CODE = ("/kv_connector/", "/kv_offload/", "/simple_kv_offload/", "/ec_connector/")
"""Where vLLM keeps connectors and what they are made of."""

CONTRACT_CHECKS = ("kv_xfer", "remote_kv", "connector")
"""Functions of the scheduler that check what a connector hands over (rules R-38 to R-41), by part of name."""


def _crash(index: int, error: Exception, playing: Playing) -> dict[str, Any]:
    """An exception of the scheduler or the connector, with the innermost frame that is not ours.

    ``side`` is the connector's if its code was running, if the scheduler refused what it handed over, or if it had
    answered what is impossible before, by which the scheduler goes.
    """
    files = {inspect.getsourcefile(cls) for cls in playing.under_test if cls.__module__ != "builtins"}
    # Our own connector is in a folder of the harness, which is nobody's code otherwise.
    harness = ("/interlock/adapters/", "/adapters/vllm/")
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if f.filename in files or not any(part in f.filename for part in harness)
    ]
    theirs = [f for f in frames if f.filename in files or any(part in f.filename for part in CONNECTOR_CODE)]
    refused = isinstance(error, AssertionError) and any(p in f.name for f in frames for p in CONTRACT_CHECKS)
    misled = any(fault.kind == "answer" for fault in playing.faults)
    where = theirs[-1] if theirs else frames[-1] if frames else None
    return {
        "kind": "crash" if frames else "harness",
        "side": "connector" if theirs or refused or misled else "scheduler",
        "operation": index,
        "type": type(error).__name__,
        "message": str(error).strip().split("\n")[0],
        "where": "the harness" if where is None else f"{_short(where.filename)}:{where.lineno} {where.name}",
        "file": None if where is None else _short(where.filename),
        "line": None if where is None else where.lineno,
    }


def _short(filename: str) -> str:
    """A file of vLLM relative to its package, another as it is."""
    before, found, inside = filename.rpartition("/vllm/")
    return inside if found and "/interlock" in before else filename
