"""OffloadingConnector with one block per chunk: metadata by job (0.22 on) or by request (before).

Source: distributed/kv_transfer/kv_connector/v1/offloading/common.py and worker.py. Which shape it
is, is read off the metadata (contract facts, 8.3):

- 0.22 on: `load_jobs`, `store_jobs`, `jobs_to_flush` by job id; a job carries `transfer_spec`
  (0.22) or `src_spec` and `dst_spec` (0.25 on). Completions count in the worker metadata.
- up to 0.20.2: `reqs_to_load`, `reqs_to_store`, `reqs_to_flush` by request. The worker numbers the
  jobs; it reports the stores of a request in one finished_sending, once the request has finished.
- 0.18: no `reqs_to_flush` and no package `offloading`; the worker flushes for whom it is told are preempted.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from interlock.adapters.vllm.observers.protocol import Decoded, Job, ObserverError, Report


class OffloadingObserver:
    """Job ids are the connector's own where it has any."""

    def __init__(self) -> None:
        try:
            from vllm.distributed.kv_transfer.kv_connector.v1.offloading import common
        except ModuleNotFoundError:
            meta = None
        else:
            meta = getattr(common, "OffloadingWorkerMetadata", None)
        self._shape: _ByJob | _ByRequest = _ByRequest() if meta is None else _ByJob(meta)

    def preempted(self, requests: Set[str]) -> None:
        """Whom the scheduler output names as preempted, before its metadata is decoded."""
        self._shape.preempted(requests)

    def decode(self, metadata: Any) -> Decoded:
        """Decode one OffloadingConnectorMetadata."""
        return self._shape.decode(metadata)

    def chunks_in_use(self, connector: Any) -> dict[str, list[int]]:
        """By the count in the status of each chunk that the manager of the CPU tier knows, -1 while it is stored.

        Nothing where the manager is another, or of a release that keeps it elsewhere.
        """
        policy = getattr(getattr(connector.connector_scheduler, "manager", None), "_policy", None)
        tables = [table for table in vars(policy).values() if isinstance(table, dict)] if policy is not None else []
        counts = {c.chunk_id: c.ref_cnt for table in tables for c in table.values() if hasattr(c, "chunk_id")}
        if not counts:
            return {}
        return {
            "pending": sorted(c for c, count in counts.items() if count < 0),
            "pinned": sorted(c for c, count in counts.items() if count > 0),
        }

    def report(self, completed: Sequence[Job], finished_requests: set[str]) -> Report:
        """Encode completions as this release's worker does."""
        return self._shape.report(completed, finished_requests)


class _ByJob:
    """0.22 on. A load is acknowledged by job id and by finished_recving (worker.py:303-308)."""

    def __init__(self, worker_meta: Any) -> None:
        self._worker_meta = worker_meta

    def preempted(self, requests: Set[str]) -> None:
        """The metadata says which jobs to flush."""

    def decode(self, metadata: Any) -> Decoded:
        jobs = [_job(str(i), "load", *_specs(j), j.req_id, i) for i, j in metadata.load_jobs.items()]
        jobs += [_job(str(i), "store", *_specs(j), j.req_id, i) for i, j in metadata.store_jobs.items()]
        flushed = tuple(str(i) for i in sorted(metadata.jobs_to_flush or ()))
        return Decoded(jobs=tuple(jobs), flushed=flushed)

    def report(self, completed: Sequence[Job], finished_requests: set[str]) -> Report:
        del finished_requests
        report = Report(acknowledged=list(completed))
        report.finished_recving = {j.request for j in completed if j.kind == "load" and j.request}
        if completed:
            report.worker_meta = self._worker_meta()
            for job in completed:
                report.worker_meta.completed_jobs[job.key] = 1
        return report


class _ByRequest:
    """Up to 0.20.2: the bookkeeping of OffloadingConnectorWorker.get_finished (0.20.2).

    The connector counts all stores of a preempted request as complete when it orders their flush (scheduler.py:512-521)
    and is never told of them again.
    """

    def __init__(self) -> None:
        self._next = 0
        self._open_stores: dict[str, dict[str, Job]] = {}
        self._unreported: dict[str, list[Job]] = {}
        self._waiting: set[str] = set()
        self._counted: set[str] = set()
        """Ids of open jobs that the connector counts as complete."""
        self._preempted: Set[str] = frozenset()

    def preempted(self, requests: Set[str]) -> None:
        self._preempted = requests

    def decode(self, metadata: Any) -> Decoded:
        flushed: list[str] = []
        ended: list[Job] = []
        for req in sorted(getattr(metadata, "reqs_to_flush", self._preempted) or ()):
            stores = self._open_stores.get(req, {})
            flushed += stores
            ended += self._unreported.pop(req, [])
            ended += (job for job in stores.values() if job.id not in self._counted)
            self._counted.update(stores)
        jobs = []
        for req, (source, target) in metadata.reqs_to_load.items():
            jobs.append(_job(self._id(), "load", source, target, req, req))
        for req, (source, target) in metadata.reqs_to_store.items():
            job = _job(self._id(), "store", source, target, req, req)
            self._open_stores.setdefault(req, {})[job.id] = job
            jobs.append(job)
        return Decoded(jobs=tuple(jobs), flushed=tuple(flushed), ended=tuple(ended))

    def report(self, completed: Sequence[Job], finished_requests: set[str]) -> Report:
        report = Report()
        for job in completed:
            request = job.request
            assert request is not None
            if job.kind == "load":
                report.finished_recving.add(request)
                report.acknowledged.append(job)
                continue
            del self._open_stores[request][job.id]
            if job.id in self._counted:
                self._counted.discard(job.id)
            else:
                self._unreported.setdefault(request, []).append(job)
            if not self._open_stores[request] and request in self._waiting:
                self._send(request, report)
        for request in sorted(finished_requests):
            if self._open_stores.get(request):
                self._waiting.add(request)
            elif request in self._open_stores:
                self._send(request, report)
        return report

    def _send(self, request: str, report: Report) -> None:
        self._waiting.discard(request)
        del self._open_stores[request]
        report.finished_sending.add(request)
        report.acknowledged += self._unreported.pop(request, [])

    def _id(self) -> str:
        self._next += 1
        return str(self._next - 1)


def _specs(job: Any) -> tuple[Any, Any]:
    if hasattr(job, "src_spec"):
        return job.src_spec, job.dst_spec
    source, target = job.transfer_spec
    return source, target


def _job(job_id: str, kind: Any, source: Any, target: Any, request: str, key: Any) -> Job:
    gpu, cpu = (source, target) if kind == "store" else (target, source)
    blocks, chunks = list(map(int, gpu.block_ids)), list(map(int, cpu.block_ids))
    if len(blocks) != len(chunks):
        raise ObserverError(
            f"job {job_id} moves {len(blocks)} GPU blocks and {len(chunks)} CPU chunks: the observer"
            " knows one block per chunk; leave out block_size of the connector config"
        )
    return Job(job_id, kind, tuple(zip(blocks, chunks, strict=True)), request, key)
