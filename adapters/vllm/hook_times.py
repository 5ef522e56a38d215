"""Times each hook of a connector under a real scheduler, on requests that prefill, decode, end, and come again.

One run: ``requests`` prompts of about ``prompt`` tokens arrive and are prefilled; all decode together for
``decode_steps`` steps; all end; then vLLM's own prefix cache is emptied and the same prompts come again, so
that lookups hit the connector's tier; at last they come a third time, and each is looked up twice before any step,
as where a request waits for blocks. Prompt lengths differ, so that equally many requests fill a block in each
step. A worker is played that ends each transfer one step after it is ordered. Only the hooks are timed, in
processor time of the scheduler's thread: they wait for nothing, and on a busy machine a longer hook would otherwise
be charged with whoever ran meanwhile.
"""

from __future__ import annotations

import gc
import os
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from interlock.adapters.vllm.construct import ConstructError, Constructor
from interlock.adapters.vllm.harness import sampled
from interlock.adapters.vllm.observers import Job, find_observer
from interlock.adapters.vllm.reports import model_output, told

HOOKS = (
    "on_new_request",
    "get_num_new_matched_tokens",
    "update_state_after_alloc",
    "build_connector_meta",
    "update_connector_output",
    "request_finished",
    "request_finished_all_groups",
)
STEPS_MAX = 100_000
"""Steps after which a phase that does not end is given up."""


@dataclass(frozen=True)
class Workload:
    """How many requests, and how long.

    Args:
        only_decode: a run ends after decoding.
    """

    requests: int = 128
    prompt: int = 4096
    decode_steps: int = 64
    only_decode: bool = False

    def blocks(self, block_size: int) -> int:
        """GPU blocks that all requests fill together, and tier chunks that all are stored in."""
        longest = self.prompt + block_size + self.decode_steps + 2
        return self.requests * -(-longest // block_size)


@dataclass(frozen=True)
class Call:
    """One call of a hook: in which step, and how much processor time."""

    step: int
    seconds: float


class _Timers:
    """Wraps the hooks of one connector; what one phase has called is read and emptied by :meth:`take`."""

    def __init__(self, connector: Any) -> None:
        self.step = 0
        self.calls: dict[str, list[Call]] = defaultdict(list)
        for hook in HOOKS:
            original = getattr(connector, hook, None)
            if original is not None:
                setattr(connector, hook, self._timed(hook, original))

    def _timed(self, hook: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            started = time.thread_time()
            try:
                return original(*args, **kwargs)
            finally:
                self.calls[hook].append(Call(self.step, time.thread_time() - started))

        return timed

    def take(self) -> dict[str, dict[str, float]]:
        """By hook: calls, median seconds of a call, and median seconds of a step in which it was called."""
        taken, self.calls = self.calls, defaultdict(list)
        return {hook: _summary(calls) for hook, calls in taken.items()}


def _summary(calls: list[Call]) -> dict[str, float]:
    steps: dict[int, float] = defaultdict(float)
    for call in calls:
        steps[call.step] += call.seconds
    return {
        "calls": len(calls),
        "per_call": median(c.seconds for c in calls),
        "per_step": median(steps.values()),
        "total": sum(c.seconds for c in calls),
    }


class _Run:
    """One scheduler from empty to empty."""

    def __init__(self, constructor: Constructor, workload: Workload) -> None:
        self.constructor, self.workload = constructor, workload
        self._resident = resident_mib()
        self.scheduler = constructor.scheduler()
        self.observer = find_observer(self.scheduler.connector)
        self.timers = _Timers(self.scheduler.connector)
        self.schedules: list[float] = []
        self._due: list[Job] = []
        self.stored = self.loaded = 0
        self._stored_before = 0

    def measure(self) -> dict[str, Any]:
        """All phases, each with its hooks."""
        phases: dict[str, Any] = {}
        self._arrive("first")
        self._until(self._all_decode)
        phases["prefill"] = self._phase()
        for _ in range(self.workload.decode_steps):
            self._step()
        phases["decode"] = self._phase()
        grown = resident_mib() - self._resident
        if self.workload.only_decode:
            return {"phases": phases, "blocks_stored": self.stored, "blocks_loaded": 0, "grown_mib": grown}
        self._abort_all()
        self._until(self._idle)
        phases["end"] = self._phase()
        stored = self.stored
        if not self.scheduler.reset_prefix_cache():
            raise ConstructError("vLLM does not empty its prefix cache: some request holds blocks")
        self._arrive("again")
        self._until(self._all_decode)
        phases["again"] = self._phase()
        self._abort_all()
        self._until(self._idle)
        self._arrive("asked")
        self._look_up()
        self.timers.take()
        self._look_up()
        phases["asked again"] = self._phase()
        self._abort_all()
        self._until(self._idle)
        return {
            "phases": phases,
            "blocks_stored": stored,
            "blocks_loaded": self.loaded,
            "grown_mib": grown,
        }

    # -- the engine's part -----------------------------------------------------------------------

    def _arrive(self, name: str) -> None:
        size = self.constructor.sizes.block_size
        for number in range(self.workload.requests):
            length = self.workload.prompt + number % size
            # Prompts differ from their first block on, and are the same both times.
            prompt = [(number * 7919 + place) % 32000 for place in range(length)]
            limit = self.constructor.sizes.max_model_len - length
            self.scheduler.add_request(self.constructor.request(f"{name}-{number}", prompt, limit))

    def _look_up(self) -> None:
        """Asks the connector about each request that waits."""
        for request in self.scheduler.requests.values():
            self.scheduler.connector.get_num_new_matched_tokens(request, 0)

    def _step(self) -> None:
        self.timers.step += 1
        started = time.thread_time()
        output = self.scheduler.schedule()
        self.schedules.append(time.thread_time() - started)
        done, self._due = self._due, []
        decoded = self.observer.decode(output.kv_connector_metadata)
        for job in decoded.jobs:
            self._due.append(job)
            if job.kind == "store":
                self.stored += len(job.pairs)
            else:
                self.loaded += len(job.pairs)
        report = self.observer.report(done, output.finished_req_ids)
        tokens = sampled(self.scheduler, output.num_scheduled_tokens, 1)
        self.scheduler.update_from_output(output, model_output(tokens, kv_connector_output=told(report)))

    def _abort_all(self) -> None:
        from vllm.v1.request import RequestStatus

        self.timers.step += 1
        self.scheduler.finish_requests(list(self.scheduler.requests), RequestStatus.FINISHED_ABORTED)

    # -- phases ----------------------------------------------------------------------------------

    def _until(self, over: Callable[[], bool]) -> None:
        for _ in range(STEPS_MAX):
            if over():
                return
            self._step()
        raise ConstructError(f"the scheduler is not done after {STEPS_MAX:,} steps")

    def _all_decode(self) -> bool:
        running = self.scheduler.running
        return len(running) == self.workload.requests and all(r.num_output_tokens for r in running)

    def _idle(self) -> bool:
        return not self.scheduler.requests and not self._due and not self.scheduler.finished_req_ids

    def _phase(self) -> dict[str, Any]:
        schedules, self.schedules = self.schedules, []
        stored, self._stored_before = self.stored - self._stored_before, self.stored
        gc.collect()
        return {
            "hooks": self.timers.take(),
            "steps": len(schedules),
            "blocks_stored": stored,
            "schedule_per_step": median(schedules) if schedules else 0.0,
        }


def resident_mib() -> float:
    """Memory of this process that is resident, after a collection; Linux."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(constructor: Constructor, workload: Workload) -> dict[str, Any]:
    """One run on a fresh scheduler; seconds of processor time throughout."""
    return _Run(constructor, workload).measure()
