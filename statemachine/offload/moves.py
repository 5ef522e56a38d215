"""The ledger of KV offloading, and what follows from its moves: for the pool, the metadata, and references."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, tee
from operator import itemgetter
from typing import Any

from interlock.spec.language.specification import Specification
from interlock.spec.language.variables import Site
from interlock.statemachine.errors import CompileError
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.offload.asked import BATCHES, PLANS, QUESTIONS, channels_about_jobs, hears_of_a_job, wanted
from interlock.statemachine.offload.groups import Key
from interlock.statemachine.pool import ChunkPool, policy_named
from interlock.statemachine.port import BlockReferences, ConnectorMetadata, TransferJob

_JOB: Callable[[tuple[int, str, int, int]], TransferJob] = partial(tuple.__new__, TransferJob)
"""A job of its parts, without a line of Python."""
_NUMBER = itemgetter(0)


class Moves:
    """Does actions, one or many; all that the machine does to the ledger goes through here.

    Args:
        values: a value for every switch of the specification.
        policy: which ready chunk makes room first.
        checking: whether each action checks its guard.
        kept: what, besides what loads read, makes no room, if there are several KV cache groups. Then the policy ranks
            pending chunks too.
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
        kept: Container[Key] | None = None,
    ) -> None:
        sizes = {"worker": num_workers, "chunk": num_chunks}
        self.ledger = ledger = Ledger(spec, values, sizes=sizes, wanted=wanted(spec, checking=checking))
        self._sends = {a.name: channels_about_jobs(a) for a in spec.actions}
        for action in PLANS:
            _goes_to(ledger, "job", action, "planned")
        self._reports = {a.name for a in spec.actions if hears_of_a_job(a)}
        self._actions = {a.name: ledger.action(a.name) for a in spec.actions if a.site == Site.SCHEDULER}
        self._why_not = {action: ledger.question(action, *known) for action, known in QUESTIONS}
        self._each = {batch.action: ledger.batch(batch.action) for batch in BATCHES}
        hash_of = ledger.function("chunk_hash").__getitem__
        self.chunks = ChunkPool(
            num_chunks,
            policy_named(policy, num_chunks),
            hash_of=hash_of,
            may_evict=lambda c: (kept is None or hash_of(c) not in kept) and self.may("evict", c),
            evict=lambda c: self.do("evict", c),
            ranks_pending=kept is not None,
        )
        self.jobs: dict[int, TransferJob] = {}
        """Those on which some report is due."""
        self.next_job = 0
        self._num_reports = 0
        self.ids: dict[str, str] = {}
        """Of requests whose name in the ledger is not their id."""
        self.reserved: set[int] = set()
        """Chunks that stores which a reset has forgotten still write: nothing is found in them."""
        self.pool: BlockReferences | None = None
        """Where references on blocks are taken, if the specification pins sources."""
        self._planned: dict[str, list[TransferJob]] = {"store_meta": [], "load_meta": []}
        self._flushed: dict[int, None] = {}
        self._referenced: set[int] = set()
        self._reports_due, self._is_load = ledger.term("reports_due"), ledger.term("is_load")
        self._is_stale = ledger.term("is_stale")
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

    def plan_each(self, action: str, rows: Iterable[tuple[Any, ...]], most: int) -> tuple[int, bool]:
        """A store of each of several rows, which begin with a request and a block, into the chunks that the pool gives.

        Rows are drawn as far as they are planned, and one more: who has many makes them one by one.

        Args:
            most: not more rows than this.

        Returns how many were planned, and whether the others were not for want of a chunk.
        """
        first, chunks = self.next_job, self.chunks
        numbers, planned = count(first), -1
        rows, again = tee(rows)
        try:
            planned = self._each[action](rows, [], zip(chunks.supply(most), numbers, strict=False))
        finally:
            self.next_job = next(numbers)
            if planned < 0:  # it raises at a row; those before it are done
                planned = sum(self._block_of.get(job) is not None for job in range(first, self.next_job))
            filled = zip(chunks.fills(planned), count(first), again, strict=False)
            self._are_planned(action, [_JOB((job, row[0], row[1], chunk)) for chunk, job, row in filled])
        return planned, chunks.ran_out

    def plan_loads(self, rows: Sequence[tuple[str, int, int]]) -> None:
        """Loads, each for a request, into a block and from a chunk."""
        jobs = [_JOB((job, *row)) for job, row in zip(count(self.next_job), rows)]
        self.next_job += len(rows)
        self._each["plan_load"]([(request, block, chunk, job) for job, request, block, chunk in jobs], [])
        self._are_planned("plan_load", jobs)

    def _are_planned(self, action: str, jobs: Sequence[TransferJob]) -> None:
        """The workers are to hear of these, and will report on them."""
        if self.ids:
            jobs = [job._replace(request=self.ids.get(job.request, job.request)) for job in jobs]
        self.jobs.update(zip(map(_NUMBER, jobs), jobs, strict=True))
        for channel in self._sends[action]:
            self._planned[channel] += jobs
        if self._refers:
            for job in jobs:
                self._hold_reference(job.block)

    def why_not(self, action: str, *known: Any) -> str | None:
        """The first reason against an action, or ``None``."""
        return self._why_not[action](*known)

    def may(self, action: str, *known: Any) -> bool:
        """Whether nothing is against an action."""
        return self._why_not[action](*known) is None

    @property
    def room_made(self) -> tuple[int, int]:
        """While it is the same there is no more room in the tier: no chunk has moved, and nobody has let one go."""
        return self.chunks.moves, self._num_reports

    def loads(self, job: int) -> bool:
        """Whether it is a load on which some report is due."""
        return job in self.jobs and self._is_load(job)

    def is_stale(self, job: int) -> bool:
        """Whether a reset has forgotten the job, on which some report is due."""
        return bool(self._is_stale(job))

    def note_reserved(self) -> None:
        """After a reset: what is still pending was being stored before it."""
        pending = self.ledger.function("chunk_state").items()
        self.reserved = {chunk for chunk, state in pending if state == "pending"}

    def num_due(self, job: int) -> int:
        """How many reports on the job are still to come."""
        return int(self._reports_due(job))

    def withhold_flush(self, job: int) -> None:
        """A flush that was ordered does not go with the next metadata."""
        del self._flushed[job]

    def take_metadata(self) -> ConnectorMetadata:
        """What was sent about jobs since this was last asked."""
        stores, loads, flushed = self._planned["store_meta"], self._planned["load_meta"], self._flushed
        sent = ConnectorMetadata(tuple(stores), tuple(loads), tuple(flushed))
        stores.clear()
        loads.clear()
        flushed.clear()
        return sent

    def _moved(self, action: str, moves: Iterable[tuple[str, Any, str, str]]) -> None:
        """The pool hears of chunks; what is sent about jobs goes into the metadata."""
        flushes = "flush_meta" in self._sends[action]
        chunk_moved, reports_due = self.chunks.moved, self._reports_due
        reports = action in self._reports
        self._num_reports += reports
        for lifecycle, entity, _, target in moves:
            if lifecycle == "chunk":
                self.reserved.discard(entity)
                chunk_moved(entity, target)
                continue
            if flushes:
                self._flushed[entity] = None
            if self._refers:
                job = self.jobs.get(entity)  # one that is over with this report is in the ledger no more
                if job is not None:
                    self._hold_reference(job.block)
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


def _goes_to(ledger: Ledger, lifecycle: str, action: str, state: str) -> None:
    """Makes sure of where an action leads, of which it does not tell one by one.

    Raises:
        CompileError: elsewhere, in this specification.
    """
    reached = ledger.program.tables[lifecycle].reached_by(action)
    if reached - {state}:
        raise CompileError(
            f"{action} leads a {lifecycle} to {', '.join(sorted(reached))}: the machine knows of {state}"
        )
