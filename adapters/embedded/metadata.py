"""A step's metadata, as an observer at the boundary reads it: which block of whose prefix each job is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.adapters.embedded.events import Recorder
from interlock.adapters.embedded.request import Request
from interlock.adapters.embedded.transfers import Transfers
from interlock.statemachine.port import ConnectorMetadata, TransferJob


class EngineError(Exception):
    """A connector answered something that no engine can act on."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A request that has ended and is spoken of until the next metadata.

    Args:
        blocks: place in its table and allocation, by block.
    """

    request: Request
    blocks: Mapping[int, tuple[int, int]]


class MetadataReader:
    """Opens the jobs of each metadata and records them.

    Args:
        requests: those that have not ended, by id.
        oracle: whether it notes what stores are to save.
    """

    def __init__(
        self, requests: Mapping[str, Request], transfers: Transfers, record: Recorder, *, oracle: bool
    ) -> None:
        self._requests = requests
        self._transfers = transfers
        self._record = record
        self._oracle = oracle
        self.kept: dict[str, Kept] = {}
        """Requests that have ended since the last metadata."""
        self.expected: dict[int, str] = {}
        """What a store is to save, until it is with the workers."""

    def keep(self, request: Request) -> None:
        """A request has ended, and still has its table."""
        allocation = self._record.allocation
        held = {block: (place, allocation(block)) for place, block in enumerate(request.table)}
        self.kept[request.request_id] = Kept(request, held)

    def read(self, metadata: ConnectorMetadata) -> None:
        """A schedule has ended in this.

        Raises:
            EngineError: a job is about a block that its request does not have.
        """
        planned = {j.job for j in metadata.store_jobs}
        flushed = set(metadata.jobs_to_flush)
        for job in metadata.load_jobs:
            self._plan(job, is_store=False)
        for flushed_job in metadata.jobs_to_flush:
            if flushed_job not in planned:
                self._record("order_flush", job=flushed_job)
        for job in metadata.store_jobs:
            self._plan(job, is_store=True)
            if job.job in flushed:
                self._record("order_flush", job=job.job)
        self._record.step_is_with_workers()
        self.kept.clear()

    def _plan(self, job: TransferJob, *, is_store: bool) -> None:
        self._transfers.plan(job, is_store=is_store)
        if self._record.silent and not self._oracle:
            return
        request, place, allocation = self._source(job)
        self._record(
            "plan_store" if is_store else "plan_load",
            request=job.request,
            block=job.block,
            hash_=None if allocation is None else request.block_hashes[place],
            chunk=job.chunk,
            job=job.job,
            allocation=allocation,
        )
        if is_store and self._oracle:
            self.expected[job.job] = request.contents.of(place, (place + 1) * request.block_size)

    def _source(self, job: TransferJob) -> tuple[Request, int, int | None]:
        """The request that a job names, where its block is in the table, and in which allocation if it has ended."""
        if (kept := self.kept.get(job.request)) is not None:
            if job.block in kept.blocks:
                return kept.request, *kept.blocks[job.block]
        elif job.request in self._requests:
            request = self._requests[job.request]
            if job.block in request.table:
                return request, request.table.index(job.block), None
        raise EngineError(f"job {job.job}: request {job.request} does not have block {job.block}")
