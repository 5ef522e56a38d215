"""``KVOffloadMachine``: the specification, running as a connector.

The machine chooses *when to try* what; whether it may be done, and what it changes, is compiled from
the specification (``decisions``), and every state of a request, block, chunk or job moves through a
compiled table. It keeps its own picture of requests and blocks, made only from what a connector is
told, so the guards read what a real scheduler's connector can know. Which of its decisions are compiled
and which are written here: ``python -m interlock.statemachine.decisions.listing`` prints them all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress, count, islice, repeat
from operator import add, ge, gt
from typing import Any

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.specification import Specification
from interlock.spec.language.variables import Site
from interlock.statemachine.asked import BATCHES, QUESTIONS, channels_about_jobs, hears_of_a_job, wanted
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.pool import ChunkPool, policy_named
from interlock.statemachine.port import (
    BlockReferences,
    ConnectorMetadata,
    ConnectorOutput,
    Hash,
    RequestLike,
    ScheduledStep,
    TransferJob,
)
from interlock.statemachine.tracked import Tracked, Visit
from interlock.statemachine.unsupported import refuse_what_is_not_run


class KVOffloadMachine:
    """A connector that offloads KV blocks to CPU chunks; implements :class:`ConnectorPort`.

    Args:
        switches: a value for every switch of the specification; the default preset if not given.
        policy: which ready chunk makes room first, ``lru`` or ``arc``.
        checking: whether each action checks its guard. Tables and counters are always checked, and what the
            machine has to ask it asks; without, the rest is believed, as tests with checking have shown it.

    Raises:
        UnknownPolicy: there is no policy of that name.
        UnsupportedSwitch: the machine does not run one of the switches' values.
    """

    def __init__(
        self,
        *,
        block_size: int,
        num_chunks: int,
        num_workers: int,
        switches: Mapping[str, str] | None = None,
        policy: str = "lru",
        checking: bool = True,
        spec: Specification = SPECIFICATION,
    ) -> None:
        values = spec.switch_values() if switches is None else dict(switches)
        refuse_what_is_not_run(values)
        sizes = {"worker": num_workers, "chunk": num_chunks}
        self._sends = {a.name: channels_about_jobs(a) for a in spec.actions}
        self._reports = {a.name for a in spec.actions if hears_of_a_job(a)}
        self.ledger = Ledger(spec, values, sizes=sizes, wanted=wanted(spec, checking=checking))
        self._actions = {a.name: self.ledger.action(a.name) for a in spec.actions if a.site == Site.SCHEDULER}
        self._why_not = {action: self.ledger.question(action, *known) for action, known in QUESTIONS}
        self._each = {batch.action: self.ledger.batch(batch.action) for batch in BATCHES}
        self._block_size = block_size
        self._next_job = 0
        self.chunks = ChunkPool(
            num_chunks,
            policy_named(policy, num_chunks),
            hash_of=self.ledger.function("chunk_hash").__getitem__,
            may_evict=lambda c: self._may("evict", c),
            evict=lambda c: self._do("evict", c),
        )
        self._tracked: dict[str, Tracked] = {}
        self._finished: list[Tracked] = []
        self._order: list[str] = []
        """The requests of the last step, in its order; most steps have the same."""
        self._places: dict[str, int] = {}
        self._almost: list[int] = []
        """Of each of them, the tokens after which one more fills the next block that is to be published."""
        self._behind: set[str] = set()
        """Requests with published blocks that the store scan has not passed."""
        self._visits: list[Visit] = []
        self._outbox: dict[str, dict[int, None]] = defaultdict(dict)
        self._jobs: dict[int, TransferJob] = {}
        self._pool: BlockReferences | None = None
        self._referenced: set[int] = set()
        ledger = self.ledger
        self._phase, self._pending_count = ledger.function("phase"), ledger.function("pending_count")
        self._block_state, self._chunk_state = ledger.function("block_state"), ledger.function("chunk_state")
        self._must_flush = ledger.relation("must_flush")
        self._by_hash = ledger.inverse("chunk_hash")
        self._job_loads = ledger.relation("job_loads")
        self._loadable = frozenset(ledger.program.tables["chunk"].states_with("plan_load"))
        self._by_block = ledger.inverse("job_block")
        self._refers = ("used", "acknowledge") in ledger.program.tables["block"].rows
        """A report may free a block: stores keep references on their sources."""
        self._request_state = ledger.function("request_state")
        self._may_load = ledger.condition("plan_load", "no-store-is-open")
        self._stepping = ledger.condition("build_connector_meta", "something-to-do")
        self._not_hashed = ledger.condition("publish", "not-hashed")

    # -- what the engine calls ---------------------------------------------------------------------

    def bind_gpu_block_pool(self, pool: BlockReferences) -> None:
        """Where references on blocks are taken, if the specification pins sources."""
        self._pool = pool

    def tracks(self, request_id: str) -> bool:
        """Whether the machine was told of a request that has not ended."""
        return request_id in self._tracked

    def on_new_request(self, request: RequestLike) -> None:
        """See :class:`ConnectorPort`."""
        self._step_is_over()
        self._do("add_request", request.request_id)
        self._tracked[request.request_id] = Tracked(request)

    def get_num_new_matched_tokens(self, request: RequestLike, num_computed_tokens: int) -> tuple[int | None, bool]:
        """The ready chunks that continue what the GPU has, up to the last token but one.

        ``None`` if a request that the tier has something for may not load yet.
        """
        tracked = self._tracked[request.request_id]
        local, limit = num_computed_tokens // self._block_size, (request.num_tokens - 1) // self._block_size
        if tracked.looked_up != (local, limit, self.chunks.moves):
            tracked.looked_up = (local, limit, self.chunks.moves)
            tracked.local_blocks = local
            tracked.matched = self._ready_prefix(request.block_hashes[local:limit])
        if tracked.matched and not self._may_load(tracked.request.request_id):
            return None, False
        return len(tracked.matched) * self._block_size, bool(tracked.matched)

    def update_state_after_alloc(
        self, request: RequestLike, block_ids: Sequence[int], num_external_tokens: int
    ) -> None:
        """Noted, and done with the metadata: requests that were running had their blocks first."""
        tracked = self._tracked[request.request_id]
        self._visits.append(Visit(tracked, tuple(block_ids), num_external_tokens // self._block_size))

    def build_connector_meta(self, step: ScheduledStep) -> ConnectorMetadata:
        """Blocks and loads, then flushes, then the stores of finished requests, then store scans."""
        self._step_is_over()
        for request_id in step.preempted:
            self._preempt(request_id)
        self._running(step)
        if self._visits:
            computed = dict(zip(step.request_ids, step.num_computed_tokens, strict=True))
            for visit in self._visits:
                self._admit(visit)
                request = visit.tracked.request.request_id
                if request in computed:
                    self._publish([(visit.tracked, computed[request] + step.num_scheduled_tokens[request])])
            self._visits.clear()
        self._order_flushes()
        self._store_what_was_kept()
        self._order_flushes()
        if self._behind:
            self._scan([self._tracked[request] for request in step.request_ids if request in self._behind])
        self._order_last_flushes()
        if not self._stepping():
            return ConnectorMetadata()  # the engine steps, but not for us: there is nothing that we would send
        self._do("build_connector_meta")
        return self._metadata()

    def update_connector_output(self, output: ConnectorOutput) -> None:
        """See :class:`ConnectorPort`.

        Raises:
            IllegalTransition: a report on a job that is not open, or one report too many.
        """
        self._step_is_over()
        for event, counts in (("acknowledge", output.completed), ("acknowledge_failure", output.failed)):
            self._do_each(event, (job for job, times in counts.items() for _ in range(times)))
        for request in output.finished_recving:
            self._do("loaded", request)

    def request_finished(self, request: RequestLike, block_ids: Sequence[int]) -> bool:
        """Never delays the free of blocks: fences or references keep what stores still read."""
        self._step_is_over()
        tracked = self._tracked.pop(request.request_id)
        self._order = []  # the id may come again at the same place, as another request
        self._behind.discard(request.request_id)
        self._do("finish", request.request_id)
        self._finished.append(tracked)
        return False

    def has_pending_work(self) -> bool:
        """Whether the engine may not rest for our sake: as the specification has it."""
        self._step_is_over()
        return self._why_not["rest"]() == "no-work-is-reported"

    def reset_cache(self) -> bool:
        """The tier forgets what it has; true if nothing old can be served from now on, false: try again."""
        self._step_is_over()
        succeeds = "used" not in self._block_state.values()
        self._do("reset_cache")
        for request, tracked in self._tracked.items():
            tracked.scanned = 0
            tracked.matched, tracked.looked_up = [], None
            if tracked.published:
                self._behind.add(request)
        return succeeds

    # -- moves ---------------------------------------------------------------------------------------

    def _do(self, action: str, *arguments: Any) -> None:
        moves = self._actions[action](*arguments)
        if moves:
            self._moved(action, moves)

    def _do_each(self, action: str, rows: Iterable[Any], *choose: Callable[..., Any]) -> int:
        """An action for each of several rows, until one is refused, if it asks; how many were done."""
        moves: list[Any] = []
        try:
            return self._each[action](rows, moves, *choose)
        finally:
            self._moved(action, moves)

    def _moved(self, action: str, moves: Iterable[tuple[str, Any, str, str]]) -> None:
        """The pool hears of chunks; what is sent about jobs goes into the metadata."""
        channels = [self._outbox[channel] for channel in self._sends[action]]
        for lifecycle, entity, _, target in moves:
            if lifecycle == "chunk":
                self.chunks.moved(entity, target)
                continue
            for sent in channels:
                sent[entity] = None
            job = self._jobs.get(entity)
            if job is None:
                continue
            if action in self._reports and not self._pending_count.get(entity):
                del self._jobs[entity]  # no report is due: it is over
            if self._refers:
                self._hold_reference(job.block)

    def _may(self, action: str, *known: Any) -> bool:
        return self._why_not[action](*known) is None

    def _step_is_over(self) -> None:
        """The first call after a step's metadata is how a connector hears that its outputs are there."""
        if self._phase.get(()) == "executing":
            self._do("update_from_output")

    def _hold_reference(self, block: int) -> None:
        """One reference on a block as long as some store reads it, whoever holds it besides.

        Taken with the plan: a request may lose the block before we are told.
        """
        read = any(self._pending_count.get(j) and j not in self._job_loads for j in self._by_block.get(block, ()))
        if read != (block in self._referenced):
            assert self._pool is not None, "the specification pins sources: bind_gpu_block_pool first"
            (self._pool.touch if read else self._pool.free_blocks)([block])
            self._referenced ^= {block}

    # -- one request's blocks ------------------------------------------------------------------------

    def _running(self, step: ScheduledStep) -> None:
        """Requests that were running: only those are looked at that got blocks or will have filled one."""
        ids, new = step.request_ids, step.new_block_ids
        # Most requests of a step have nothing for us, so they are passed over without a line of Python each.
        places = dict.fromkeys(compress(count(), new))
        places.update(dict.fromkeys(self._filling(step)))
        if not places:
            return
        visited = {v.tracked.request.request_id for v in self._visits}
        filling: list[tuple[Tracked, int]] = []
        allocated: list[tuple[str, int]] = []
        for place in sorted(places):
            request = ids[place]
            if request in visited:
                continue
            tracked = self._tracked[request]
            new_blocks = new[place] if place < len(new) else None
            if new_blocks:
                allocated += zip(repeat(request), new_blocks)
                tracked.table += new_blocks
            tokens = step.num_computed_tokens[place] + step.num_scheduled_tokens[request]
            if tokens >= tracked.next_full:
                filling.append((tracked, tokens))
        self._do_each("allocate", allocated)
        self._publish(filling)

    def _filling(self, step: ScheduledStep) -> Iterable[int]:
        """The places of requests that will have filled a block that is not published."""
        ids, counts = step.request_ids, step.num_scheduled_tokens
        if ids != self._order:
            self._order = list(ids)
            self._places = {request: place for place, request in enumerate(ids)}
            self._almost = [self._tracked[request].next_full - 1 for request in ids]
        if max(counts.values(), default=0) <= 1:  # all decode
            return compress(count(), map(ge, step.num_computed_tokens, self._almost))
        tokens = map(add, step.num_computed_tokens, map(counts.__getitem__, ids))
        return compress(count(), map(gt, tokens, self._almost))

    def _fills_next(self, tracked: Tracked, tokens: int) -> None:
        """With so many tokens a request fills the next block that is to be published."""
        tracked.next_full = tokens
        place = self._places.get(tracked.request.request_id)
        if place is not None:
            self._almost[place] = tokens - 1

    def _grow(self, tracked: Tracked, new_blocks: Sequence[int]) -> None:
        request, hits = tracked.request.request_id, max(tracked.local_blocks - len(tracked.table), 0)
        if hits:
            self._do_each("hit", zip(repeat(request), new_blocks[:hits]))
        if hits < len(new_blocks):
            self._do_each("allocate", zip(repeat(request), new_blocks[hits:]))
        tracked.table += new_blocks

    def _admit(self, visit: Visit) -> None:
        tracked = visit.tracked
        self._grow(tracked, visit.block_ids[len(tracked.table) :])
        if not visit.external_blocks:
            return
        request, first = tracked.request.request_id, tracked.local_blocks
        chunks = tracked.matched[: visit.external_blocks]
        jobs = range(self._next_job, self._next_job + len(chunks))
        self._next_job = jobs.stop
        rows = list(zip(repeat(request), tracked.table[first : first + len(chunks)], chunks, jobs, strict=False))
        self._jobs.update((job, TransferJob(job, request, block, chunk)) for _, block, chunk, job in rows)
        self._do_each("plan_load", rows)
        for chunk in reversed(chunks):
            self.chunks.touch(chunk)  # the end of a prefix is of no use without its beginning

    def _preempt(self, request_id: str) -> None:
        tracked = self._tracked[request_id]
        self._do("preempt", request_id)
        tracked.table.clear()
        tracked.published = tracked.scanned = 0
        self._fills_next(tracked, 0)
        self._behind.discard(request_id)

    def _publish(self, requests: Iterable[tuple[Tracked, int]]) -> None:
        """The blocks that are full once this step has run, at so many tokens, are addressable now."""
        rows: list[tuple[str, int, Hash]] = []
        for tracked, num_tokens in requests:
            request, hashes, first = tracked.request.request_id, tracked.request.block_hashes, tracked.published
            full = max(first, min(num_tokens // self._block_size, len(tracked.table), len(hashes)))
            first = max(first, min(tracked.local_blocks, full))  # found by their hash, and held since
            rows += zip(repeat(request), tracked.table[first:full], hashes[first:full])
            tracked.published = full
            self._fills_next(tracked, (full + 1) * self._block_size)
            if tracked.scanned < full:
                self._behind.add(request)
        at = 0
        while at < len(rows):
            at += self._do_each("publish", islice(rows, at, None))
            if at < len(rows):
                loaded = self._do_each("publish_loaded", islice(rows, at, None))
                if not loaded and self._not_hashed(rows[at][1]):
                    self._do("publish", *rows[at])  # which says what is wrong
                at += loaded or 1

    # -- jobs ----------------------------------------------------------------------------------------

    def _plan_stores(self, action: str, rows: Sequence[tuple[Any, ...]], first: int) -> tuple[int, bool]:
        """Plans stores of rows, each a request, a block and what else is asked about, from one of them on.

        Returns the first that is left, and whether for want of room, not because it is refused.
        """
        planned = 0
        full = False

        def choose(request: str, block: int, *_: Hash) -> tuple[int, int] | None:
            nonlocal planned, full
            chunk = self.chunks.take(ahead=planned)
            if chunk is None:
                full = True
                return None
            planned += 1
            job, self._next_job = self._next_job, self._next_job + 1
            self._jobs[job] = TransferJob(job, request, block, chunk)
            return chunk, job

        return first + self._do_each(action, islice(rows, first, None), choose), full

    def _scan(self, behind: Sequence[Tracked]) -> None:
        """Stores each published block that a cursor has not passed; a request's scan stops where there is no room."""
        rows: list[tuple[str, int]] = []
        ends = []
        for tracked in behind:
            rows += zip(repeat(tracked.request.request_id), tracked.table[tracked.scanned : tracked.published])
            ends.append(len(rows))
        at = 0
        for tracked, end in zip(behind, ends, strict=True):
            stuck = False
            while at < end and not stuck:
                at, full = self._plan_stores("plan_store", rows, at)
                if at < end:
                    skipped = 0 if full else self._do_each("skip_store", self._not_to_be_stored(rows[at:end]))
                    stuck = not skipped
                    at += skipped
            tracked.scanned = tracked.published - max(end - at, 0)
            if stuck:
                at = end
            else:
                self._behind.discard(tracked.request.request_id)

    def _not_to_be_stored(self, rows: Iterable[tuple[str, int]]) -> Iterable[tuple[str, int]]:
        for row in rows:
            if self._may("plan_store", row[1]):
                return
            yield row

    def _store_what_was_kept(self) -> None:
        """What requests have published, and their store scans have not come to, when they ended."""
        rows: list[tuple[str, int, Hash]] = []
        for tracked in self._finished:
            first, last = tracked.scanned, tracked.published
            hashes = tracked.request.block_hashes
            request = tracked.request.request_id
            rows += ((request, tracked.table[place], hashes[place]) for place in range(first, last))
        self._finished.clear()
        at, full = 0, False
        while at < len(rows) and not full:
            at, full = self._plan_stores("plan_finish_store", rows, at)
            at += 1  # one that is refused stays unstored

    def _order_flushes(self) -> None:
        for job in sorted(self._must_flush):
            self._do(self._flush_of(job), job)

    def _order_last_flushes(self) -> None:
        """Once nobody is left who goes on, what the specification flushes then."""
        if any(self._request_state.get(t) == "scheduled" for t in self._tracked):
            return
        for job in tuple(self._jobs):
            order = self._flush_of(job)
            if self._may(order, job):
                self._do(order, job)

    def _flush_of(self, job: int) -> str:
        return "order_flush_of_load" if job in self._job_loads else "order_flush"

    def _ready_prefix(self, hashes: Iterable[Hash]) -> list[int]:
        """Chunks that a load could read now, for as many of the first hashes as have one."""
        found = []
        for hash_ in hashes:
            chunk = next((c for c in self._by_hash.get(hash_, ()) if self._chunk_state.get(c) in self._loadable), None)
            if chunk is None:
                break
            found.append(chunk)
        return found

    # -- messages ------------------------------------------------------------------------------------

    def _metadata(self) -> ConnectorMetadata:
        sent, self._outbox = self._outbox, defaultdict(dict)
        return ConnectorMetadata(
            store_jobs=tuple(self._jobs[j] for j in sent.get("store_meta", ())),
            load_jobs=tuple(self._jobs[j] for j in sent.get("load_meta", ())),
            jobs_to_flush=tuple(sent.get("flush_meta", ())),
        )
