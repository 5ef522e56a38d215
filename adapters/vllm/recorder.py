"""Turns what is seen at the connector's boundary into a flat list of events.

The recorder wraps the methods of one scheduler's connector; it sees exactly the calls and values
that the connector sees: KVConnectorBase_V1, SchedulerOutput, KVConnectorOutput, and the GPU block
pool that vLLM hands to connectors (bind_gpu_block_pool), from which it reads `block_hash` alone, to
say when a block is published.

Events, all with `step`, the number of the schedule() that they belong to (0 before the first):

- add_request(request)
- hit(request, block, allocation): a block of the prefix cache, local hit
- allocate(request, block, allocation)
- publish(request, block, allocation, hash): full and hashed; with asynchronous scheduling this may be later, see
  `late_publishes`, and then filled(request, block, allocation) says which schedule() has filled the block
- preempt(request): named by the scheduler output, before anything else of that schedule()
- look_up_anew(request): asked about although it had blocks, which its failed load has cost it; after preempt
- plan_load(request, block, chunk, job, allocation)
- plan_store(request?, block, chunk, job, allocation): request only where the metadata says it
- order_flush(job), build_connector_meta()
- update_from_output(), acknowledge(job), acknowledge_failure(job), loaded(request)
- reset_cache(): reset_prefix_cache has come to the connector, between two steps; of others than ours only where they do
  not refuse it (False), which the specification would take for done
- finish(request): request_finished was called; aborts too

Order in one schedule(): preempt, look_up_anew, then hits, allocations and publishes, request by request in the
order of visits, then plan_load, plan_store, order_flush, build_connector_meta. In update_from_output:
update_from_output, finish, acknowledge, acknowledge_failure, loaded. A step is over (update_from_output) where a
connector can first tell: with asynchronous scheduling that is the next schedule(), or the output of the step before.

`allocation` counts the allocations of a block, 1 for the first. A store of a request whose block is
reallocated in the same schedule carries the allocation in which that request held it.

Frees of GPU blocks are not seen at the boundary: they are hidden, and follow from finish, preempt,
loaded and acknowledge. Block 0, the null block, never appears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from interlock.adapters.vllm.late_publishes import FILLED
from interlock.adapters.vllm.observers import Decoded, Job, Observer, Report, read
from interlock.adapters.vllm.observers.ours import InterlockObserver

Event = dict[str, Any]
Record = Callable[..., None]


class Recorder:
    """Wraps `scheduler.connector`; calls `record(event, **args)` for each event.

    Args:
        workers: how many there are, each of which counts for a job that ends.
        ahead: steps are scheduled before the outputs of those before are there.
        answered: called with a request, the tokens that the prefix cache has of it, and what the connector answers.
    """

    def __init__(
        self,
        scheduler: Any,
        observer: Observer,
        block_size: int,
        record: Record,
        *,
        workers: int = 1,
        ahead: bool = False,
        answered: Callable[[Any, int, int | None, bool], object] = lambda request, local, count, loads: None,
    ) -> None:
        self.scheduler = scheduler
        self.observer = observer
        self.record = record
        self.step = 0
        self.tables: dict[str, list[tuple[int, int]]] = {}  # request -> (block, allocation)
        self.owner: dict[tuple[int, int], tuple[str, int]] = {}  # -> allocating request, index
        self.decoded = Decoded()
        self._block_size = block_size
        self._workers = workers
        self._ahead = ahead
        self._answered = answered
        self._allocations: dict[int, int] = {}
        self._local_hits: dict[str, int] = {}
        self._visited: dict[str, tuple[list[int], int]] = {}  # waiting loop, in order
        self._jobs: dict[str, Job] = {}
        self._unpublished: dict[str, list[tuple[int, int, int]]] = {}
        self._published: set[tuple[int, int]] = set()
        self._filled: set[tuple[int, int]] = set()
        self._finished: set[str] = set()
        self._anew: list[str] = []
        self._report = Report()
        self._executing = False
        self._wrap()

    # -- calls from the harness ------------------------------------------------------------------

    def add_request(self, request: str) -> None:
        """Before Scheduler.add_request."""
        self._emit("add_request", request=request)

    def update_from_output(self, report: Report) -> None:
        """Before Scheduler.update_from_output, which will deliver the report, if it has anything to say."""
        self._report = report
        self._step_is_over()
        if not report:
            self._emit_acknowledged()

    # -- the boundary ----------------------------------------------------------------------------

    def _wrap(self) -> None:
        connector = self.scheduler.connector
        for name in (
            "get_num_new_matched_tokens",
            "update_state_after_alloc",
            "build_connector_meta",
            "update_connector_output",
            "request_finished",
            "request_finished_all_groups",
            "reset_cache",
        ):
            original = getattr(connector, name, None)
            if original is not None:
                setattr(connector, name, getattr(self, f"_{name}")(original))

    def _get_num_new_matched_tokens(self, original: Any) -> Any:
        def wrapper(request: Any, num_computed_tokens: int) -> Any:
            # Asked only of a request that owns no blocks (rule R-09).
            if self.tables.pop(request.request_id, None):
                self._anew.append(request.request_id)
            self._unpublished.pop(request.request_id, None)
            self._local_hits[request.request_id] = num_computed_tokens // self._block_size
            count, loads = answer = original(request, num_computed_tokens)
            self._answered(request, num_computed_tokens, count, loads)
            return answer

        return wrapper

    def _update_state_after_alloc(self, original: Any) -> Any:
        def wrapper(request: Any, blocks: Any, num_external_tokens: int) -> Any:
            # The argument is the whole table, not the delta (rule R-16). It is counted when the
            # metadata is built: a running request may have allocated a block that this one hits.
            rid = request.request_id
            hits = 0 if rid in self.tables else self._local_hits.get(rid, 0)
            self._visited[rid] = (list(blocks.get_block_ids()[0]), hits)
            return original(request, blocks, num_external_tokens)

        return wrapper

    def _build_connector_meta(self, original: Any) -> Any:
        def wrapper(scheduler_output: Any) -> Any:
            self.step += 1
            metadata = original(scheduler_output)
            for rid in scheduler_output.preempted_req_ids or ():
                if rid in self._finished:
                    continue  # it had lost its blocks before it ended
                self._emit("preempt", request=rid)
                if rid not in self._visited:  # it may have been resumed in the same schedule
                    self.tables.pop(rid, None)
                    self._unpublished.pop(rid, None)
            for rid in self._anew:
                if rid not in (scheduler_output.preempted_req_ids or ()) and rid not in self._finished:
                    self._emit("look_up_anew", request=rid)
            self._anew.clear()
            self._emit_tables(scheduler_output)
            for rid in list(self._unpublished):
                self._emit_publishes(rid)
            if self._ahead:
                self._emit_filled(scheduler_output)
            self.decoded = read(self.observer, metadata, scheduler_output)
            for job in self.decoded.jobs:
                self._emit_job(job)
            for flushed in self.decoded.flushed:
                for index in range(len(self._jobs[flushed].pairs)):
                    self._emit("order_flush", job=self._jobs[flushed].model_job(index))
            self._emit("build_connector_meta")
            self._executing = True
            return metadata

        return wrapper

    def _update_connector_output(self, original: Any) -> Any:
        def wrapper(connector_output: Any) -> Any:
            report = self._emit_acknowledged()
            for rid in sorted(report.finished_recving):
                self._emit("loaded", request=rid)
            return original(connector_output)

        return wrapper

    def _emit_acknowledged(self) -> Report:
        report, self._report = self._report, Report()
        self._emit_ends("acknowledge", report.acknowledged)
        self._emit_ends("acknowledge_failure", report.failed)
        return report

    def _emit_ends(self, event: str, jobs: Iterable[Job]) -> None:
        for job in jobs:
            for index in range(len(job.pairs)):
                self._emit(event, job=job.model_job(index))

    def _reset_cache(self, original: Any) -> Any:
        def wrapper() -> Any:
            refused = False
            try:
                answer = original()
                refused = answer is False and not isinstance(self.observer, InterlockObserver)
                return answer
            finally:
                if not refused:
                    self._emit("reset_cache")

        return wrapper

    def _request_finished(self, original: Any) -> Any:
        def wrapper(request: Any, block_ids: Any) -> Any:
            if request.request_id not in self._finished:  # one may call the other
                self._finished.add(request.request_id)
                self._emit_publishes(request.request_id, ended=True)
                self._unpublished.pop(request.request_id, None)
                held = self.scheduler.kv_cache_manager.get_block_ids(request.request_id)
                if self.tables.get(request.request_id) and not any(held):
                    self._emit("preempt", request=request.request_id)  # between steps: for a reset
                self._emit("finish", request=request.request_id)
            return original(request, block_ids)

        return wrapper

    _request_finished_all_groups = _request_finished

    # -- bookkeeping -----------------------------------------------------------------------------

    def _emit(self, event: str, **args: Any) -> None:
        self._step_is_over()
        # What happens before a schedule()'s metadata is built belongs to the steps before.
        self.record(event, step=self.step, **args)

    def _step_is_over(self) -> None:
        if self._executing:
            self._executing = False
            self.record("update_from_output", step=self.step)
            self._emit_ends("acknowledge", self.decoded.ended * self._workers)

    def _grow(self, rid: str, blocks: list[int], hits: int) -> list[tuple[str, int, int]]:
        """The table of a request is now `blocks`; returns (event, block, allocation) of the new."""
        table = self.tables.setdefault(rid, [])
        new = []
        for index in range(len(table), len(blocks)):
            block = int(blocks[index])
            if block == 0:
                table.append((0, 0))
                continue
            # What an output makes addressable of a request that has ended or was preempted since is shown to nobody
            # (with asynchronous scheduling): whoever finds it, is taken to compute it.
            if index < hits and (not self._ahead or (block, self._allocations.get(block, 0)) in self._published):
                event = "hit"
                allocation = self._allocations.get(block, 0)
            else:
                event = "allocate"
                allocation = self._allocations[block] = self._allocations.get(block, 0) + 1
                self.owner[block, allocation] = (rid, index)
                self._unpublished.setdefault(rid, []).append((index, block, allocation))
            table.append((block, allocation))
            new.append((event, block, allocation))
        return new

    def _emit_tables(self, scheduler_output: Any) -> None:
        """Running requests are visited before waiting ones (Scheduler.schedule)."""
        cached = scheduler_output.scheduled_cached_reqs
        for rid, new in zip(cached.req_ids, cached.new_block_ids, strict=True):
            if new is None or rid in self._visited or rid in cached.resumed_req_ids:
                continue
            whole = [block for block, _ in self.tables.get(rid, [])] + list(new[0])
            self._emit_blocks(rid, self._grow(rid, whole, 0))
        for rid in [rid for rid in self._unpublished if rid not in self._visited]:
            self._emit_publishes(rid)
        for rid, (blocks, hits) in self._visited.items():
            self._emit_blocks(rid, self._grow(rid, blocks, hits))
        self._visited.clear()

    def _emit_blocks(self, rid: str, found: list[tuple[str, int, int]]) -> None:
        for event, block, allocation in found:
            self._emit(event, request=rid, block=block, allocation=allocation)
        # At once: a request that is visited later in this schedule() may hit them.
        self._emit_publishes(rid)

    def _emit_publishes(self, rid: str, *, ended: bool = False) -> None:
        """The blocks of a request that have become full and hashed; the others stay noted.

        Args:
            ended: the request ends, and vLLM hashes no more of what a step fills whose output is to come.
        """
        pool = self.scheduler.kv_cache_manager.block_pool.blocks
        left = []
        for index, block, allocation in self._unpublished.pop(rid, []):
            hashes = self.scheduler.requests[rid].block_hashes
            filled = ended and (block, allocation) in self._filled and index < len(hashes)
            if pool[block].block_hash is None and not filled:
                left.append((index, block, allocation))
                continue
            value = hashes[index].hex()[:12]
            self._published.add((block, allocation))
            self._emit("publish", request=rid, block=block, allocation=allocation, hash=value)
        if left:
            self._unpublished[rid] = left

    def _emit_filled(self, scheduler_output: Any) -> None:
        """The blocks that this step fills though they have no hash yet."""
        new, cached = scheduler_output.scheduled_new_reqs, scheduler_output.scheduled_cached_reqs
        computed = {r.req_id: r.num_computed_tokens for r in new}
        computed |= zip(cached.req_ids, cached.num_computed_tokens, strict=True)
        for rid, scheduled in scheduler_output.num_scheduled_tokens.items():
            full = (computed[rid] + scheduled) // self._block_size
            for index, block, allocation in self._unpublished.get(rid, ()):
                if index < full and (block, allocation) not in self._filled:
                    self._filled.add((block, allocation))
                    self._emit(FILLED, request=rid, block=block, allocation=allocation)

    def _emit_job(self, job: Job) -> None:
        self._jobs[job.id] = job
        for index, (block, chunk) in enumerate(job.pairs):
            request = job.request
            allocation = self.allocation_of(job, block)
            if request is None and job.kind == "load":
                request = self.owner[block, allocation][0]  # a target has one owner (I-24)
            args: dict[str, Any] = {} if request is None else {"request": request}
            args |= {"block": block, "chunk": chunk, "job": job.model_job(index)}
            self._emit(f"plan_{job.kind}", **args, allocation=allocation)

    def allocation_of(self, job: Job, block: int) -> int:
        """The allocation that a job means: that of its request where it is known."""
        for held, allocation in self.tables.get(job.request or "", ()):
            if held == block:
                return allocation
        return self._allocations.get(block, 0)
