"""What an observer is: metadata in, jobs out; completed jobs in, a worker's report out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


class ObserverError(Exception):
    """The metadata has a shape that the observer does not know; the message names the release."""


@dataclass(frozen=True)
class Job:
    """One transfer job as the connector counts jobs.

    `pairs` are (gpu block, cpu chunk) in the order of the metadata. `request` is None where the
    metadata does not say whose blocks they are. `key` is the connector's own name of the job.
    """

    id: str
    kind: Literal["store", "load"]
    pairs: tuple[tuple[int, int], ...]
    request: str | None
    key: Any

    def model_job(self, index: int) -> str:
        """The model has one job per block: job 7 with two blocks is "7/0" and "7/1"."""
        return f"{self.id}/{index}"


@dataclass(frozen=True)
class Decoded:
    """One metadata: its new jobs, loads first, the jobs whose flush it orders, and those that it counts as ended.

    `ended` are jobs that the connector is done with once the workers have this step, whatever they report later.
    `flushed` may name jobs of this very metadata: OffloadingConnector orders the flush of a
    finish-time store whose block is reallocated in the same schedule (offloading/scheduler.py:1841).
    """

    jobs: tuple[Job, ...] = ()
    flushed: tuple[str, ...] = ()
    ended: tuple[Job, ...] = ()


@dataclass
class Report:
    """One worker's report of one step, in the connector's own types.

    `acknowledged` are the jobs that this report tells the scheduler about, which may be fewer than
    those that completed: an old OffloadingConnector reports the stores of a request all at once.
    `failed` are those that it says have failed; what a load was to fill then is among the invalid blocks.
    """

    acknowledged: list[Job] = field(default_factory=list)
    failed: list[Job] = field(default_factory=list)
    invalid_block_ids: set[int] = field(default_factory=set)
    finished_sending: set[str] = field(default_factory=set)
    finished_recving: set[str] = field(default_factory=set)
    worker_meta: Any = None

    def __bool__(self) -> bool:
        told = self.finished_sending or self.finished_recving or self.invalid_block_ids
        return bool(told or self.worker_meta is not None)


class Observer(Protocol):
    """Stateful, one per worker; both methods are called once per step.

    One of a connector whose transfers may fail has a third, `fail(jobs)`: these have failed, as the next report says.
    One that sees the connector's chunks has `chunks_in_use(connector)`: those that are "pending" (a store fills them)
    and those that are "pinned" (something reads them, or will); of what it cannot see it says nothing.
    One whose worker is told of preemptions by other means than the metadata has `preempted(requests)`, before `decode`.
    """

    def decode(self, metadata: Any) -> Decoded:
        """The jobs and flush orders that this step's metadata carries."""

    def report(self, completed: Sequence[Job], finished_requests: set[str]) -> Report:
        """What the worker tells the scheduler at the end of this step.

        `finished_requests` is `SchedulerOutput.finished_req_ids`, which vLLM hands to the worker's
        `get_finished`.
        """


def read(observer: Observer, metadata: Any, scheduler_output: Any) -> Decoded:
    """The jobs and flush orders of a step, for a worker that is told of the preemptions in vLLM's scheduler output."""
    if (told := getattr(observer, "preempted", None)) is not None:
        told(frozenset(scheduler_output.preempted_req_ids or ()))
    return observer.decode(metadata)
