"""The engine: schedule, metadata, workers, outputs; in virtual time, deterministic.

At pipeline depth 1 a step is scheduled, runs and is processed; at depth 2 the next one is scheduled
before it is processed. What the engine records is what an observer at the connector's boundary sees, in
the order in which the specification accepts it; it takes nothing from the connector but its answers and
metadata.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from interlock.adapters.embedded.counts import Counts
from interlock.adapters.embedded.encoding import EncoderSizes, Encoding, StepItems
from interlock.adapters.embedded.events import Record, Recorder
from interlock.adapters.embedded.failures import FailedLoads
from interlock.adapters.embedded.forward import Forward
from interlock.adapters.embedded.ghost import Fault, Ghost
from interlock.adapters.embedded.items import Feature, ItemTiming
from interlock.adapters.embedded.metadata import EngineError, MetadataReader
from interlock.adapters.embedded.parking import Parking
from interlock.adapters.embedded.pool import BlockPool
from interlock.adapters.embedded.request import Request, Status
from interlock.adapters.embedded.schedule import Schedule, Scheduler
from interlock.adapters.embedded.sizes import Scheduling, Sizes
from interlock.adapters.embedded.timing import Timing
from interlock.adapters.embedded.transfers import Transfers
from interlock.adapters.embedded.worker import PendingCopy, Worker
from interlock.adapters.vllm.answers import out_of_range
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.port import ConnectorMetadata, ConnectorPort, TransferJob
from interlock.statemachine.recovery import LoadRecovery

Chooser = Callable[[int, Sequence[int]], Iterable[int]]
"""``chooser(rank, jobs)``: those of a worker's jobs not yet copied whose bytes move after this forward."""


@dataclass(frozen=True, slots=True)
class Dispatched:
    """A step that is with the workers.

    Args:
        begin_s, end_s: of its forward, in virtual time.
        items: what it does with items, if there are any.
    """

    number: int
    made: Schedule
    metadata: ConnectorMetadata
    forward: Forward | None
    begin_s: float
    end_s: float
    items: StepItems | None = None


class EmbeddedEngine:
    """An engine for one connector.

    Args:
        record: called for each observed event; ``None``: nobody observes.
        chooser: when bytes move, between the forward that follows submission and the report. Without
            it: when a scenario says so, with the report otherwise.
        switches: for the workers' table; the scheduler's are the connector's own affair.
        oracle: whether every read is compared with what the prefix calls for, and every answer with what is possible.
        recovery: decides about requests whose loads fail; without it no load can.
        load_fails: whether the load of a job fails, where copies end by the clock.
        items: how big the encoder cache is, and what items take; without it there are none in prompts.
        dispatched: called for each step with when it runs; ended: for each request that has ended.
    """

    def __init__(
        self,
        connector: ConnectorPort,
        sizes: Sizes,
        record: Record | None,
        *,
        scheduling: Scheduling | None = None,
        chooser: Chooser | None = None,
        timing: Timing | None = None,
        switches: Mapping[str, str] | None = None,
        oracle: bool = True,
        recovery: LoadRecovery | None = None,
        load_fails: Callable[[TransferJob], bool] | None = None,
        items: tuple[EncoderSizes, ItemTiming] | None = None,
        dispatched: Callable[[Dispatched], object] = lambda step: None,
        ended: Callable[[Request], object] = lambda request: None,
    ) -> None:
        self.connector = connector
        self.sizes = sizes
        self.faults: list[Fault] = []
        self.now_s = 0.0
        self.requests: dict[str, Request] = {}
        self.pool = BlockPool(sizes.num_blocks)
        self.counts = Counts()
        self._record = Recorder(record)
        self._chooser = chooser
        self._timing = timing or Timing()
        self._oracle = oracle
        self._depth = (scheduling or Scheduling()).depth
        self._parking = Parking(self.pool)
        self._encoding = None
        if items is not None:
            if self._depth > 1 or recovery is not None:
                raise ValueError("items in prompts: at depth 1 and without loads that fail only")
            self._encoding = Encoding(*items, self.counts, sizes.num_blocks, lambda: self.now_s, self._wrong_item)
        self._scheduler = Scheduler(
            sizes,
            scheduling or Scheduling(),
            self.pool,
            self._parking,
            connector,
            self._record,
            self.counts,
            lambda: self.now_s,
            self._encoding,
            self._judge_answer if oracle else None,
        )
        values = SPECIFICATION.switch_values() if switches is None else dict(switches)
        self.workers = [
            Worker(rank, Ghost(rank, self.faults, self._where), values, moves_bytes=oracle)
            for rank in range(sizes.num_workers)
        ]
        self.transfers = Transfers(sizes.num_workers, self._timing, self.counts, load_fails if recovery else None)
        self._metadata = MetadataReader(self.requests, self.transfers, self._record, oracle=oracle)
        self._under_way: deque[Dispatched] = deque()
        self._free_at_s = 0.0
        self._failures: FailedLoads | None = None
        if recovery is not None:
            self._failures = FailedLoads(recovery, self.requests, self.counts)
        self._dispatched, self._ended = dispatched, ended
        connector.bind_gpu_block_pool(self.pool)

    # -- requests ------------------------------------------------------------------------------------

    @property
    def step_number(self) -> int:
        """How many schedules there were."""
        return self._record.step

    def add(
        self,
        request_id: str,
        prompt: Sequence[int],
        max_tokens: int = 1,
        *,
        mm_features: Sequence[Feature] = (),
        arrived_s: float | None = None,
    ) -> bool:
        """A request arrives, or has while a step ran; false if it could never fit, or its id is in use."""
        if request_id in self.requests or request_id in self._metadata.kept:
            return False
        if mm_features and self._encoding is None:
            raise EngineError(f"request {request_id} has items, and the engine has no encoder")
        request = Request(request_id, prompt, max_tokens, self.sizes.block_size, mm_features)
        if request.num_blocks_at_end > self.sizes.num_blocks:
            return False
        request.moments.append(("waiting", self.now_s if arrived_s is None else arrived_s))
        self.requests[request_id] = request
        self._record("add_request", request=request_id)
        self.connector.on_new_request(request)
        if self._encoding is not None:
            self._encoding.add(request)
        self._scheduler.add(request)
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
        return bool(self._under_way) or self._has_reason_to_schedule()

    def _has_reason_to_schedule(self) -> bool:
        return bool(self.requests or self._metadata.kept) or self.connector.has_pending_work()

    @property
    def is_computing(self) -> bool:
        """Whether a step that computes something is with the workers."""
        return any(step.made.requests for step in self._under_way)

    @property
    def next_s(self) -> float | None:
        """When the next copy ends, of blocks or of items."""
        ends = [self.transfers.next_s, self._encoding.next_s if self._encoding is not None else None]
        return min((s for s in ends if s is not None), default=None)

    def wait_until(self, time_s: float) -> None:
        """Let virtual time pass; what it passes for is counted if some request waits for its loads."""
        if time_s > self.now_s:
            if any(r.status is Status.LOADING for r in self._scheduler.loading.values()):
                self.counts.idle_s += time_s - self.now_s
            self.now_s = time_s

    # -- a step --------------------------------------------------------------------------------------

    def step(self) -> int:
        """Schedule a step, if there is reason to, and process the oldest once the pipeline is full.

        Returns:
            How many tokens the step that was scheduled computes.
        """
        tokens = 0
        if self._has_reason_to_schedule():
            made = self._dispatch()
            tokens = made.prefill_tokens + made.decode_tokens
            if len(self._under_way) < self._depth:
                return tokens
        self._process(self._under_way.popleft())
        return tokens

    def _dispatch(self) -> Schedule:
        self._record.step_is_over()
        self._record.step += 1
        self.counts.steps += 1
        self.now_s += self._timing.schedule_s
        made = self._scheduler.schedule()
        metadata = self.connector.build_connector_meta(made.as_step())
        self._metadata.read(metadata)
        ready_s = max(self.now_s, self._free_at_s)
        begin_s = self.transfers.submit(metadata, ready_s)
        end_s = begin_s + self._timing.step_duration_s(made.prefill_tokens, made.decode_tokens)
        items = None
        if self._encoding is not None:
            items = self._encoding.close()
            end_s += self._encoding.duration_s(items)
        self.transfers.submit_stores(metadata, end_s)
        self.counts.flush_s += begin_s - ready_s
        self._free_at_s = end_s
        forward = Forward.of(made) if self._oracle else None
        step = Dispatched(self._record.step, made, metadata, forward, begin_s, end_s, items)
        self._under_way.append(step)
        self._dispatched(step)
        return made

    # -- the workers ---------------------------------------------------------------------------------

    def _execute(self, step: Dispatched) -> None:
        metadata = step.metadata
        for worker in self.workers:
            arrivals = [
                PendingCopy(job, is_store, self._metadata.expected.get(job.job))
                for is_store, jobs in ((True, metadata.store_jobs), (False, metadata.load_jobs))
                for job in jobs
            ]
            for job, done in worker.run_step(metadata, arrivals, step.forward):
                self.transfers.note(job, done)
            if self._chooser is not None:
                waiting = [j for j in worker.copies if worker.state(j) in ("store_queued", "load_queued")]
                for chosen in list(self._chooser(worker.rank, waiting)):
                    worker.copy(chosen)
        for store in metadata.store_jobs:
            self._metadata.expected.pop(store.job, None)

    @property
    def open_jobs(self) -> tuple[int, ...]:
        """Jobs on which some worker has not reported, oldest first."""
        return self.transfers.open_jobs

    def copy(self, job: int, worker: int | None = None) -> bool:
        """The bytes of a job move now, on one worker or on all; false if they have moved, or it is not there yet."""
        moved = [w.copy(job) for w in self._at(job, worker)]
        return any(moved)

    def complete(self, job: int, worker: int | None = None) -> bool:
        """The copy ends, and the report on it comes with the next step's outputs."""
        at = self._at(job, worker)
        for w in at:
            self.transfers.report(w, job)
        return bool(at)

    def fail(self, job: int, worker: int = 0) -> bool:
        """The copy fails on one worker and ends on the others; false if it is too late, or nobody could recover."""
        at = self._at(job, worker)
        if not at or (self._failures is None and self.transfers.loads(job)) or not at[0].fail(job):
            return False
        return self.complete(job)

    def _at(self, job: int, worker: int | None) -> list[Worker]:
        chosen = self.workers if worker is None else self.workers[worker : worker + 1]
        return [w for w in chosen if job in w.copies]

    # -- outputs -------------------------------------------------------------------------------------

    def _process(self, step: Dispatched) -> None:
        """The step has run: copies that have ended by then are reported with its outputs."""
        self._execute(step)
        self.transfers.end_copies(step.end_s, self.workers)
        self.now_s = max(self.now_s, step.end_s) + self._timing.update_s
        if not self._under_way:
            self._record.step_is_over()
        self._parking.processed(step.number)
        if self._encoding is not None and step.items is not None:
            self._encoding.run(step.items)
            for request_id in self._encoding.hear_of_step(step.made.requests):
                self._finish(self.requests[request_id])
        if self._failures is not None and (invalid := self.transfers.take_invalid()):
            for request in self._failures.take_report(invalid):
                self._finish(request)
        for request, samples in zip(step.made.requests, step.made.samples, strict=True):
            if samples and request.status not in (Status.FINISHED, Status.HELD):
                request.append_output()
                if request.first_token_s is None:
                    request.first_token_s = self.now_s
                if request.is_done:
                    self._finish(request)
        self._hear()

    def _hear(self) -> None:
        output = self.transfers.collect()
        for event, counts in (("acknowledge", output.completed), ("acknowledge_failure", output.failed)):
            for job, count in counts.items():
                for _ in range(count):
                    self._record(event, job=job)
        for request_id in output.finished_recving:
            self._record("loaded", request=request_id)
        self.connector.update_connector_output(output)
        if self._encoding is not None:
            self._encoding.hear_of_loads(self.requests[r] for r in output.finished_recving)
        for request_id in output.finished_recving:
            request = self.requests[request_id]
            began_s = request.moments[-1][1]
            self.counts.loads += 1
            self.counts.load_wait_s += self.now_s - began_s
            if request.status is Status.HELD:
                self._let_go(request)
            else:
                request.status = Status.LOADED
                request.moments.append(("loaded", self.now_s))

    def _finish(self, request: Request) -> None:
        self._record("finish", request=request.request_id)
        if self._failures is not None:
            self._failures.request_finished(request)
        if self._encoding is not None:
            self._encoding.finish(request)
        if self.connector.request_finished(request, request.table):
            raise EngineError(f"request {request.request_id}: delayed frees of blocks are not modelled")
        if request.status is Status.LOADING:
            request.status = Status.HELD
        else:
            self._let_go(request)

    def _let_go(self, request: Request) -> None:
        """Its blocks go back, the end of the prefix first; until the next metadata it is still spoken of."""
        del self.requests[request.request_id]
        self._scheduler.remove(request)
        request.status = Status.FINISHED
        request.moments.append(("finished", self.now_s))
        self._metadata.keep(request)
        self._parking.free(request)
        self._ended(request)

    def _wrong_item(self, request: Request, item: str, found: str | None) -> None:
        self.faults.append(
            Fault("item", self._record.count, self.step_number, 0, item, found, request=request.request_id)
        )

    def _judge_answer(self, request: Request, local: int, external: int | None, loads: bool) -> None:
        if wrong := out_of_range(request.num_known_tokens, local, external, loads):
            number, rid = self.step_number, request.request_id
            self.faults.append(Fault("answer", self._record.count, number, 0, *wrong, request=rid))

    def _where(self) -> tuple[int, int]:
        return self._record.count, self._record.step
