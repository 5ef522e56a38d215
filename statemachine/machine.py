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
from dataclasses import dataclass, field
from itertools import compress, count
from operator import add, ge
from typing import Any

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.actions import Send
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import Var
from interlock.spec.language.variables import Site
from interlock.statemachine.decisions.program import Wanted
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
from interlock.statemachine.unsupported import refuse_what_is_not_run

QUESTIONS = (
    ("plan_store", ("r", "b")),
    ("skip_store", ("r", "b")),
    ("plan_finish_store", ("r", "b", "h")),
    ("evict", ("c",)),
    ("order_flush", ("j",)),
    ("order_flush_of_load", ("j",)),
    ("rest", ()),
    ("build_connector_meta", ()),
)
"""What the machine asks before it has chosen everything that the action is about."""

LOOKUPS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("chunk_hash", ()),
    ("job_block", ()),
    ("load_value", (0,)),
)
"""What the machine looks up: chunks by hash, jobs by block, loaded prefixes by block."""


@dataclass(slots=True)
class Tracked:
    """A request as the machine knows it.

    Args:
        table: its blocks, in the order of its tokens.
        local_blocks: leading blocks that were found in the GPU's prefix cache.
        matched: ready chunks that continue them, as last looked up.
        looked_up: what that look-up was for, and the pool's moves then: it holds while nothing has moved.
        published, scanned: blocks before these places need no more looking at.
    """

    request: RequestLike
    table: list[int] = field(default_factory=list)
    local_blocks: int = 0
    matched: list[int] = field(default_factory=list)
    looked_up: tuple[int, int, int] | None = None
    published: int = 0
    scanned: int = 0


@dataclass(frozen=True, slots=True)
class Visit:
    """A waiting request that got blocks in the schedule being made."""

    tracked: Tracked
    block_ids: tuple[int, ...]
    external_blocks: int


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
        wanted = Wanted(questions=QUESTIONS, guards=checking, announced=("chunk", "job"), lookups=LOOKUPS)
        self.ledger = Ledger(spec, values, sizes=sizes, wanted=wanted)
        self._actions = {a.name: self.ledger.action(a.name) for a in spec.actions if a.site == Site.SCHEDULER}
        self._why_not = {action: self.ledger.question(action, *known) for action, known in QUESTIONS}
        self._sends = {a.name: tuple(s.channel for s in a.sends if _is_about_a_job(s)) for a in spec.actions}
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
        self._next_full: dict[str, int] = {}
        """With how many tokens a request fills the next block that is to be published."""
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
        self._hashed, self._must_flush = ledger.relation("hashed"), ledger.relation("must_flush")
        self._by_hash = ledger.inverse("chunk_hash")
        self._job_loads = ledger.relation("job_loads")
        self._loadable = frozenset(ledger.program.tables["chunk"].states_with("plan_load"))
        self._loaded_values = ledger.index("load_value", 0)
        self._by_block = ledger.inverse("job_block")
        self._refers = ("used", "acknowledge") in ledger.program.tables["block"].rows
        """A report may free a block: stores keep references on their sources."""
        self._request_state = ledger.function("request_state")
        self._may_load = self._decision("plan_load", "no-store-is-open")

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
        self._next_full[request.request_id] = 0

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
                    self._publish(visit.tracked, computed[request] + step.num_scheduled_tokens[request])
            self._visits.clear()
        self._order_flushes()
        for tracked in self._finished:
            self._store_what_was_kept(tracked)
        self._finished.clear()
        self._order_flushes()
        if self._behind:
            for request in step.request_ids:
                if request in self._behind:
                    self._scan(self._tracked[request])
        self._order_last_flushes()
        if self._why_not["build_connector_meta"]() == "something-to-do":
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
            for job, times in counts.items():
                for _ in range(times):
                    self._do(event, job)
        for request in output.finished_recving:
            self._do("loaded", request)

    def request_finished(self, request: RequestLike, block_ids: Sequence[int]) -> bool:
        """Never delays the free of blocks: fences or references keep what stores still read."""
        self._step_is_over()
        tracked = self._tracked.pop(request.request_id)
        del self._next_full[request.request_id]
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
        for lifecycle, entity, _, target in self._actions[action](*arguments):
            if lifecycle == "chunk":
                self.chunks.moved(entity, target)
            else:
                job = self._jobs.get(entity)
                self._send(action, entity)
                if self._refers and job is not None:
                    self._hold_reference(job.block)

    def _may(self, action: str, *known: Any) -> bool:
        return self._why_not[action](*known) is None

    def _decision(self, action: str, conjunct: str) -> Callable[..., bool]:
        """A conjunct of a guard as a function; always true where the switches say so."""
        try:
            return self.ledger.decision(action, conjunct)
        except KeyError:
            return lambda *_: True

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
        ids, computed, counts = step.request_ids, step.num_computed_tokens, step.num_scheduled_tokens
        # Most requests of a step have nothing for us, so they are passed over without a line of Python each.
        tokens = list(map(add, computed, map(counts.__getitem__, ids)))
        fills = map(ge, tokens, map(self._next_full.__getitem__, ids))
        places = set(compress(count(), fills))
        places.update(compress(count(), step.new_block_ids))
        if not places:
            return
        visited = {v.tracked.request.request_id for v in self._visits}
        for place in sorted(places):
            request = ids[place]
            if request not in visited:
                tracked = self._tracked[request]
                if place < len(step.new_block_ids):
                    self._grow(tracked, step.new_block_ids[place] or ())
                if tokens[place] >= self._next_full[request]:
                    self._publish(tracked, tokens[place])

    def _grow(self, tracked: Tracked, new_blocks: Iterable[int]) -> None:
        for block in new_blocks:
            hit = len(tracked.table) < tracked.local_blocks
            self._do("hit" if hit else "allocate", tracked.request.request_id, block)
            tracked.table.append(block)

    def _admit(self, visit: Visit) -> None:
        tracked = visit.tracked
        self._grow(tracked, visit.block_ids[len(tracked.table) :])
        loads = list(zip(tracked.table[tracked.local_blocks :], tracked.matched, strict=False))
        for block, chunk in loads[: visit.external_blocks]:
            self._plan("plan_load", tracked, block, chunk)
        for _, chunk in reversed(loads[: visit.external_blocks]):
            self.chunks.touch(chunk)  # the end of a prefix is of no use without its beginning

    def _preempt(self, request_id: str) -> None:
        tracked = self._tracked[request_id]
        self._do("preempt", request_id)
        tracked.table.clear()
        tracked.published = tracked.scanned = self._next_full[request_id] = 0
        self._behind.discard(request_id)

    def _publish(self, tracked: Tracked, num_tokens: int) -> None:
        """The blocks that are full once this step has run are addressable now."""
        request, hashes = tracked.request.request_id, tracked.request.block_hashes
        full = min(num_tokens // self._block_size, len(tracked.table), len(hashes))
        for place in range(tracked.published, full):
            block = tracked.table[place]
            if block not in self._hashed:
                loaded = block in self._loaded_values
                self._do("publish_loaded" if loaded else "publish", request, block, hashes[place])
        tracked.published = max(tracked.published, full)
        self._next_full[request] = (tracked.published + 1) * self._block_size
        if tracked.scanned < tracked.published:
            self._behind.add(request)

    # -- jobs ----------------------------------------------------------------------------------------

    def _plan(self, action: str, tracked: Tracked, block: int, chunk: int, *kept: Hash) -> None:
        job, self._next_job = self._next_job, self._next_job + 1
        self._jobs[job] = TransferJob(job, tracked.request.request_id, block, chunk)
        self._do(action, tracked.request.request_id, block, *kept, chunk, job)

    def _scan(self, tracked: Tracked) -> None:
        """Stores each published block that the cursor has not passed; stops where there is no room."""
        request = tracked.request.request_id
        while tracked.scanned < tracked.published:
            block = tracked.table[tracked.scanned]
            if self._may("plan_store", request, block):
                chunk = self.chunks.take()
                if chunk is None:
                    return
                self._plan("plan_store", tracked, block, chunk)
            elif self._may("skip_store", request, block):
                self._do("skip_store", request, block)
            else:
                return
            tracked.scanned += 1
        self._behind.discard(request)

    def _store_what_was_kept(self, tracked: Tracked) -> None:
        """What the request has published and its store scan has not come to."""
        request, hashes = tracked.request.request_id, tracked.request.block_hashes
        for place in range(tracked.scanned, tracked.published):
            block, hash_ = tracked.table[place], hashes[place]
            if self._may("plan_finish_store", request, block, hash_):
                chunk = self.chunks.take()
                if chunk is None:
                    return
                self._plan("plan_finish_store", tracked, block, chunk, hash_)

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

    def _send(self, action: str, job: int) -> None:
        """What the action sends about a job goes into the metadata; once no report is due, it is over."""
        for channel in self._sends[action]:
            self._outbox[channel][job] = None
        if not self._pending_count.get(job):
            self._jobs.pop(job, None)

    def _metadata(self) -> ConnectorMetadata:
        sent, self._outbox = self._outbox, defaultdict(dict)
        return ConnectorMetadata(
            store_jobs=tuple(self._jobs[j] for j in sent.get("store_meta", ())),
            load_jobs=tuple(self._jobs[j] for j in sent.get("load_meta", ())),
            jobs_to_flush=tuple(sent.get("flush_meta", ())),
        )


def _is_about_a_job(send: Send) -> bool:
    return any(isinstance(a, Var) and a.sort == "job" for a in send.args)
