"""A small engine with several KV cache groups, after vLLM's scheduler: one pool of blocks, windows that slide, workers.

It keeps its own books of the tier, made from what metadata carry, and its own content of every block and chunk on every
worker. Copies happen, fail and are reported when it is told to, worker by worker. Whatever the machine does, the engine
asserts that each reader sees what it came for. What happens it records (``grouped_record``).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import lcm

from interlock.statemachine.lookup import ChunkedLocal, FullAttention, Mamba, SlidingWindow
from interlock.statemachine.machine import KVOffloadMachine
from interlock.statemachine.port import ConnectorOutput, ScheduledRequest, ScheduledStep
from support.grouped_record import GroupedRecord

NULL = 0


def named(key):
    """A key as a trace has it."""
    return f"{key[0]}:{key[1]}"


@dataclass
class Request:
    request_id: str
    symbols: list[str]
    hash_tokens: int
    num_tokens: int
    num_prompt_tokens: int
    max_tokens: int
    tables: list[list[int]]
    computed: int = 0
    state: str = "waiting"
    name: str = ""
    """In the ledger: an id may come again."""

    @property
    def block_hashes(self):
        return ["".join(self.symbols[: n + 1]) for n in range(self.num_tokens // self.hash_tokens)]

    def text(self, tokens):
        """What so many tokens say, the last symbol whole."""
        return "".join(self.symbols[: -(-tokens // self.hash_tokens)])

    def grow(self):
        self.num_tokens += 1
        if self.num_tokens > len(self.symbols) * self.hash_tokens:
            self.symbols.append(f"<{self.request_id}{len(self.symbols)}>")


@dataclass
class Copy:
    job: object
    store: bool
    key: tuple
    owner: str
    """The name of the request that it is for."""
    states: list
    """By worker: queued, copied or failed, and over once that is reported."""
    went_wrong: bool = False
    stale: bool = False
    """A reset has made it worthless."""

    def ranks(self, *states):
        return [rank for rank, state in enumerate(self.states) if state in states]


@dataclass
class GroupedEngine:
    groups: list
    hash_tokens: int
    num_blocks: int
    machine: KVOffloadMachine
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

    def __post_init__(self):
        self.free = deque(range(1, self.num_blocks + 1))
        self.refs = dict.fromkeys(self.free, 0)
        self.key_of = {}
        self.content, self.chunk_content = ([{} for _ in range(self.workers)] for _ in range(2))
        self.record = GroupedRecord()
        self.slid = {}
        """By name, blocks that have slid out, with their keys, of which nobody could know yet."""
        self.gone = {}
        """By name of who has ended since the last metadata: its blocks, each with its key and its allocation."""
        self.broken, self.refused = set(), set()
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
        return block

    # -- groups -----------------------------------------------------------------------------------

    def keys(self, request, g):
        """One per full block of a group."""
        per_block = self.groups[g].chunk_tokens // self.hash_tokens
        return [(g, h) for h in request.block_hashes[per_block - 1 :: per_block]]

    def skipped(self, g, tokens):
        """Blocks that the next token needs no more, as vLLM has it."""
        group = self.groups[g]
        match group:
            case FullAttention():
                return 0
            case SlidingWindow():
                return max(0, tokens - group.window) // group.chunk_tokens
            case ChunkedLocal():
                return tokens // group.window * group.window // group.chunk_tokens
            case Mamba():
                return max(0, tokens - 1) // group.chunk_tokens

    def end_of_chunk(self, request, budget):
        """How far a request computes in a step; with a Mamba group, to the ends of blocks while it is prefilled."""
        start, prefill_end = request.computed, max(request.num_prompt_tokens, request.num_tokens - 1)
        end = min(start + budget, request.num_tokens)
        blocks = [g.chunk_tokens for g in self.groups if isinstance(g, Mamba)]
        if blocks and start < prefill_end and end // max(blocks) * max(blocks) > start:
            end = end // max(blocks) * max(blocks)
        return end

    # -- what a hit is, by trying every length ----------------------------------------------------

    def longest(self, request, has, limit, step):
        for tokens in range(limit // step * step, 0, -step):
            answers = [
                has(g, place)
                for g, group in enumerate(self.groups)
                for place in range(self._first(g, tokens), -(-tokens // group.chunk_tokens))
            ]
            if all(g.fits(tokens) == tokens for g in self.groups) and "miss" not in answers:
                return tokens, "pending" in answers
        return 0, False

    def _first(self, g, tokens):
        return self.groups[g].first_needed(tokens)

    def local_hit(self, request):
        by_key = {key: block for block, key in self.key_of.items()} if self.finds else {}
        keys = [self.keys(request, g) for g in range(len(self.groups))]

        def has(g, place):
            return "hit" if place < len(keys[g]) and keys[g][place] in by_key else "miss"

        tokens, _ = self.longest(request, has, request.num_tokens - 1, self.alignment)
        return tokens, by_key

    def external_hit(self, request, local):
        """What the machine has to answer; to whom a load has failed, that it has nothing."""
        if request.name in self.refused:
            return 0
        keys = [self.keys(request, g) for g in range(len(self.groups))]
        (first, *others) = self.groups
        prefix_only = not others and isinstance(first, FullAttention) and first.chunk_tokens == self.hash_tokens

        def has(g, place):
            if (place + 1) * self.groups[g].chunk_tokens <= local:
                return "hit"
            key = keys[g][place] if place < len(keys[g]) else None
            states = {ready for k, ready in self.tier.values() if k == key}
            # With one group of full attention, and a hash to each block, nothing is waited for: what is being stored is computed.
            return "hit" if True in states else "pending" if states and not prefix_only else "miss"

        tokens, later = self.longest(request, has, request.num_tokens - 1, self.hash_tokens)
        if tokens <= local:
            return 0
        busy = not self.proceeds and any(
            c.store and c.owner == request.name and not c.stale for c in self.copies.values()
        )
        return None if later or busy else tokens - local

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
        for table in request.tables:
            self.free_blocks([b for b in reversed(table) if b != NULL])
            table.clear()
        request.computed, request.state = 0, "waiting"

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
        """A schedule(), and its step on the worker."""
        steps = bool(self.requests or self.gone) or self.machine.has_pending_work()
        self.record.schedule_begins()
        preempted = [r for r in self.requests.values() if r.state == "running" and r.request_id in preempt]
        for request in preempted:
            self.record("preempt", request=request.name)
            self.slid.pop(request.name, None)
            self.preempt(request)
        arrived = [r for r in self.requests.values() if r.state == "arrived"]
        rows = [row for r in list(self.requests.values()) if r.state == "running" and (row := self._running(r, budget))]
        rows += [row for r in list(self.requests.values()) if r.state in ("waiting", "arrived") and r not in preempted
                 and (row := self._waiting(r, budget))]  # fmt: skip
        for row in rows:
            request = self.requests[row.request_id]
            self._publish(request, row.num_computed_tokens + row.num_scheduled_tokens)
            if request in arrived and not self.record.tells_of(request.name):
                self.record("admit_loaded", request=request.name)
        metadata = self.machine.build_connector_meta(ScheduledStep.of(rows, tuple(r.request_id for r in preempted)))
        self.record.schedule_ends(self.slid, {self.requests[row.request_id].name for row in rows})
        self._begin(metadata)
        if steps:
            self.record.metadata(metadata, self.copies, self.gone, self.workers)
        else:
            assert metadata == type(metadata)(), metadata
        self.gone.clear()
        for rank in range(self.workers):
            self._forward(rows, rank)
        for row in rows:
            request = self.requests[row.request_id]
            request.computed = row.num_computed_tokens + row.num_scheduled_tokens
            if request.computed == request.num_tokens:
                request.grow()
        return metadata

    def _running(self, request, budget):
        if request.computed >= request.num_tokens:
            return None
        for g, table in enumerate(request.tables):
            for place in range(min(self.skipped(g, request.computed), len(table))):
                if table[place] != NULL:
                    keys = self.keys(request, g)
                    self.slid.setdefault(request.name, {})[table[place]] = keys[place] if place < len(keys) else None
                    self.free_blocks([table[place]])
                    table[place] = NULL
        end = self.end_of_chunk(request, budget)
        new = self._take(request, self._room(request, end))
        if new is None:
            return None
        per_group = tuple(map(tuple, new)) if len(new) > 1 else tuple(new[0])
        return ScheduledRequest(request.request_id, request.computed, end - request.computed, per_group)

    def _waiting(self, request, budget):
        if request.name in self.broken:  # its load has failed: it gives up what it has, and is looked up anew
            self.broken.discard(request.name)
            self.record("look_up_anew", request=request.name)
            self.preempt(request)
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
        for block in taken:
            self.record("hit", request=request.name, block=block)
        assert self._take(request, wanted) is not None
        self._tell(request, answer)
        if loads:
            request.state = "loading"
            return None
        request.state = "running"
        return ScheduledRequest(request.request_id, request.computed, end - request.computed)

    def _tell(self, request, external):
        tables = [list(t) for t in request.tables]
        self.machine.update_state_after_alloc(request, tables if len(tables) > 1 else tables[0], external)

    def _publish(self, request, tokens):
        for g, table in enumerate(request.tables):
            for block, key in zip(table[: tokens // self.groups[g].chunk_tokens], self.keys(request, g), strict=False):
                if block != NULL and block not in self.key_of:
                    self.key_of[block] = key
                    self.record("publish", request=request.name, block=block, hash_=named(key))

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
            others = [c for c in self.copies.values() if c.job.chunk == job.chunk and not c.stale and c.ranks("queued")]
            assert not others, f"{job}: two copies, one chunk"
            self.tier[job.chunk] = key, False
            self._queue(job, True, key)
        for job in metadata.jobs_to_flush:
            if job in self.copies:
                copy = self.copies[job]
                for rank in copy.ranks("queued"):
                    self._move(copy, rank)
                self.flushed_reports += [(job, rank) for rank in copy.ranks("copied", "failed")]

    def _queue(self, job, store, key):
        owner = self.machine.ledger.function("job_request")[job.job]  # an id may name one that is gone as well
        self.copies[job.job] = Copy(job, store, key, owner, ["queued"] * self.workers)

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

    def _forward(self, rows, rank):
        contents = self.content[rank]
        for row in rows:
            request = self.requests[row.request_id]
            start, end = row.num_computed_tokens, row.num_computed_tokens + row.num_scheduled_tokens
            for g, group in enumerate(self.groups):
                size, table = group.chunk_tokens, request.tables[g]
                for place in range(self.skipped(g, start), -(-start // size)):
                    upto = min(start, (place + 1) * size)
                    there, text, last = contents.get(table[place], (None, "", 0))
                    enough = last == upto if isinstance(group, Mamba) else last >= upto
                    assert (there, enough, text.startswith(request.text(upto))) == (g, True, True), (
                        f"{request.request_id} reads {text} up to {last} of group {there}, for {request.text(upto)}"
                    )
                for place in range(start // size, -(-end // size)):
                    if table[place] != NULL:
                        upto = min(end, (place + 1) * size)
                        contents[table[place]] = g, request.text(upto), upto

    # -- between steps ----------------------------------------------------------------------------

    def copy(self, job, rank=None):
        """The bytes of a queued job move, on one worker or on all."""
        copy = self.copies[job]
        for at in copy.ranks("queued"):
            if rank in (None, at):
                self._move(copy, at)
                self.record.hidden("copy_store" if copy.store else "copy_load", at, job)

    def fail(self, job, rank):
        """The copy of a queued job fails on a worker: garbage is left."""
        copy = self.copies[job]
        assert copy.states[rank] == "queued"
        copy.states[rank] = "failed"
        if copy.store:
            self.chunk_content[rank].pop(copy.job.chunk, None)
        else:
            self.content[rank].pop(copy.job.block, None)
        self.record.hidden("copy_fails" if copy.store else "load_fails", rank, job)

    def _move(self, copy, rank):
        copy.states[rank] = "copied"
        block, chunk = copy.job.block, copy.job.chunk
        blocks, chunks = self.content[rank], self.chunk_content[rank]
        source, sink, at = (blocks.get(block), chunks, chunk) if copy.store else (chunks.get(chunk), blocks, block)
        if not copy.stale:
            self._is(source, copy, "saves" if copy.store else "loads")
        if source is None:
            sink.pop(at, None)
        else:
            sink[at] = source

    def _is(self, content, copy, verb):
        g, text, last = content or (None, "", 0)
        whole = g is not None and last % self.groups[g].chunk_tokens == 0
        assert ((g, text), whole) == (copy.key, True), f"{copy.job} {verb} {text} up to {last} for {copy.key}"

    def unreported(self, *states):
        """Job and worker of each copy that is in one of these states and is not reported by itself."""
        flushed = set(self.flushed_reports)
        return [(j, r) for j, c in self.copies.items() for r in c.ranks(*states) if (j, r) not in flushed]

    def update(self, report=(), *, late=False):
        """The step's outputs are there, with reports on these; requests that have all their tokens end.

        Args:
            report: jobs, all of whose workers report, or a job and a worker.
            late: that loads are over is told another time.
        """
        for request in list(self.requests.values()):
            if request.state == "running" and request.num_tokens > request.num_prompt_tokens + request.max_tokens:
                self.finish(request)
        pairs = [
            p for of in report for p in ([of] if isinstance(of, tuple) else [(of, r) for r in range(self.workers)])
        ]
        flushed, self.flushed_reports = self.flushed_reports, []
        for job, rank in dict.fromkeys(pairs):
            if (job, rank) not in flushed and self.copies[job].states[rank] != "over":
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
            self.broken.add(copy.owner)
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
            if block != NULL
        } | self.slid.get(request.name, {})
        self.gone[request.name] = {block: (key, self.record.allocation(block)) for block, key in held.items()}

    def _let_go(self, request):
        for books in (self.broken, self.refused):
            books.discard(request.name)
        self.slid.pop(request.name, None)
        self.gone.setdefault(request.name, {})
        self.preempt(request)
        del self.requests[request.request_id]
