"""Transfer jobs that have not been reported yet, and what their copies do to the contents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from interlock.adapters.vllm.ghost import Content, Ghost
from interlock.adapters.vllm.observers import Job

Fault = Callable[..., None]
"""``fault("store", expected, found, **where)``: a store has left other content than it should."""


@dataclass
class OpenJob:
    """A job whose completion has not been reported yet.

    Args:
        expected: of a store, what its chunks should hold afterwards.
        copied: its bytes have moved, or its copy has failed.
        flushed: a worker was told to wait for it, so that it could have been reported with that very step.
        completing: it is reported with the next step.
    """

    job: Job
    expected: tuple[Content, ...]
    copied: bool = False
    flushed: bool = False
    failed: bool = False
    completing: bool = False
    checked: bool = False


class OpenJobs:
    """The jobs of one worker, oldest first."""

    def __init__(self, ghost: Ghost, fault: Fault) -> None:
        self._ghost, self._fault = ghost, fault
        self._open: list[OpenJob] = []

    def __iter__(self) -> Iterator[OpenJob]:
        return iter(self._open)

    def add(self, job: Job, expected: tuple[Content, ...]) -> None:
        """The metadata of a step has brought a job."""
        self._open.append(OpenJob(job, expected))

    def complete(self, nth: int) -> bool:
        """The nth oldest open job completes with the next step; False where there is none."""
        return self._nth(nth, lambda o: not o.completing, self._completes)

    def fail(self, nth: int) -> bool:
        """The copy of the nth oldest job whose bytes have not moved fails: nobody knows what is in its target."""
        return self._nth(nth, lambda o: not o.copied, self._fails)

    def copy(self, nth: int) -> bool:
        """The bytes of the nth oldest job that are still to move, move now."""
        return self._nth(nth, lambda o: not o.copied, self._copies)

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

    def end(self) -> tuple[list[Job], list[Job]]:
        """Jobs that end with this step: those that are done, and those that have failed."""
        ended = [o for o in self._open if o.completing]
        for o in ended:
            self._copies(o)
            self._open.remove(o)
            self._check_store(o)
        return [o.job for o in ended if not o.failed], [o.job for o in ended if o.failed]

    def promise_nothing(self) -> None:
        """Nobody is promised any more what open jobs leave."""
        for o in self._open:
            o.checked = True

    def _nth(self, nth: int, of: Callable[[OpenJob], bool], do: Callable[[OpenJob], None]) -> bool:
        found = [o for o in self._open if of(o)]
        if not 0 <= nth < len(found):
            return False
        do(found[nth])
        return True

    @staticmethod
    def _completes(o: OpenJob) -> None:
        o.completing = True

    def _copies(self, o: OpenJob) -> None:
        if not o.copied:
            o.copied = True
            self._ghost.copy(o.job.kind, o.job.pairs)

    def _fails(self, o: OpenJob) -> None:
        o.copied = o.failed = o.completing = o.checked = True
        self._ghost.spoil(o.job.kind, o.job.pairs)

    def _check_store(self, o: OpenJob) -> None:
        """Once, at the first of flush and completion.

        Up to 0.20.2 OffloadingConnector counts a flushed store as completed in the very metadata
        (offloading/scheduler.py, build_connector_meta) and may use its chunk again from then on.
        """
        if o.job.kind == "load" or o.checked:
            return
        o.checked = True
        for index, (block, chunk) in enumerate(o.job.pairs):
            found, expected = self._ghost.chunks.get(chunk), o.expected[index]
            if found != expected:
                where: dict[str, Any] = {"block": block, "chunk": chunk, "job": o.job.model_job(index)}
                self._fault("store", expected, found, **where)
