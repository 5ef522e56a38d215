"""Transfer jobs that workers have not reported yet, and what their copies do to the contents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.adapters.vllm.ghost import Content, Ghost
from interlock.adapters.vllm.observers import Job

Fault = Callable[..., None]
"""``fault("store", expected, found, **where)``: a store has left other content than it should."""


@dataclass
class OpenJob:
    """A job whose completion a worker has not reported yet.

    Args:
        expected: of a store, what its chunks should hold afterwards.
        copied: its bytes have moved, or its copy has failed.
        flushed: a worker was told to wait for it, so that it could have been reported with that very step.
        completing: it is reported with the next step.
    """

    job: Job
    worker: int
    expected: tuple[Content, ...]
    copied: bool = False
    flushed: bool = False
    failed: bool = False
    completing: bool = False
    checked: bool = False


class OpenJobs:
    """The jobs of all workers, oldest first: each copies its part of the bytes, and reports for itself.

    Args:
        ghosts: what each worker's part of blocks and chunks holds.
    """

    def __init__(self, ghosts: Sequence[Ghost], fault: Fault) -> None:
        self._ghosts, self._fault = ghosts, fault
        self._open: list[OpenJob] = []

    def __iter__(self) -> Iterator[OpenJob]:
        """Each job once for each worker that has yet to report it."""
        return iter(self._open)

    @property
    def ids(self) -> list[str]:
        """Jobs that some worker has yet to report."""
        return list(dict.fromkeys(o.job.id for o in self._open))

    @property
    def unflushed(self) -> list[str]:
        """Those of which some worker that has yet to report was not told to wait for them."""
        return list(dict.fromkeys(o.job.id for o in self._open if not o.flushed))

    def add(self, job: Job, expected: tuple[Content, ...]) -> None:
        """The metadata of a step has brought a job."""
        self._open += (OpenJob(job, worker, expected) for worker in range(len(self._ghosts)))

    def complete(self, nth: int, worker: int | None = None) -> bool:
        """The nth oldest open job completes with the next step, on one worker or all; False where there is none."""
        return self._nth(nth, worker, lambda o: not o.completing, self._completes)

    def fail(self, nth: int, worker: int | None = None) -> bool:
        """The copy of the nth oldest job whose bytes have not moved fails: nobody knows what is in its target."""
        return self._nth(nth, worker, lambda o: not o.copied, self._fails)

    def copy(self, nth: int, worker: int | None = None) -> bool:
        """The bytes of the nth oldest job that are still to move, move now."""
        return self._nth(nth, worker, lambda o: not o.copied, self._copies)

    def flush(self, ids: Collection[str], *, ends: bool = False) -> None:
        """handle_preemptions: a barrier before the forward.

        Args:
            ends: the report of this step says so already.
        """
        for o in self._open:
            if o.job.id in ids:
                self._copies(o)
                self._check_store(o)
                o.flushed = True
                o.completing |= ends

    def end(self, worker: int) -> tuple[list[Job], list[Job]]:
        """Jobs that end on a worker with this step: those that are done, and those that have failed."""
        ended = [o for o in self._open if o.completing and o.worker == worker]
        for o in ended:
            self._copies(o)
            self._open.remove(o)
            self._check_store(o)
        return [o.job for o in ended if not o.failed], [o.job for o in ended if o.failed]

    def promise_nothing(self) -> None:
        """Nobody is promised any more what open jobs leave."""
        for o in self._open:
            o.checked = True

    def _nth(self, nth: int, worker: int | None, of: Callable[[OpenJob], bool], do: Callable[[OpenJob], None]) -> bool:
        found: dict[str, list[OpenJob]] = {}
        for o in self._open:
            if of(o) and (worker is None or o.worker == worker % len(self._ghosts)):
                found.setdefault(o.job.id, []).append(o)
        if not 0 <= nth < len(found):
            return False
        for o in list(found.values())[nth]:
            do(o)
        return True

    @staticmethod
    def _completes(o: OpenJob) -> None:
        o.completing = True

    def _copies(self, o: OpenJob) -> None:
        if not o.copied:
            o.copied = True
            self._ghosts[o.worker].copy(o.job.kind, o.job.pairs)

    def _fails(self, o: OpenJob) -> None:
        o.copied = o.failed = o.completing = o.checked = True
        self._ghosts[o.worker].spoil(o.job.kind, o.job.pairs)

    def _check_store(self, o: OpenJob) -> None:
        """Once, at the first of flush and completion.

        Up to 0.20.2 OffloadingConnector counts a flushed store as completed in the very metadata
        (offloading/scheduler.py, build_connector_meta) and may use its chunk again from then on.
        """
        if o.job.kind == "load" or o.checked:
            return
        o.checked = True
        for index, (block, chunk) in enumerate(o.job.pairs):
            found, expected = self._ghosts[o.worker].chunks.get(chunk), o.expected[index]
            if found != expected:
                where: dict[str, Any] = {"block": block, "chunk": chunk, "job": o.job.model_job(index)}
                self._fault("store", expected, found, **where)
