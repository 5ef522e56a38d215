"""Our own metadata, as the shim carries it: one job is one block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from interlock.adapters.vllm.observers.protocol import Decoded, Job, Report
from interlock.statemachine.pool.pool import ChunkPool
from interlock.statemachine.port import TransferJob


class InterlockObserver:
    """Loads of a request are over for vLLM when the last of them is."""

    def __init__(self) -> None:
        from interlock.adapters.vllm.shim import InterlockWorkerMetadata

        self._worker_meta = InterlockWorkerMetadata
        self._loads: Counter[str] = Counter()
        self._failed: list[Job] = []

    def decode(self, metadata: Any) -> Decoded:
        """Decode one InterlockMetadata."""
        sent = metadata.jobs
        self._loads.update(j.request for j in sent.load_jobs)
        return Decoded(
            jobs=(*(_job(j, "load") for j in sent.load_jobs), *(_job(j, "store") for j in sent.store_jobs)),
            flushed=tuple(f"j{job}" for job in sent.jobs_to_flush),
        )

    def chunks_in_use(self, connector: Any) -> dict[str, list[int]]:
        """See :func:`pending`. Pins are what open loads read: there are none that somebody could forget."""
        return {"pending": pending(connector.machine.chunks), "pinned": []}

    def fail(self, jobs: Sequence[Job]) -> None:
        """These jobs have failed, as the next report says."""
        self._failed += jobs

    def report(self, completed: Sequence[Job], finished_requests: set[str]) -> Report:
        """Jobs by number in the worker metadata, loads also by request in finished_recving."""
        del finished_requests  # no free is ever delayed for a store
        failed, self._failed = self._failed, []
        report = Report(acknowledged=list(completed), failed=failed)
        if completed or failed:
            report.worker_meta = self._worker_meta({job.key: 1 for job in completed}, {job.key: 1 for job in failed})
        report.invalid_block_ids.update(block for job in failed if job.kind == "load" for block, _ in job.pairs)
        for job in (*completed, *failed):
            if job.kind == "load" and job.request is not None:
                self._loads[job.request] -= 1
                if not self._loads[job.request]:
                    del self._loads[job.request]
                    report.finished_recving.add(job.request)
        return report


def pending(chunks: ChunkPool) -> list[int]:
    """Chunks that are neither absent nor ready."""
    return sorted({*range(chunks.size)} - {*chunks.absent} - {*chunks.ready})


def _job(job: TransferJob, kind: Any) -> Job:
    return Job(id=f"j{job.job}", kind=kind, pairs=((job.block, job.chunk),), request=job.request, key=job.job)
