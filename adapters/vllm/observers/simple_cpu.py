"""SimpleCPUOffloadConnector: at most one store event and one load event per step.

Source: v1/simple_kv_offload/metadata.py (the same shape in 0.19.1, 0.20.2, 0.22.1 and 0.32.0) and
worker.py:256-359 (0.32.0). Job ids are "s<event>" and "l<event>": the two counters are separate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlock.adapters.vllm.observers.protocol import Decoded, Job, ObserverError, Report


class SimpleCpuObserver:
    """The metadata does not say whose blocks a store reads, so `request` is None for stores."""

    def __init__(self) -> None:
        from vllm.v1.simple_kv_offload.metadata import (
            INVALID_JOB_ID,
            SimpleCPUOffloadWorkerMetadata,
        )

        self._none = INVALID_JOB_ID
        self._worker_meta = SimpleCPUOffloadWorkerMetadata
        self._launched: dict[str, None] = {}
        # The worker reads it from the metadata of the step in which the load ends (worker.py:315).
        self._load_requests: dict[int, list[str]] = {}

    def decode(self, metadata: Any) -> Decoded:
        """Decode one SimpleCPUOffloadMetadata."""
        flushed = tuple(self._launched) if metadata.need_flush else ()
        self._load_requests = {e: list(r) for e, r in metadata.load_event_to_reqs.items()}
        jobs = []
        if metadata.load_event != self._none and metadata.load_gpu_blocks:
            owners = self._load_requests.get(metadata.load_event, [])
            jobs.append(
                Job(
                    id=f"l{metadata.load_event}",
                    kind="load",
                    pairs=_pairs(metadata.load_gpu_blocks, metadata.load_cpu_blocks),
                    request=owners[0] if len(owners) == 1 else None,
                    key=metadata.load_event,
                )
            )
        if metadata.store_event != self._none and metadata.store_gpu_blocks:
            jobs.append(
                Job(
                    id=f"s{metadata.store_event}",
                    kind="store",
                    pairs=_pairs(metadata.store_gpu_blocks, metadata.store_cpu_blocks),
                    request=None,
                    key=metadata.store_event,
                )
            )
        self._launched.update((job.id, None) for job in jobs)
        return Decoded(jobs=tuple(jobs), flushed=flushed)

    def chunks_in_use(self, connector: Any) -> dict[str, list[int]]:
        """Those with a reference in the connector's block pool, which does not say whether a store has it."""
        pool = connector.scheduler_manager.cpu_block_pool
        return {"pinned": [b.block_id for b in pool.blocks if b.ref_cnt and not b.is_null]}

    def report(self, completed: Sequence[Job], finished_requests: set[str]) -> Report:
        """Stores by event in the worker metadata, loads by request in finished_recving."""
        del finished_requests  # stores never delay the free: GPU blocks hold a reference
        report = Report(acknowledged=list(completed))
        stores = {}
        for job in completed:
            self._launched.pop(job.id, None)
            if job.kind == "store":
                stores[job.key] = 1
            else:
                report.finished_recving.update(self._load_requests.get(job.key, ()))
        if stores:
            report.worker_meta = self._worker_meta(completed_store_events=stores)
        return report


def _pairs(gpu: Sequence[int], cpu: Sequence[int]) -> tuple[tuple[int, int], ...]:
    if len(gpu) != len(cpu):
        raise ObserverError(
            f"SimpleCPUOffloadMetadata names {len(gpu)} GPU blocks and {len(cpu)} CPU blocks"
            " (rule I-54): run the gate with --boundary-only"
        )
    return tuple((int(g), int(c)) for g, c in zip(gpu, cpu, strict=True))
