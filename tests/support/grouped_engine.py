"""A small engine with several KV cache groups, after vLLM's scheduler: one pool of blocks, windows that slide, workers.

It keeps its own books of the tier, made from what metadata carry, and its own content of every block and chunk on every
worker. Copies happen, fail and are reported when it is told to, worker by worker; at depth 2 a step is scheduled before
the outputs of the one before it are there. Whatever the machine does, the engine asserts that each reader sees what it
came for. What happens it records (``grouped_record``).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import lcm

from interlock.statemachine.lookup import Mamba
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.port import ConnectorOutput, ScheduledRequest, ScheduledStep
from support.grouped_hits import GroupedHits
from support.grouped_parts import NULL, Copy, Request, Row, Step, named
from support.grouped_record import GroupedRecord
from support.grouped_workers import GroupedWorkers


@dataclass
class GroupedEngine(GroupedHits, GroupedWorkers):
    groups: list
    hash_tokens: int
    num_blocks: int
    machine: KVOffloadScheduler
    requests: dict = field(default_factory=dict)
    copies: dict = field(default_factory=dict)
    """By job; those that the worker has and that are not reported."""
    tier: dict = field(default_factory=dict)
    """Chunk to its key and whether it is ready."""
    proceeds: bool = False
    workers: int = 1
    holds_on_reset: bool = False
    finds: bool = True
    """Whether requests look for their prefix in the GPU's cache."""
    depth: int = 1
    """Steps that may be scheduled and not yet processed."""
    keeps: bool = False
    """Whether a request whose load has failed in part keeps what it can go on from (Q14); otherwise it is looked up anew."""

    def __post_init__(self):
        self.free = deque(range(1, self.num_blocks + 1))
        self.refs = dict.fromkeys(self.free, 0)
        self.key_of = {}
        self.content, self.chunk_content = ([{} for _ in range(self.workers)] for _ in range(2))
        self.record = GroupedRecord(hidden=self.depth == 1)
        self.under_way, self.parked, self.processed, self.number = deque(), deque(), 0, 0
        """Steps; blocks that a step which is not processed may write, with its number; the last that is, and the last."""
        self.slid, self.told = {}, {}
        """By name, blocks that have slid out, with their keys, of which nobody could know yet; and the reverse."""
        self.untold = set()
        """Blocks that got their hash with an output, or behind a window, of which nobody could know yet."""
        self.gone = {}
        """By name of who has ended since the last metadata: its blocks, each with its key and its allocation."""
        self.broken, self.refused = {}, set()
        """By name, blocks that a load has failed to fill; and of whom a load has failed."""
        self.happened = set()
        """Of what is worth a count, since somebody has last emptied it."""
        self.alignment = lcm(*(g.chunk_tokens for g in self.groups))
        self.flushed_reports = []
        self.machine.bind_gpu_block_pool(self)

    # -- the pool ---------------------------------------------------------------------------------

    def touch(self, blocks):
        for block in blocks:
            if not self.refs[block]:
                self.free.remove(block)
            self.refs[block] += 1

    def free_blocks(self, blocks):
        for block in blocks:
            self.refs[block] -= 1
            assert self.refs[block] >= 0
            if not self.refs[block]:
                self.free.append(block)

    def new_block(self):
        block = self.free.popleft()
        self.refs[block] = 1
        self.key_of.pop(block, None)
        self.untold.discard(block)
        return block

    # -- what happens -----------------------------------------------------------------------------

    def add(self, name, symbols, tail, max_tokens):
        tokens = len(symbols) * self.hash_tokens + tail
        request = Request(
            name, [*symbols, f"<{name}>"], self.hash_tokens, tokens, tokens, max_tokens, [[] for _ in self.groups]
        )
        self.requests[name] = request
        self.machine.on_new_request(request)
        request.name = self.machine._tracked[name].key
        self.record("add_request", request=request.name)

    def preempt(self, request):
        """It loses its blocks; they go back once no step that is under way may write them."""
        for table in request.tables:
            blocks = [b for b in reversed(table) if b != NULL]
            if request.last_step <= self.processed:
                self.free_blocks(blocks)
            elif blocks:
                self.parked.append((request.last_step, blocks))
            table.clear()
        for books in (self.slid, self.told, self.broken):
            books.pop(request.name, None)
        request.computed, request.state = 0, "waiting"

    @property
    def between_steps(self):
        """Whether the scheduler is free to hear of arrivals, ends and resets."""
        return len(self.under_way) < self.depth

    def _room(self, request, tokens):
        """New blocks that so many tokens take; Mamba's are null but the last."""
        wanted = []
        for g, group in enumerate(self.groups):
            places = range(len(request.tables[g]), -(-tokens // group.chunk_tokens))
            wanted.append([isinstance(group, Mamba) and p < places.stop - 1 for p in places])
        return wanted

    def _take(self, request, wanted):
        """Per group the new blocks, nulls included; None if there is no room."""
        if sum(not null for group in wanted for null in group) > len(self.free):
            return None
        new = [[NULL if null else self.new_block() for null in group] for group in wanted]
        for block in (b for group in new for b in group if b != NULL):
            self.record("allocate", request=request.name, block=block)
        for table, blocks in zip(request.tables, new, strict=True):
            table.extend(blocks)
        return new

    def step(self, budget=1000, preempt=()):
        """A schedule(); at depth 1 the workers run its step, and outputs come at the latest with the next one."""
        while not self.between_steps:
            self._process()
        self.number += 1
        steps = bool(self.requests or self.gone) or self.machine.has_pending_work()
        self.record.schedule_begins()
        preempted = [r for r in self.requests.values() if r.state == "running" and r.request_id in preempt]
        for request in preempted:
            self.record("preempt", request=request.name)
            self.preempt(request)
        loaded = [r for r in self.requests.values() if r.state == "arrived" or r.name in self.broken]
        rows = [row for r in list(self.requests.values()) if r.state == "running" and (row := self._running(r, budget))]
        passed = {self.requests[row.request_id].name: self._passed(row) for row in rows}
        self._tell_what_outputs_named(rows)
        rows += [row for r in list(self.requests.values()) if r.state in ("waiting", "arrived") and r not in preempted
                 and (row := self._waiting(r, budget))]  # fmt: skip
        for row in rows:
            request = self.requests[row.request_id]
            self._publish(request, row.num_computed_tokens + row.num_scheduled_tokens)
            if request in loaded and not self.record.tells_of(request.name):
                self.record("admit_loaded", request=request.name)
        metadata = self.machine.build_connector_meta(ScheduledStep.of(rows, tuple(r.request_id for r in preempted)))
        self.record.schedule_ends(
            self.slid, {name: {} for name in (self.requests[r.request_id].name for r in rows)} | passed
        )
        new = self._begin(metadata)
        if steps:
            self.record.metadata(metadata, self.copies, self.gone)
        else:
            assert metadata == type(metadata)(), metadata
        self.gone.clear()
        self.under_way.append(
            Step(
                self.number,
                [self._goes_on(row) for row in rows],
                metadata.jobs_to_flush,
                new,
                steps,
                set(range(self.workers)),
            )
        )
        if self.depth == 1:
            self.run_all()
        return metadata

    def _passed(self, row):
        """Blocks that a window has passed with what a request has computed, and that it still has."""
        request, passed = self.requests[row.request_id], {}
        for g, table in enumerate(request.tables):
            keys = self.keys(request, g)
            for place, block in enumerate(table[: self.skipped(g, row.num_computed_tokens)]):
                if block != NULL and block not in self.told.get(request.name, ()):
                    passed[block] = keys[place] if place < len(keys) else None
        self.told.setdefault(request.name, set()).update(passed)
        return passed

    def _goes_on(self, row):
        """A request computes; whether an output comes of that."""
        request, end = self.requests[row.request_id], row.num_computed_tokens + row.num_scheduled_tokens
        samples = end == request.known
        request.computed, request.last_step = end, self.number
        request.awaited += samples
        return Row(request, [list(table) for table in request.tables], row.num_computed_tokens, end, samples)

    def _process(self):
        """The outputs of the oldest step are there."""
        self.run_all()
        step = self.under_way.popleft()
        self.processed = step.number
        for row in step.rows:
            if row.samples and row.request.state != "gone":
                row.request.awaited -= 1
                row.request.grow()
                if row.request.state == "running":  # full blocks get their hashes, as in vLLM's AsyncScheduler
                    self._publish(row.request, row.request.num_tokens - 1, silently=True)
        while self.parked and self.parked[0][0] <= step.number:
            self.free_blocks(self.parked.popleft()[1])

    # -- schedule() -------------------------------------------------------------------------------

    def _running(self, request, budget):
        if request.computed >= min(request.known, request.num_prompt_tokens + request.max_tokens):
            return None
        # What a step that is under way still reads is not freed.
        computed = min([request.computed, *(r.start for s in self.under_way for r in s.rows if r.request is request)])
        for g, table in enumerate(request.tables):
            for place in range(min(self.skipped(g, computed), len(table))):
                if table[place] != NULL:
                    keys = self.keys(request, g)
                    if table[place] in self.told.get(request.name, ()):
                        self.told[request.name].discard(table[place])
                    else:
                        key = keys[place] if place < len(keys) else None
                        self.slid.setdefault(request.name, {})[table[place]] = key
                    self.free_blocks([table[place]])
                    table[place] = NULL
        end = self.end_of_chunk(request, budget)
        new = self._take(request, self._room(request, end))
        if new is None:
            return None
        per_group = tuple(map(tuple, new)) if len(new) > 1 else tuple(new[0])
        return ScheduledRequest(request.request_id, request.computed, end - request.computed, per_group)

    def _waiting(self, request, budget):
        if request.awaited:  # outputs of steps from before it was preempted are still to come
            return None
        if request.name in self.broken:
            if self.keeps and (tokens := self.kept_of(request)):
                return self._recompute(request, tokens, budget)
            self.record("look_up_anew", request=request.name)
            self.preempt(request)  # it gives up what it has
        if request.state == "arrived":  # its load has ended
            end = self.end_of_chunk(request, budget)
            if self._take(request, self._room(request, end)) is None:
                return None
            self._tell(request, 0)
            request.state = "running"
            return ScheduledRequest(request.request_id, request.computed, end - request.computed)
        local, by_key = self.local_hit(request)
        expected = self.external_hit(request, local)
        answer, loads = self.machine.get_num_new_matched_tokens(request, local)
        assert answer == expected, (request.request_id, answer, expected)
        if answer is None:
            return None
        total = local + answer
        request.computed = total
        size = [group.chunk_tokens for group in self.groups]
        missing = any(max(self.skipped(g, total), local // n) < -(-total // n) for g, n in enumerate(size))
        assert loads == (answer > 0 and missing), (request.request_id, answer)
        end = total if loads else self.end_of_chunk(request, budget)
        hits = []
        for g, group in enumerate(self.groups):
            keys, skipped = self.keys(request, g), self.skipped(g, total)
            cached = range(skipped, local // group.chunk_tokens)
            hits.append([*[NULL] * skipped, *(by_key[keys[p]] for p in cached)])
            request.tables[g] = hits[g]
        taken = [b for table in hits for b in table if b != NULL]
        evicted = sum(not self.refs[b] for b in taken)
        wanted = self._room(request, end)
        if loads:  # blocks for what is loaded: none of them is skipped
            wanted = [[False] * len(group) for group in wanted]
        if sum(not null for group in wanted for null in group) > len(self.free) - evicted:
            request.tables, request.computed = [[] for _ in self.groups], 0
            return None
        self.touch(taken)
        self._record_hits(request, taken)
        assert self._take(request, wanted) is not None
        self._tell(request, answer)
        if loads:
            request.state = "loading"
            return None
        request.state = "running"
        return ScheduledRequest(request.request_id, request.computed, end - request.computed)

    def _recompute(self, request, tokens, budget):
        """It computes again what comes behind so many tokens, as far as the step has room for."""
        promised, request.computed = request.computed, tokens
        end = self.end_of_chunk(request, budget)
        if self._take(request, self._room(request, end)) is None:
            request.computed = promised
            return None
        if end < promised:
            self.happened.add("a failed load is computed in parts")
        del self.broken[request.name]
        self._tell(request, 0)
        request.state = "running"
        return ScheduledRequest(request.request_id, tokens, end - tokens)

    def _tell(self, request, external):
        tables = [list(t) for t in request.tables]
        self.machine.update_state_after_alloc(request, tables if len(tables) > 1 else tables[0], external)

    def _publish(self, request, tokens, *, silently=False):
        for g, table in enumerate(request.tables):
            for block, key in zip(table[: tokens // self.groups[g].chunk_tokens], self.keys(request, g), strict=False):
                if block != NULL and block not in self.key_of:
                    self.key_of[block] = key
                    if silently or block in self.told.get(request.name, ()):
                        self.untold.add(block)
                    else:
                        self.record("publish", request=request.name, block=block, hash_=named(key))

    def _record_hits(self, request, taken):
        for block in taken:
            if block in self.untold and (owner := self._runs_with(block)) is not None:
                self.untold.discard(block)
                self.happened.add("hit of what an output has named, of one that does not go on")
                self.record("publish", request=owner.name, block=block, hash_=named(self.key_of[block]))
                self.record("hit", request=request.name, block=block)
            elif (
                block in self.untold
            ):  # who filled it has ended, or has lost it: so it is this one, for all that is known
                self.untold.discard(block)
                self.happened.add("hit of what an output has named")
                self.record("allocate", request=request.name, block=block)
                self.record("publish", request=request.name, block=block, hash_=named(self.key_of[block]))
            else:
                self.record("hit", request=request.name, block=block)

    def _runs_with(self, block):
        running = (r for r in self.requests.values() if r.state == "running" and block not in self.told.get(r.name, ()))
        return next((r for r in running if any(block in table for table in r.tables)), None)

    def _tell_what_outputs_named(self, rows):
        """Of those that go on: until a request does, its last token may be taken back."""
        for request in [self.requests[row.request_id] for row in rows]:
            for block in [b for table in request.tables for b in table if b in self.untold]:
                if block not in self.told.get(request.name, ()):
                    self.untold.discard(block)
                    self.record("publish", request=request.name, block=block, hash_=named(self.key_of[block]))

    def _begin(self, metadata):
        for job in metadata.load_jobs:
            key, ready = self.tier[job.chunk]
            assert ready, f"{job}: what it loads is still being stored"
            assert job.block != NULL, f"{job}: a null block is loaded into"
            assert self.key_at(job) == key, f"{job}: {key} is not what belongs there"
            self._queue(job, False, key)
        loading = {}
        for job in metadata.load_jobs:
            loading.setdefault(job.request, set()).add(job.block)
        for name, blocks in loading.items():
            assert blocks == self.to_be_loaded(self.requests[name]), f"{name} is not loaded whole, or too much of it is"
        for job in metadata.store_jobs:
            assert job.block != NULL, f"{job}: a null block is stored"
            key = self.stored_key(job)
            others = [
                c
                for c in self.copies.values()
                if c.job.chunk == job.chunk and not c.stale and c.ranks("coming", "queued")
            ]
            assert not others, f"{job}: two copies, one chunk"
            self.tier[job.chunk] = key, False
            self._queue(job, True, key)
        return [job.job for job in (*metadata.load_jobs, *metadata.store_jobs)]

    def _queue(self, job, store, key):
        owner = self.machine.ledger.function("job_request")[job.job]  # an id may name one that is gone as well
        self.copies[job.job] = Copy(job, store, key, owner, ["coming"] * self.workers)

    def key_at(self, job):
        request = self.requests[job.request]
        places = [(g, p) for g, table in enumerate(request.tables) for p, b in enumerate(table) if b == job.block]
        ((g, place),) = places
        return self.keys(request, g)[place]

    def to_be_loaded(self, request):
        local = self.machine._tracked[request.request_id].local_tokens
        return {
            b
            for g, table in enumerate(request.tables)
            for b in table[local // self.groups[g].chunk_tokens :]
            if b != NULL
        }

    def stored_key(self, job):
        """What a store is to save: its request has just left the engine, perhaps, or a window has passed the block."""
        name = self.machine.ledger.function("job_request")[job.job]
        if name in self.gone:
            return self.gone[name][job.block][0]
        tables = self.requests[job.request].tables
        if job.block in self.slid.get(name, ()):
            return self.slid[name][job.block]
        assert any(job.block in table for table in tables), f"{job}: its request has lost the block"
        return self.key_at(job)

    # -- between steps ----------------------------------------------------------------------------

    def update(self, report=(), *, late=False, outputs=True):
        """The oldest step's outputs are there, with reports on these; requests that have all their tokens end.

        Args:
            report: jobs, all of whose workers report that have them, or a job and a worker.
            late: that loads are over is told another time.
            outputs: whether there are any; otherwise reports come by themselves.
        """
        if self.under_way and outputs:
            self._process()
        for request in list(self.requests.values()):
            if request.state in ("running", "waiting") and request.is_done:
                self.finish(request)
        pairs = [
            p for of in report for p in ([of] if isinstance(of, tuple) else [(of, r) for r in range(self.workers)])
        ]
        flushed, self.flushed_reports = self.flushed_reports, []
        for job, rank in dict.fromkeys(pairs):
            if (job, rank) not in flushed and self.copies[job].states[rank] not in ("coming", "over"):
                self.copy(job, rank)
                well = self.copies[job].states[rank] == "copied"
                self.record.hidden("report" if well else "report_failure", rank, job)
                flushed.append((job, rank))
        completed, failed = {}, {}
        for job, rank in flushed:
            copy = self.copies[job]
            well = copy.states[rank] == "copied"
            counts = completed if well else failed
            counts[job] = counts.get(job, 0) + 1
            copy.states[rank] = "over"
            if not well:
                copy.went_wrong = True
                if not copy.store:
                    self.refused.add(copy.owner)
        for counts, event in ((completed, "acknowledge"), (failed, "acknowledge_failure")):
            for job, times in counts.items():
                for _ in range(times):
                    self.record(event, job=job)
        for job in {**completed, **failed}:
            if self.copies[job].ranks("over") == list(range(self.workers)):
                self._is_over(self.copies.pop(job))
        loading = {c.owner for c in self.copies.values() if not c.store}
        received = [r for r in self.requests.values() if r.state in ("loading", "held") and r.name not in loading]
        received = [] if late else received
        for request in received:
            self.record("loaded", request=request.name)
        self.machine.update_connector_output(ConnectorOutput(completed, failed, tuple(r.request_id for r in received)))
        for request in received:
            if request.state == "held":
                self._let_go(request)
            else:
                request.state = "waiting" if request.name in self.broken else "arrived"

    def _is_over(self, copy):
        chunk = copy.job.chunk
        if not copy.store and copy.went_wrong:
            self.broken.setdefault(copy.owner, set()).add(copy.job.block)
        if not copy.store or copy.stale:
            return
        if copy.went_wrong:
            del self.tier[chunk]
        else:
            self.tier[chunk] = copy.key, True

    def reset(self):
        """The GPU's prefix cache and the tier are to forget what they have; whether both have."""
        self.record("reset_cache")
        empty, forgets = not any(self.refs.values()), not (self.holds_on_reset and self.copies)
        for copy in self.copies.values():
            copy.stale = True
        self.tier = {} if forgets else {chunk: of for chunk, of in self.tier.items() if of[1]}
        if empty:
            self.key_of.clear()
            self.untold.clear()
        if empty and forgets:
            for books in (*self.content, *self.chunk_content):
                books.clear()
        assert self.machine.reset_cache() == (empty and forgets)
        return empty and forgets

    def finish(self, request):
        self.record("finish", request=request.name)
        self.machine.request_finished(request, request.tables if len(request.tables) > 1 else request.tables[0])
        if request.state == "loading":
            request.state = "held"
        else:
            self._keep(request)
            self._let_go(request)

    def _keep(self, request):
        """Until the next metadata it is known what it had."""
        keys = [self.keys(request, g) for g in range(len(self.groups))]
        held = {
            block: keys[g][place] if place < len(keys[g]) else None
            for g, table in enumerate(request.tables)
            for place, block in enumerate(table)
            if block != NULL and block not in self.told.get(request.name, ())
        } | self.slid.get(request.name, {})
        self.gone[request.name] = {block: (key, self.record.allocation(block)) for block, key in held.items()}

    def _let_go(self, request):
        self.refused.discard(request.name)
        self.gone.setdefault(request.name, {})
        self.preempt(request)
        request.state = "gone"
        del self.requests[request.request_id]
