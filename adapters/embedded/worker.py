"""A worker: its copies move through the compiled lifecycle of copies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.adapters.embedded.forward import Forward
from interlock.adapters.embedded.ghost import Ghost
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.specification import Specification
from interlock.spec.language.variables import Site
from interlock.statemachine.decisions.program import Wanted
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.port import ConnectorMetadata, TransferJob


@dataclass(slots=True)
class PendingCopy:
    """A job at a worker, from the metadata that brings it to the report on it.

    Args:
        expected: what a store is to save.
    """

    job: TransferJob
    is_store: bool
    expected: str | None


class Worker:
    """One rank. Every method names the action of the specification that it is.

    Args:
        moves_bytes: whether copies move contents, for an oracle that looks at them.
    """

    def __init__(
        self,
        rank: int,
        ghost: Ghost,
        switches: Mapping[str, str],
        *,
        moves_bytes: bool = True,
        spec: Specification = SPECIFICATION,
    ) -> None:
        self.rank = rank
        self._moves_bytes = moves_bytes
        self.ghost = ghost
        self.copies: dict[int, PendingCopy] = {}
        self._ledger = Ledger(
            spec,
            switches,
            sizes={},
            site=Site.WORKER,
            wanted=Wanted(once=()),
            domains={"job": lambda: list(self.copies)},
        )
        self._state = self._ledger.function("copy_state")

    def state(self, job: int) -> str:
        """Where the copy of a job is; ``idle`` before and after."""
        return str(self._state.get((self.rank, job), "idle"))

    def run_step(
        self, metadata: ConnectorMetadata, arrivals: list[PendingCopy], forward: Forward | None
    ) -> list[tuple[int, bool]]:
        """Flushes, then the forward if anybody looks at contents, then the rest of the metadata waits to be copied.

        Returns:
            What this step's output reports: each flushed job, and whether it succeeded.
        """
        if not arrivals and not self.copies:
            if forward is not None:
                forward.run(self.ghost)
            return []
        for copy in arrivals:
            self.copies[copy.job.job] = copy
            self._ledger.deliver("store_meta" if copy.is_store else "load_meta", (self.rank, copy.job.job))
        for job in metadata.jobs_to_flush:
            self._ledger.deliver("flush_meta", (self.rank, job))
        queued = {job for job in metadata.jobs_to_flush if self.state(job) in ("store_queued", "load_queued", "idle")}
        reported: list[tuple[int, bool]] = []
        for move in self._ledger.do("run_step", self.rank):
            if move.target == "idle":
                job = move.entity[1]
                if job in queued:
                    self._move_bytes(self.copies[job])
                reported.append((job, move.source != "copy_failed"))
                del self.copies[job]
        if forward is not None:
            forward.run(self.ghost)
        for channel in ("store_meta", "load_meta", "flush_meta"):
            self._ledger.clear(channel)
        return reported

    def copy(self, job: int) -> bool:
        """The bytes move now; false if they have moved."""
        pending = self.copies[job]
        if self.state(job) not in ("store_queued", "load_queued"):
            return False
        self._ledger.do("copy_store" if pending.is_store else "copy_load", self.rank, job)
        self._move_bytes(pending)
        return True

    def fail(self, job: int) -> bool:
        """The copy fails, and nobody knows what its target holds; false if it is too late for that."""
        pending = self.copies[job]
        if self.state(job) not in ("store_queued", "load_queued"):
            return False
        self._ledger.do("copy_fails" if pending.is_store else "load_fails", self.rank, job)
        if self._moves_bytes and pending.is_store:
            self.ghost.spoil(pending.job.chunk)
        elif self._moves_bytes:
            self.ghost.compute(pending.job.block, None)
        return True

    def report(self, job: int) -> bool:
        """Report on a copy that has ended; whether it succeeded."""
        failed = self.state(job) == "copy_failed"
        self._ledger.do("report_failure" if failed else "report", self.rank, job)
        del self.copies[job]
        return not failed

    def _move_bytes(self, pending: PendingCopy) -> None:
        if not self._moves_bytes:
            return
        job = pending.job
        if pending.is_store:
            self.ghost.store(job.job, job.block, job.chunk, pending.expected)
        else:
            self.ghost.load(job.block, job.chunk)
