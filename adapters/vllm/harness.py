"""Plays workers and driver for one real scheduler.

One `step()` is what the engine core does (v1/engine/core.py:657-687): schedule, execute, update. With
asynchronous scheduling a step is updated when the next one has been scheduled and executed.
Transfer jobs stay open until `complete()` names them, on each worker; their bytes move (`copy`) at a moment of the
driver's choice between the submission and the completion, at the latest with the completion, and
before the step's forward where the metadata orders a flush. Or they `fail()`: what was to be written
holds garbage, and the report says so, of a load also by the blocks (`invalid_block_ids`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from interlock.adapters.vllm.aborts import abort
from interlock.adapters.vllm.answers import out_of_range
from interlock.adapters.vllm.construct import Constructor
from interlock.adapters.vllm.ghost import Content, Fault, Ghost, Prefix
from interlock.adapters.vllm.observers import Job, Report, find_observer, read
from interlock.adapters.vllm.observers.ours import InterlockObserver
from interlock.adapters.vllm.open_jobs import OpenJobs
from interlock.adapters.vllm.recorder import Record, Recorder
from interlock.adapters.vllm.reports import Together, model_output, told

VOCABULARY = 32768

NOT_STORABLE = "nothing that may be stored"
"""Expected of a store whose source is no full block of a request (I-31), or the null block (I-32): no content is it."""


class DriveError(Exception):
    """The driver asked for something that cannot be; the message says what."""


@dataclass(frozen=True)
class _Ran:
    """A step that the worker has run, and whose output is to be processed."""

    output: Any
    made: Any
    report: Report


class Harness:
    """One scheduler with one connector, from empty."""

    def __init__(self, constructor: Constructor, record: Callable[..., None], observer: str | None = None) -> None:
        self.constructor = constructor
        self.block_size = constructor.sizes.block_size
        self.scheduler = constructor.scheduler()
        self.events = 0
        self._record: Record = record
        workers = constructor.sizes.workers
        connector = self.scheduler.connector
        self.observers = [find_observer(connector, observer) for _ in range(workers)]
        self._together = Together(connector, workers) if workers > 1 else None
        self.recorder = Recorder(
            self.scheduler,
            self.observers[0],
            self.block_size,
            self._count,
            workers=workers,
            ahead=constructor.sizes.depth > 1,
            answered=self._judge_answer,
        )
        self.ghosts = [Ghost() for _ in range(workers)]
        self.prefixes: dict[str, Prefix] = {}
        self.jobs = OpenJobs(self.ghosts, self._fault)
        self.faults: list[Fault] = []
        self._ran: deque[_Ran] = deque()
        """The oldest first; as many as are scheduled ahead of their outputs."""
        self._resets = 0

    @property
    def steps(self) -> int:
        """How often schedule() was called."""
        return self.recorder.step

    @property
    def unfinished(self) -> list[str]:
        """Requests that the scheduler still knows, those whose free is delayed included."""
        return sorted(self.scheduler.requests)

    # -- the driver's moves ----------------------------------------------------------------------

    def add(self, request: str, prompt: list[int], max_tokens: int) -> None:
        """A new request; ids are never used again."""
        if request in self.prefixes:
            raise DriveError(f"request {request!r} was added before; use a new id")
        if not prompt or max_tokens < 1:
            raise DriveError(f"request {request!r} needs a prompt and max_tokens >= 1")
        limit = self.constructor.sizes.max_model_len
        if len(prompt) + max_tokens > limit:
            raise DriveError(f"request {request!r} is longer than max_model_len={limit}")
        self.prefixes[request] = Prefix(prompt, self.block_size, VOCABULARY)
        self.prefixes[request].computed_with(self._weights)
        self.recorder.add_request(request)
        self.scheduler.add_request(self.constructor.request(request, prompt, max_tokens))

    def abort(self, request: str) -> bool:
        """Abort between two steps; False where the request is not there any more."""
        return abort(self.scheduler, request)

    def complete(self, nth: int, worker: int | None = None) -> bool:
        """The nth oldest open job completes with the next step, on one worker or all; False where there is none."""
        return self.jobs.complete(nth, worker)

    def fail(self, nth: int, worker: int | None = None) -> bool:
        """The copy of the nth oldest job whose bytes are still to move fails, which the next step's report says.

        False where there is none, or the connector knows no failures.
        """
        return callable(getattr(self.recorder.observer, "fail", None)) and self.jobs.fail(nth, worker)

    def copy(self, nth: int, worker: int | None = None) -> bool:
        """The bytes of the nth oldest job that are still to move, move now."""
        return self.jobs.copy(nth, worker)

    def reset(self, running: bool) -> bool:
        """reset_prefix_cache with its connector; if it says that it has, the weights are others from now on.

        Steps that were scheduled ahead are processed first, as vLLM refuses while it has parked blocks for one.

        Args:
            running: running requests are preempted for it. False, and nothing is done, where others hold blocks
                (requests, or references of a connector), because vLLM fails then, and in releases that tell no
                connector of such a preemption.

        Nor is anything done where the connector has no reset of its own, or another connector than ours has references.
        """
        from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorBase_V1

        scheduler = self.scheduler
        if type(scheduler.connector).reset_cache is KVConnectorBase_V1.reset_cache:
            return False
        if running and not hasattr(scheduler, "reset_preempted_req_ids"):
            return False
        while self._ran:
            self._process(self._ran.popleft())
        manager = scheduler.kv_cache_manager
        blocks = [b for b in manager.block_pool.blocks if not b.is_null]

        def held_by_others(requests: Iterable[Any]) -> bool:
            held = Counter(b for r in requests for b in manager.get_block_ids(r.request_id)[0])
            return any(b.ref_cnt != held[b.block_id] for b in blocks)

        if running and held_by_others(scheduler.running):
            return False
        # When a connector takes its references is its own affair, but for ours, and they decide what the reset forgets.
        if not isinstance(self.recorder.observer, InterlockObserver) and held_by_others(scheduler.requests.values()):
            return False
        self.jobs.promise_nothing()
        if scheduler.reset_prefix_cache(reset_running_requests=running, reset_connector=True):
            self._resets += 1
            for prefix in self.prefixes.values():
                prefix.computed_with(self._weights)
        return True

    @property
    def _weights(self) -> str:
        return f"weights {self._resets}" if self._resets else ""

    def step(self, *, flushes_end: bool = False) -> None:
        """schedule, the worker's step, and update_from_output of the oldest, once as many are ahead as may be.

        Args:
            flushes_end: what the step flushes is reported with it.
        """
        output = self.scheduler.schedule()
        decoded = self.recorder.decoded
        for observer in self.observers[1:]:
            read(observer, output.kv_connector_metadata, output)
        for job in decoded.jobs:
            self.jobs.add(job, self._expected(job))
        self.jobs.flush(decoded.flushed, ends=flushes_end)
        tokens = self._forward(output)
        report = self._report(output.finished_req_ids)
        self._ran.append(_Ran(output, model_output(tokens, kv_connector_output=told(report)), report))
        if len(self._ran) == self.constructor.sizes.depth:
            self._process(self._ran.popleft())

    def goes_on(self, *, slowly: bool) -> bool:
        """What the engine core does if it has a reason to (v1/engine/core.py, ``has_work``); False if it has none.

        Args:
            slowly: only those copies have ended that the step flushes; otherwise all have.
        """
        if self.scheduler.has_requests():
            while not slowly and self.complete(0):
                pass
            self.step(flushes_end=True)
        elif self._ran:
            self._process(self._ran.popleft())
        else:
            return False
        return True

    def _process(self, ran: _Ran) -> None:
        self.recorder.update_from_output(ran.report)
        self.scheduler.update_from_output(ran.output, ran.made)

    # -- the worker ------------------------------------------------------------------------------

    def _forward(self, output: Any) -> dict[str, list[int]]:
        """Writes the contents of the scheduled tokens, checks all contents that are read."""
        spans = {}
        for rid, count in output.num_scheduled_tokens.items():
            # schedule() has advanced it already (Scheduler._update_after_schedule).
            end = self.scheduler.requests[rid].num_computed_tokens
            spans[rid] = (end - count, end)
        for rid, (start, _) in spans.items():
            if start % self.block_size:
                self._read_begun(rid, start // self.block_size, start)
        for rid, (start, end) in spans.items():
            self._write(rid, start, end)
        for rid, (start, _) in spans.items():
            for index in range(start // self.block_size):
                self._read(rid, index, start)
        return {rid: self._sample(rid, end) for rid, (_, end) in spans.items()}

    def _write(self, rid: str, start: int, end: int) -> None:
        table, prefix = self.recorder.tables[rid], self.prefixes[rid]
        for index in range(start // self.block_size, -(-end // self.block_size)):
            for ghost in self.ghosts:
                ghost.blocks[table[index][0]] = prefix.content(index, end)

    def _read(self, rid: str, index: int, end: int) -> None:
        block = self.recorder.tables[rid][index][0]
        expected = self.prefixes[rid].content(index, end)
        for ghost in self.ghosts:
            if (found := ghost.blocks.get(block)) != expected:
                self._fault("read", expected, found, block=block, request=rid)

    def _read_begun(self, rid: str, index: int, start: int) -> None:
        """The block that the request is in the middle of holds at least its tokens so far.

        It may hold more: of a prompt that a load covered whole, the last token is computed again.
        """
        block, prefix = self.recorder.tables[rid][index][0], self.prefixes[rid]
        last = min((index + 1) * self.block_size, len(prefix.tokens))
        may_hold = {prefix.content(index, end) for end in range(start, last + 1)}
        for ghost in self.ghosts:
            if (found := ghost.blocks.get(block)) not in may_hold:
                self._fault("read", prefix.content(index, start), found, block=block, request=rid)

    def _sample(self, rid: str, end: int) -> list[int]:
        prefix = self.prefixes[rid]
        if end < self.scheduler.requests[rid].num_tokens:
            return []  # a chunk of a prefill
        if end == len(prefix.tokens):  # otherwise it was sampled before, in a step whose output was dropped
            prefix.tokens.append(prefix.next_token())
        return [prefix.tokens[end]]

    # -- transfer jobs ---------------------------------------------------------------------------

    def _expected(self, job: Job) -> tuple[Content, ...]:
        if job.kind == "load":
            return (None,) * len(job.pairs)  # whoever reads the block checks it
        contents = []
        for block, _ in job.pairs:
            owner = self.recorder.owner.get((block, self.recorder.allocation_of(job, block)))
            contents.append(NOT_STORABLE if owner is None else self._full_content(*owner))
        return tuple(contents)

    def _full_content(self, rid: str, index: int) -> Content:
        """What a block holds once it is full; only full blocks may be stored (I-31)."""
        prefix = self.prefixes[rid]
        end = (index + 1) * self.block_size
        return prefix.content(index, end) if end <= len(prefix.tokens) else NOT_STORABLE

    def _report(self, finished_requests: set[str]) -> Report:
        reports = []
        for worker, observer in enumerate(self.observers):
            done, failed = self.jobs.end(worker)
            if failed:
                observer.fail(failed)  # type: ignore[attr-defined]  # else none can fail
            reports.append(observer.report(done, finished_requests))
        return reports[0] if self._together is None else self._together(reports)

    def _judge_answer(self, request: Any, local: int, count: int | None, loads: bool) -> None:
        if wrong := out_of_range(request.num_tokens, local, count, loads):
            self._fault("answer", *wrong, request=request.request_id)

    # -- faults and events -----------------------------------------------------------------------

    def _fault(self, kind: str, expected: Content, found: Content, **where: Any) -> None:
        self.faults.append(Fault(kind, self.events, self.recorder.step, expected=expected, found=found, **where))

    def _count(self, event: str, **args: Any) -> None:
        self.events += 1
        self._record(event, **args)


def sampled(scheduler: Any, names: Iterable[str], token: int) -> dict[str, list[int]]:
    """A token for each request of a step that has computed all that it knows, by request as scheduled."""
    requests = scheduler.requests
    return {n: [token] * (requests[n].num_computed_tokens >= requests[n].num_tokens) for n in names}
