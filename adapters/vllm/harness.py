"""Plays worker and driver for one real scheduler: one worker, synchronous scheduling.

One `step()` is what the engine core does (v1/engine/core.py:657-687): schedule, execute, update.
Transfer jobs stay open until `complete()` names them; their bytes move (`copy`) at a moment of the
driver's choice between the submission and the completion, at the latest with the completion, and
before the step's forward where the metadata orders a flush.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.adapters.vllm.aborts import abort
from interlock.adapters.vllm.construct import Constructor
from interlock.adapters.vllm.ghost import Content, Fault, Ghost, Prefix
from interlock.adapters.vllm.observers import Job, Report, find_observer
from interlock.adapters.vllm.recorder import Record, Recorder

VOCABULARY = 32768

NOT_STORABLE = "nothing that may be stored"
"""Expected of a store whose source is no full block of a request (I-31), or the null block (I-32): no content is it."""


class DriveError(Exception):
    """The driver asked for something that cannot be; the message says what."""


@dataclass
class OpenJob:
    """A job whose completion has not been reported yet."""

    job: Job
    expected: tuple[Content, ...]  # of a store, what its chunks should hold afterwards
    copied: bool = False
    completing: bool = False
    checked: bool = False


class Harness:
    """One scheduler with one connector, from empty."""

    def __init__(self, constructor: Constructor, record: Callable[..., None], observer: str | None = None) -> None:
        self.constructor = constructor
        self.block_size = constructor.sizes.block_size
        self.scheduler = constructor.scheduler()
        self.events = 0
        self._record: Record = record
        self.recorder = Recorder(
            self.scheduler,
            find_observer(self.scheduler.connector, observer),
            self.block_size,
            self._count,
        )
        self.ghost = Ghost()
        self.prefixes: dict[str, Prefix] = {}
        self.jobs: list[OpenJob] = []  # oldest first
        self.faults: list[Fault] = []
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

    def complete(self, nth: int) -> bool:
        """The nth oldest open job completes with the next step; False where there is none."""
        waiting = [job for job in self.jobs if not job.completing]
        if not 0 <= nth < len(waiting):
            return False
        waiting[nth].completing = True
        return True

    def copy(self, nth: int) -> bool:
        """The bytes of the nth oldest job that are still to move, move now."""
        waiting = [job for job in self.jobs if not job.copied]
        if not 0 <= nth < len(waiting):
            return False
        self._copy(waiting[nth])
        return True

    def reset(self, running: bool) -> bool:
        """reset_prefix_cache with its connector; if it says that it has, the weights are others from now on.

        Args:
            running: running requests are preempted for it. False, and nothing is done, where others hold blocks
                (requests, or references of a connector), because vLLM fails then, and in releases that tell no
                connector of such a preemption.
        """
        scheduler = self.scheduler
        if running and not hasattr(scheduler, "reset_preempted_req_ids"):
            return False
        manager = scheduler.kv_cache_manager
        held = Counter(b for r in scheduler.running for b in manager.get_block_ids(r.request_id)[0])
        others = (b for b in manager.block_pool.blocks if not b.is_null and b.ref_cnt != held[b.block_id])
        if running and any(others):
            return False
        for open_job in self.jobs:
            open_job.checked = True  # nobody is promised what it leaves
        if scheduler.reset_prefix_cache(reset_running_requests=running, reset_connector=True):
            self._resets += 1
            for prefix in self.prefixes.values():
                prefix.computed_with(self._weights)
        return True

    @property
    def _weights(self) -> str:
        return f"weights {self._resets}" if self._resets else ""

    def step(self) -> None:
        """schedule, the worker's step, update_from_output."""
        output = self.scheduler.schedule()
        decoded = self.recorder.decoded
        self.jobs += [OpenJob(job, self._expected(job)) for job in decoded.jobs]
        for open_job in self.jobs:
            if open_job.job.id in decoded.flushed:  # handle_preemptions: a barrier
                self._copy(open_job)
                self._check_store(open_job)
        tokens = self._forward(output)
        report = self._finish_jobs(output.finished_req_ids)
        self.recorder.update_from_output(report)
        self.scheduler.update_from_output(output, model_output(tokens, kv_connector_output=told(report)))

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
            self.ghost.blocks[table[index][0]] = prefix.content(index, end)

    def _read(self, rid: str, index: int, end: int) -> None:
        block = self.recorder.tables[rid][index][0]
        expected = self.prefixes[rid].content(index, end)
        found = self.ghost.blocks.get(block)
        if found != expected:
            self._fault("read", expected, found, block=block, request=rid)

    def _read_begun(self, rid: str, index: int, start: int) -> None:
        """The block that the request is in the middle of holds at least its tokens so far.

        It may hold more: of a prompt that a load covered whole, the last token is computed again.
        """
        block, prefix = self.recorder.tables[rid][index][0], self.prefixes[rid]
        found = self.ghost.blocks.get(block)
        last = min((index + 1) * self.block_size, len(prefix.tokens))
        if found not in {prefix.content(index, end) for end in range(start, last + 1)}:
            self._fault("read", prefix.content(index, start), found, block=block, request=rid)

    def _sample(self, rid: str, end: int) -> list[int]:
        prefix = self.prefixes[rid]
        if end < len(prefix.tokens):
            return []  # a chunk of a prefill
        token = prefix.next_token()
        prefix.tokens.append(token)
        return [token]

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

    def _copy(self, open_job: OpenJob) -> None:
        if not open_job.copied:
            open_job.copied = True
            self.ghost.copy(open_job.job.kind, open_job.job.pairs)

    def _finish_jobs(self, finished_requests: set[str]) -> Report:
        done = [job for job in self.jobs if job.completing]
        for open_job in done:
            self._copy(open_job)
            self.jobs.remove(open_job)
            self._check_store(open_job)
        return self.recorder.observer.report([j.job for j in done], finished_requests)

    def _check_store(self, open_job: OpenJob) -> None:
        """Once, at the first of flush and completion.

        Up to 0.20.2 OffloadingConnector counts a flushed store as completed in the very metadata
        (offloading/scheduler.py, build_connector_meta) and may use its chunk again from then on.
        """
        job = open_job.job
        if job.kind == "load" or open_job.checked:
            return
        open_job.checked = True
        for index, (block, chunk) in enumerate(job.pairs):
            found, expected = self.ghost.chunks.get(chunk), open_job.expected[index]
            if found != expected:
                model_job = job.model_job(index)
                self._fault("store", expected, found, block=block, chunk=chunk, job=model_job)

    # -- faults and events -----------------------------------------------------------------------

    def _fault(self, kind: str, expected: Content, found: Content, **where: Any) -> None:
        self.faults.append(Fault(kind, self.events, self.recorder.step, expected=expected, found=found, **where))

    def _count(self, event: str, **args: Any) -> None:
        self.events += 1
        self._record(event, **args)


def model_output(tokens: Mapping[str, list[int]], **reports: Any) -> Any:
    """What a worker returns of a step: the tokens that it sampled, by request as scheduled, and connectors' reports."""
    from vllm.v1.outputs import ModelRunnerOutput

    return ModelRunnerOutput(
        req_ids=list(tokens),
        req_id_to_index={rid: index for index, rid in enumerate(tokens)},
        sampled_token_ids=list(tokens.values()),
        **reports,
    )


def told(report: Report) -> Any:
    """A report as vLLM's KV connectors have it; ``None`` where there is nothing to say."""
    from vllm.v1.outputs import KVConnectorOutput

    if not report:
        return None
    return KVConnectorOutput(
        finished_sending=report.finished_sending or None,
        finished_recving=report.finished_recving or None,
        kv_connector_worker_meta=report.worker_meta,
    )


def sampled(scheduler: Any, names: Iterable[str], token: int) -> dict[str, list[int]]:
    """A token for each request of a step that has computed all that it knows, by request as scheduled."""
    requests = scheduler.requests
    return {n: [token] * (requests[n].num_computed_tokens >= requests[n].num_tokens) for n in names}
