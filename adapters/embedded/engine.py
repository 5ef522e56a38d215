"""The engine: schedule, metadata, workers, outputs; in virtual time, deterministic.

Pipeline depth 1. What it records is what an observer at the connector's boundary sees, in the order in
which the specification accepts it; it takes nothing from the connector but its answers and metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from interlock.adapters.embedded.events import Record, Recorder
from interlock.adapters.embedded.ghost import Fault, Ghost
from interlock.adapters.embedded.pool import BlockPool
from interlock.adapters.embedded.request import Request, Status
from interlock.adapters.embedded.schedule import Scheduler
from interlock.adapters.embedded.sizes import Sizes, Timing
from interlock.adapters.embedded.worker import PendingCopy, Worker
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.port import (
    ConnectorMetadata,
    ConnectorOutput,
    ConnectorPort,
    ScheduledRequest,
    ScheduledStep,
    TransferJob,
)

Chooser = Callable[[int, Sequence[int]], Iterable[int]]
"""``chooser(rank, jobs)``: those of a worker's jobs not yet copied whose bytes move after this forward."""


class EngineError(Exception):
    """A connector answered something that no engine can act on."""


class EmbeddedEngine:
    """An engine for one connector.

    Args:
        record: called for each observed event.
        chooser: when bytes move, between the forward that follows submission and the report. Without
            it: when a scenario says so, with the report otherwise.
        switches: for the workers' table; the scheduler's are the connector's own affair.
        oracle: whether every read is compared with what the prefix calls for.
    """

    def __init__(
        self,
        connector: ConnectorPort,
        sizes: Sizes,
        record: Record,
        *,
        chooser: Chooser | None = None,
        timing: Timing | None = None,
        switches: Mapping[str, str] | None = None,
        oracle: bool = True,
    ) -> None:
        self.connector = connector
        self.sizes = sizes
        self.faults: list[Fault] = []
        self.now_s = 0.0
        self.requests: dict[str, Request] = {}
        self.pool = BlockPool(sizes.num_blocks)
        self._record = Recorder(record)
        self._chooser = chooser
        self._timing = timing or Timing()
        self._oracle = oracle
        self._scheduler = Scheduler(sizes, self.pool, connector, self._record)
        values = SPECIFICATION.switch_values() if switches is None else dict(switches)
        self.workers = [
            Worker(rank, Ghost(rank, self.faults, self._where), values) for rank in range(sizes.num_workers)
        ]
        self._finished: dict[str, tuple[Request, list[tuple[int, int]]]] = {}
        self._open: dict[int, TransferJob] = {}
        self._reports: list[tuple[int, bool]] = []
        self._unreported: dict[int, int] = {}
        self._expected: dict[int, str] = {}
        self._loads: dict[str, set[int]] = {}
        self._busy_until_s: dict[tuple[int, bool], float] = {}
        connector.bind_gpu_block_pool(self.pool)

    # -- requests ------------------------------------------------------------------------------------

    @property
    def step_number(self) -> int:
        """How many schedules there were."""
        return self._record.step

    def add(self, request_id: str, prompt: Sequence[int], max_tokens: int = 1) -> bool:
        """A request arrives; false if it could never fit, or its id is in use."""
        if request_id in self.requests or request_id in self._finished:
            return False
        request = Request(request_id, prompt, max_tokens, self.sizes.block_size)
        if request.num_blocks_at_end > self.sizes.num_blocks:
            return False
        self.requests[request_id] = request
        self._record("add_request", request=request_id)
        self.connector.on_new_request(request)
        self._scheduler.waiting.append(request)
        return True

    def abort(self, request_id: str) -> bool:
        """A request ends now; if it is being loaded, its blocks stay until the loads have ended."""
        request = self.requests.get(request_id)
        if request is None or request.status is Status.HELD:
            return False
        self._finish(request)
        return True

    def has_work(self) -> bool:
        """Whether stepping on changes anything."""
        return bool(self.requests or self._finished) or self.connector.has_pending_work()

    # -- a step --------------------------------------------------------------------------------------

    def step(self) -> None:
        """Schedule, execute, process the outputs."""
        self._record.step += 1
        scheduled = self._scheduler.schedule()
        metadata = self.connector.build_connector_meta(ScheduledStep.of(scheduled))
        self._record_metadata(metadata)
        self._execute(scheduled, metadata)
        tokens = sum(s.num_scheduled_tokens for s in scheduled)
        self.now_s += self._timing.step_duration_s(tokens)
        self._end_copies_that_are_due()
        self._update_from_output(scheduled)

    def _record_metadata(self, metadata: ConnectorMetadata) -> None:
        planned = {j.job for j in metadata.store_jobs}
        flushed = set(metadata.jobs_to_flush)
        for job in metadata.load_jobs:
            self._submit(job, is_store=False)
        for flushed_job in metadata.jobs_to_flush:
            if flushed_job not in planned:
                self._record("order_flush", job=flushed_job)
        for job in metadata.store_jobs:
            self._submit(job, is_store=True)
            if job.job in flushed:
                self._record("order_flush", job=job.job)
        self._record("build_connector_meta")
        self._finished.clear()

    def _submit(self, job: TransferJob, *, is_store: bool) -> None:
        request, place, allocation = self._source(job)
        kept = job.request in self._finished
        self._record(
            "plan_store" if is_store else "plan_load",
            request=job.request,
            block=job.block,
            hash_=request.block_hashes[place] if kept else None,
            chunk=job.chunk,
            job=job.job,
            allocation=allocation,
        )
        self._open[job.job] = job
        self._unreported[job.job] = self.sizes.num_workers
        if is_store:
            end = (place + 1) * request.block_size
            self._expected[job.job] = request.contents.of(place, end)
        else:
            self._loads.setdefault(job.request, set()).add(job.job)

    def _source(self, job: TransferJob) -> tuple[Request, int, int | None]:
        """The request that a job names, where its block is in the table, and in which allocation."""
        if job.request in self._finished:
            request, table = self._finished[job.request]
            for place, (block, allocation) in enumerate(table):
                if block == job.block:
                    return request, place, allocation
        elif job.request in self.requests:
            request = self.requests[job.request]
            if job.block in request.table:
                return request, request.table.index(job.block), None
        raise EngineError(f"job {job.job}: request {job.request} does not have block {job.block}")

    def _execute(self, scheduled: Sequence[ScheduledRequest], metadata: ConnectorMetadata) -> None:
        for worker in self.workers:
            arrivals = [
                PendingCopy(job, is_store, self._expected.get(job.job), self._due_s(worker.rank, is_store))
                for is_store, jobs in ((True, metadata.store_jobs), (False, metadata.load_jobs))
                for job in jobs
            ]
            for job, done in worker.run_step(metadata, arrivals, lambda ghost: self._forward(ghost, scheduled)):
                self._note(job, done)
            if self._chooser is not None:
                waiting = [j for j in worker.copies if worker.state(j) in ("store_queued", "load_queued")]
                for chosen in list(self._chooser(worker.rank, waiting)):
                    worker.copy(chosen)

    def _forward(self, ghost: Ghost, scheduled: Sequence[ScheduledRequest]) -> None:
        """Blocks in the middle of being filled are read before, full ones after all have written."""
        for s in scheduled:
            request = self.requests[s.request_id]
            start, size = s.num_computed_tokens, request.block_size
            end = start + s.num_scheduled_tokens
            if self._oracle and start % size:
                place = start // size
                ghost.read(s.request_id, request.table[place], request.contents.of(place, start))
            for place in range(start // size, -(-end // size)):
                ghost.compute(request.table[place], request.contents.of(place, end))
        for s in scheduled if self._oracle else ():
            request = self.requests[s.request_id]
            for place in range((s.num_computed_tokens + s.num_scheduled_tokens) // request.block_size):
                end = (place + 1) * request.block_size
                ghost.read(s.request_id, request.table[place], request.contents.of(place, end))

    # -- copies and reports --------------------------------------------------------------------------

    @property
    def open_jobs(self) -> tuple[int, ...]:
        """Jobs on which some worker has not reported, oldest first."""
        return tuple(j for j, left in self._unreported.items() if left)

    def copy(self, job: int, worker: int | None = None) -> bool:
        """The bytes of a job move now, on one worker or on all; false if they have moved."""
        moved = [w.copy(job) for w in self._at(job, worker)]
        return any(moved)

    def complete(self, job: int, worker: int | None = None) -> bool:
        """The copy ends, and the report on it comes with the next step's outputs."""
        at = self._at(job, worker)
        for w in at:
            self._report(w, job)
        return bool(at)

    def fail(self, job: int, worker: int = 0) -> bool:
        """The copy of a store fails on one worker and ends on the others; false if it is too late."""
        at = self._at(job, worker)
        if not at or not at[0].fail(job):
            return False
        return self.complete(job)

    def _at(self, job: int, worker: int | None) -> list[Worker]:
        chosen = self.workers if worker is None else self.workers[worker : worker + 1]
        return [w for w in chosen if job in w.copies]

    def _report(self, worker: Worker, job: int) -> None:
        worker.copy(job)
        self._note(job, worker.report(job))

    def _note(self, job: int, done: bool) -> None:
        """A worker's report, which comes with the outputs of this step or the next."""
        self._reports.append((job, done))
        self._unreported[job] -= 1

    def _due_s(self, rank: int, is_store: bool) -> float | None:
        """Copies of one direction follow each other."""
        if self._timing.copy_s is None:
            return None
        free_s = max(self.now_s, self._busy_until_s.get((rank, is_store), 0.0))
        due_s = self._busy_until_s[rank, is_store] = free_s + self._timing.copy_s
        return due_s

    def _end_copies_that_are_due(self) -> None:
        for worker in self.workers:
            for job, copy in list(worker.copies.items()):
                if copy.due_s is not None and copy.due_s <= self.now_s:
                    self._report(worker, job)

    # -- outputs -------------------------------------------------------------------------------------

    def _update_from_output(self, scheduled: Sequence[ScheduledRequest]) -> None:
        self._record("update_from_output")
        for s in scheduled:
            request = self.requests[s.request_id]
            request.num_computed_tokens += s.num_scheduled_tokens
            if request.num_computed_tokens == request.num_tokens:
                request.tokens.append(request.contents.next_token())
                if request.is_done:
                    self._finish(request)
        output = self._collect()
        for event, counts in (("acknowledge", output.completed), ("acknowledge_failure", output.failed)):
            for job, count in counts.items():
                for _ in range(count):
                    self._record(event, job=job)
        for request_id in output.finished_recving:
            self._record("loaded", request=request_id)
        self.connector.update_connector_output(output)
        for request_id in output.finished_recving:
            request = self.requests[request_id]
            if request.status is Status.HELD:
                self._let_go(request)
            else:
                request.status = Status.LOADED

    def _collect(self) -> ConnectorOutput:
        completed: dict[int, int] = {}
        failed: dict[int, int] = {}
        for job, done in self._reports:
            counts = completed if done else failed
            counts[job] = counts.get(job, 0) + 1
        self._reports.clear()
        for job in [j for j, left in self._unreported.items() if not left]:
            del self._unreported[job]
            ended = self._open.pop(job)
            self._expected.pop(job, None)
            self._loads.get(ended.request, set()).discard(job)
        received = tuple(r for r, jobs in self._loads.items() if not jobs)
        for request_id in received:
            del self._loads[request_id]
        return ConnectorOutput(completed, failed, received)

    def _finish(self, request: Request) -> None:
        self._record("finish", request=request.request_id)
        if self.connector.request_finished(request, request.table):
            raise EngineError(f"request {request.request_id}: delayed frees of blocks are not modelled")
        if request.status is Status.LOADING:
            request.status = Status.HELD
        else:
            self._let_go(request)

    def _let_go(self, request: Request) -> None:
        """Its blocks go back, the end of the prefix first; until the next metadata it is still spoken of."""
        del self.requests[request.request_id]
        queue = self._scheduler.running if request.status is Status.RUNNING else self._scheduler.waiting
        queue.remove(request)
        request.status = Status.FINISHED
        held = [(block, self._record.allocation(block)) for block in request.table]
        self._finished[request.request_id] = (request, held)
        self.pool.free_blocks(request.table[::-1])

    def _where(self) -> tuple[int, int]:
        return self._record.count, self._record.step
