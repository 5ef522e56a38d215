"""The ledger of KV offloading, and what follows from its moves: for the pool, the metadata, and references."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from interlock.spec.language.specification import Specification
from interlock.spec.language.variables import Site
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.offload.asked import BATCHES, QUESTIONS, channels_about_jobs, hears_of_a_job, wanted
from interlock.statemachine.pool import ChunkPool, policy_named
from interlock.statemachine.port import BlockReferences, ConnectorMetadata, TransferJob


class Moves:
    """Does actions, one or many; all that the machine does to the ledger goes through here.

    Args:
        values: a value for every switch of the specification.
        policy: which ready chunk makes room first.
        checking: whether each action checks its guard.
    """

    def __init__(
        self,
        spec: Specification,
        values: Mapping[str, str],
        *,
        num_chunks: int,
        num_workers: int,
        policy: str,
        checking: bool,
    ) -> None:
        sizes = {"worker": num_workers, "chunk": num_chunks}
        self.ledger = ledger = Ledger(spec, values, sizes=sizes, wanted=wanted(spec, checking=checking))
        self._sends = {a.name: channels_about_jobs(a) for a in spec.actions}
        self._reports = {a.name for a in spec.actions if hears_of_a_job(a)}
        self._actions = {a.name: ledger.action(a.name) for a in spec.actions if a.site == Site.SCHEDULER}
        self._why_not = {action: ledger.question(action, *known) for action, known in QUESTIONS}
        self._each = {batch.action: ledger.batch(batch.action) for batch in BATCHES}
        self.chunks = ChunkPool(
            num_chunks,
            policy_named(policy, num_chunks),
            hash_of=ledger.function("chunk_hash").__getitem__,
            may_evict=lambda c: self.may("evict", c),
            evict=lambda c: self.do("evict", c),
        )
        self.jobs: dict[int, TransferJob] = {}
        """Those on which some report is due."""
        self.next_job = 0
        self.pool: BlockReferences | None = None
        """Where references on blocks are taken, if the specification pins sources."""
        self._outbox: dict[str, dict[int, None]] = defaultdict(dict)
        self._referenced: set[int] = set()
        self._reports_due, self._is_load = ledger.term("reports_due"), ledger.term("is_load")
        self._block_of, self._by_block = ledger.function("job_block"), ledger.inverse("job_block")
        self._refers = ("used", "acknowledge") in ledger.program.tables["block"].rows
        """A report may free a block: stores keep references on their sources."""

    def do(self, action: str, *arguments: Any) -> None:
        """Do an action."""
        moves = self._actions[action](*arguments)
        if moves:
            self._moved(action, moves)

    def do_each(self, action: str, rows: Iterable[Any], *chosen: Iterator[Any]) -> int:
        """An action for each of several rows, until one is refused, if it asks; how many were done."""
        moves: list[Any] = []
        try:
            return self._each[action](rows, moves, *chosen)
        finally:
            if moves:
                self._moved(action, moves)

    def plan_each(self, action: str, rows: Sequence[tuple[Any, ...]]) -> tuple[int, bool]:
        """A store of each of several rows, which begin with a request and a block, into the chunks that the pool gives.

        Returns how many were planned, and whether the others were not for want of a chunk.
        """
        taken: list[Any] = []
        try:
            planned = self.do_each(action, rows, zip(self.chunks.supply(taken), count(self.next_job)))
        finally:
            is_full = bool(taken) and taken[-1] is None
            if is_full:
                del taken[-1]
            first, self.next_job = self.next_job, self.next_job + len(taken)
            for job, row, chunk in zip(count(first), rows, taken):
                self.jobs[job] = TransferJob(job, row[0], row[1], chunk)
        return planned, is_full

    def why_not(self, action: str, *known: Any) -> str | None:
        """The first reason against an action, or ``None``."""
        return self._why_not[action](*known)

    def may(self, action: str, *known: Any) -> bool:
        """Whether nothing is against an action."""
        return self._why_not[action](*known) is None

    def loads(self, job: int) -> bool:
        """Whether it is a load on which some report is due."""
        return job in self.jobs and self._is_load(job)

    def is_due(self, job: int) -> bool:
        """Whether some report on the job is still to come."""
        return bool(self._reports_due(job))

    def take_metadata(self) -> ConnectorMetadata:
        """What was sent about jobs since this was last asked."""
        sent, self._outbox = self._outbox, defaultdict(dict)
        return ConnectorMetadata(
            store_jobs=tuple(map(self.jobs.__getitem__, sent.get("store_meta", ()))),
            load_jobs=tuple(map(self.jobs.__getitem__, sent.get("load_meta", ()))),
            jobs_to_flush=tuple(sent.get("flush_meta", ())),
        )

    def _moved(self, action: str, moves: Iterable[tuple[str, Any, str, str]]) -> None:
        """The pool hears of chunks; what is sent about jobs goes into the metadata."""
        channels = [self._outbox[channel] for channel in self._sends[action]]
        chunk_moved, reports_due = self.chunks.moved, self._reports_due
        reports = action in self._reports
        for lifecycle, entity, _, target in moves:
            if lifecycle == "chunk":
                chunk_moved(entity, target)
                continue
            for sent in channels:
                sent[entity] = None
            if self._refers:
                # One that was planned a moment ago is in the ledger only, one that is over with this report only here.
                job = self.jobs.get(entity)
                block = self._block_of.get(entity) if job is None else job.block
                if block is not None:
                    self._hold_reference(block)
            if reports and not reports_due(entity):
                self.jobs.pop(entity, None)  # it is over

    def _hold_reference(self, block: int) -> None:
        """One reference on a block as long as some store reads it, whoever holds it besides.

        Taken with the plan: a request may lose the block before we are told.
        """
        read = any(self._reports_due(j) and not self._is_load(j) for j in self._by_block.get(block, ()))
        if read != (block in self._referenced):
            assert self.pool is not None, "the specification pins sources: bind_gpu_block_pool first"
            (self.pool.touch if read else self.pool.free_blocks)([block])
            self._referenced ^= {block}
