"""Jobs between the metadata that brings them and the output that reports on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from interlock.adapters.embedded.counts import Counts
from interlock.adapters.embedded.timing import Link, Timing
from interlock.adapters.embedded.worker import Worker
from interlock.statemachine.port import ConnectorMetadata, ConnectorOutput, TransferJob


class Transfers:
    """Open jobs, when their copies end, and what the workers have reported.

    Args:
        num_workers: how many reports a job waits for. Their copies take the same time.
        fails: whether the load of a job fails, where copies end by the clock.
    """

    def __init__(
        self, num_workers: int, timing: Timing, counts: Counts, fails: Callable[[TransferJob], bool] | None = None
    ) -> None:
        self._num_workers = num_workers
        self._counts = counts
        self._fails = fails
        self.load_link, self.store_link = Link(timing.load_s), Link(timing.store_s)
        self._open: dict[int, TransferJob] = {}
        self._unreported: dict[int, int] = {}
        self._ended: list[int] = []
        self._reports: list[tuple[int, bool]] = []
        self._loads: dict[str, set[int]] = {}
        self._invalid: dict[int, None] = {}

    @property
    def open_jobs(self) -> tuple[int, ...]:
        """Jobs on which some worker has not reported, oldest first."""
        return tuple(j for j, left in self._unreported.items() if left)

    @property
    def next_s(self) -> float | None:
        """When the next copy ends."""
        return min((s for s in (self.load_link.next_s, self.store_link.next_s) if s is not None), default=None)

    def plan(self, job: TransferJob, *, is_store: bool) -> None:
        """A step's metadata has a job."""
        self._open[job.job] = job
        self._unreported[job.job] = self._num_workers
        if is_store:
            self._counts.stored_blocks += 1
        else:
            self._counts.loaded_blocks += 1
            self._loads.setdefault(job.request, set()).add(job.job)

    def submit(self, metadata: ConnectorMetadata, begin_s: float) -> float:
        """The copies of a step's metadata are in line: loads from its begin, stores that it flushes too.

        Returns:
            When the step can begin, as flushed copies have ended by then.
        """
        flushed = set(metadata.jobs_to_flush)
        self.load_link.submit([j.job for j in metadata.load_jobs], begin_s)
        self.store_link.submit([j.job for j in metadata.store_jobs if j.job in flushed], begin_s)
        due = (link.due_s(j) for j in flushed for link in (self.load_link, self.store_link))
        return max((begin_s, *(s for s in due if s is not None)))

    def submit_stores(self, metadata: ConnectorMetadata, end_s: float) -> None:
        """What a step computes is stored once it has run."""
        flushed = set(metadata.jobs_to_flush)
        self.store_link.submit([j.job for j in metadata.store_jobs if j.job not in flushed], end_s)

    def note(self, job: int, done: bool) -> None:
        """A worker's report, which comes with the outputs of this step or the next."""
        self._reports.append((job, done))
        if not done and self.loads(job):
            self._invalid[self._open[job].block] = None
        self._unreported[job] -= 1
        if not self._unreported[job]:
            self._ended.append(job)

    def end_copies(self, end_s: float, workers: Iterable[Worker]) -> None:
        """Copies that have ended when a step has run are reported; those that a flush has ended are already.

        What later steps brought ends later: no copy takes no time.
        """
        for link in (self.store_link, self.load_link):
            for job in link.take(end_s):
                failed = self._fails is not None and self.loads(job) and self._fails(self._open[job])
                for worker in workers:
                    if job in worker.copies:
                        if failed:
                            worker.fail(job)
                            failed = False  # on the others it does not
                        self.report(worker, job)

    def report(self, worker: Worker, job: int) -> None:
        """The copy of a job has ended at a worker."""
        worker.copy(job)
        self.note(job, worker.report(job))

    def loads(self, job: int) -> bool:
        """Whether an open job is a load."""
        return job in self._open and job in self._loads.get(self._open[job].request, ())

    def take_invalid(self) -> list[int]:
        """Blocks into which a load has failed, on some worker, since the last time."""
        invalid, self._invalid = self._invalid, {}
        return list(invalid)

    def collect(self) -> ConnectorOutput:
        """What the workers have reported since the last time."""
        completed: dict[int, int] = {}
        failed: dict[int, int] = {}
        for job, done in self._reports:
            counts = completed if done else failed
            counts[job] = counts.get(job, 0) + 1
        received: list[str] = []
        for job in self._ended:
            del self._unreported[job]
            request = self._open.pop(job).request
            loads = self._loads.get(request)
            if loads is not None:
                loads.discard(job)
                if not loads:
                    del self._loads[request]
                    received.append(request)
        self._reports, self._ended = [], []
        return ConnectorOutput(completed, failed, tuple(received))
