"""A small engine around ``KVOffloadScheduler`` that makes any choice which an engine may make.

Which requests get how far in a schedule(), how many hits are used, which free block is given away, when bytes move,
which reports come with which output: whoever drives it chooses (``choose``). It keeps the bytes of every block and
chunk on every worker, and its own books of who has what, both of which a test compares with what the machine says.
It records what an observer at the boundary sees, and, where its order is the one of the specification (depth 1), what
the workers did in between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence, Set

from interlock.adapters.embedded.events import Recorder
from interlock.adapters.embedded.ghost import Fault, Ghost
from interlock.adapters.embedded.metadata import MetadataReader
from interlock.adapters.embedded.parking import Parking
from interlock.adapters.embedded.request import Request, Status
from interlock.adapters.embedded.tokens import prompt_of
from interlock.adapters.embedded.worker import PendingCopy, Worker
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.port import ConnectorMetadata, ConnectorOutput, ScheduledRequest, ScheduledStep
from interlock.statemachine.trace import TraceEvent, event
from support.kv_parts import BLOCK_SIZE, Choose, OpenJob, Pool, Row, Shape, Step, Transfers, Wanted

DEADLINE_STEPS = 3
"""Schedules for which a request is told to ask again later."""


class KVEngine:
    """An engine for a machine that it makes.

    Args:
        changes: switches that differ from the default preset.
    """

    def __init__(self, shape: Shape, changes: Mapping[str, str] | None = None) -> None:
        assert shape.groups == 1, "several KV cache groups: tests/support/grouped_engine.py"
        self.shape, self.changes = shape, dict(changes or {})
        values = SPECIFICATION.switch_values(changes=self.changes)
        self.machine = KVOffloadScheduler(
            block_size=BLOCK_SIZE,
            num_chunks=shape.chunks,
            num_workers=shape.workers,
            switches=values,
            deadline=DEADLINE_STEPS,
            clock=lambda: self.recorder.step,
            policy=shape.policy,
            checking=shape.checking,
            contain=shape.contain,
        )
        self.pool = Pool(shape.blocks)
        self.machine.bind_gpu_block_pool(self.pool)
        self.parking = Parking(self.pool)
        self.seen: list[TraceEvent] = []
        self.recorder = Recorder(self._note)
        self.transfers = Transfers(shape.workers)
        self.requests: dict[str, Request] = {}
        self.metadata = MetadataReader(self.requests, self.transfers, self.recorder, oracle=True)
        self._faults: list[Fault] = []
        ghosts = [Ghost(rank, self._faults, self._now) for rank in range(shape.workers)]
        self.workers = [Worker(rank, ghost, values) for rank, ghost in enumerate(ghosts)]
        self.waiting: list[Request] = []
        self.running: list[Request] = []
        self.loads: dict[str, dict[int, int]] = {}
        """The loads of a request that is loading or held: place in its table by job."""
        self.broken: dict[str, list[int]] = {}
        """Places that a load has failed to fill, until the request goes on."""
        self.under_way: deque[Step] = deque()
        self.to_preempt: list[str] = []
        self.reports: list[tuple[int, int, bool]] = []
        """Rank, job, and whether it went well: what the machine has not heard."""
        self.stale: set[int] = set()
        """Jobs that a reset has made worthless."""
        self.refused: set[str] = set()
        """Requests of which a load has failed."""
        self.put_off: dict[str, int] = {}
        """The schedule in which a request was first told to ask later, until it is admitted."""
        self.wanted: Wanted | None = None
        self.untold: set[int] = set()
        """Blocks that got their hash with an output, of which the machine could not know yet."""
        self._kept: dict[int, str] = {}
        """Blocks that the next metadata has to store, with their hashes: their requests ended before the scan came."""
        self._fresh: set[int] = set()
        """Blocks that were given away in this schedule()."""
        self._received: list[str] = []
        """Requests whose loads are over, which the machine is still to be told."""
        self.wrong: list[str] = []
        """What the machine answered otherwise than it has to."""

    # -- what it records -----------------------------------------------------------------------------

    def _note(self, name: str, **fields: object) -> None:
        self.seen.append(event(len(self.seen), name, **fields))

    def _note_hidden(self, name: str, rank: int, job: int | None = None) -> None:
        """What a worker does, which nobody sees; at depth 2 the schedule() after it may be recorded already."""
        if self.shape.depth == 1:
            more = {} if job is None else {"j": f"job{job}"}
            self._note(name, hidden=True, w=f"worker{rank}", **more)

    def _now(self) -> tuple[int, int]:
        return len(self.seen), self.recorder.step

    @property
    def faults(self) -> list[Fault]:
        """Readers that saw garbage; what a job reads that a reset has made worthless is nobody's."""
        return [f for f in self._faults if f.job not in self.stale]

    # -- requests ------------------------------------------------------------------------------------

    @property
    def between_steps(self) -> bool:
        """Whether the scheduler is free to hear of arrivals, ends and resets."""
        return len(self.under_way) < self.shape.depth

    def id_is_free(self, name: str) -> bool:
        """Whether a request may have this id: not before the metadata after the end of the one before it."""
        return name not in self.requests and name not in self.metadata.kept

    def arrive(self, name: str, symbols: str, tail: int, max_tokens: int) -> Request | None:
        """A request of a full block per symbol and ``tail`` tokens; ``None`` if it could never fit."""
        request = Request(name, prompt_of(symbols, tail, BLOCK_SIZE), max_tokens, BLOCK_SIZE)
        if self._room(request, request.num_tokens_at_end) > self.shape.blocks:
            return None
        self.requests[name] = request
        self.waiting.append(request)
        self.recorder("add_request", request=name)
        self.machine.on_new_request(request)
        return request

    def end(self, request: Request) -> None:
        """It ends: stop, length or abort. One that is loading is held until that is over."""
        self.recorder("finish", request=request.request_id)
        self.refused.discard(request.request_id)
        self._keep(request)
        if self.machine.request_finished(request, request.table):
            self.wrong.append(f"{request.request_id}: frees are delayed, although fences and references suffice")
        if request.status is Status.LOADING:
            request.status = Status.HELD
        else:
            self._let_go(request)

    def _let_go(self, request: Request) -> None:
        name = request.request_id
        del self.requests[name]
        for queue in (self.waiting, self.running):
            if request in queue:
                queue.remove(request)
        for books in (self.loads, self.broken, self.put_off):
            books.pop(name, None)
        request.status = Status.FINISHED
        self.metadata.keep(request)
        self.parking.free(request)

    def reset(self) -> bool:
        """The GPU's prefix cache and the tier are to forget what they have; whether both have."""
        self.recorder("reset_cache")
        empty = self.pool.reset()
        self.stale |= self.transfers.open.keys()
        self._kept.clear()
        if empty:
            self.untold.clear()
            for worker in self.workers:
                worker.ghost.blocks.clear()
                worker.ghost.chunks.clear()
        if self.machine.reset_cache() != empty:
            self.wrong.append(f"the reset {'succeeds' if empty else 'fails'}, and the machine says otherwise")
        return empty

    def has_reason_to_step(self) -> bool:
        """Whether there is a request, or the machine has something to do."""
        return bool(self.requests or self.metadata.kept) or self.machine.has_pending_work()

    # -- schedule() ----------------------------------------------------------------------------------

    def schedule(self, choose: Choose, *, empty: bool = False) -> ConnectorMetadata:
        """One pass: preemptions, those that run, those that were loaded, those that wait; then the metadata.

        Args:
            empty: nobody gets anything to compute or to load.
        """
        assert self.between_steps
        self.recorder.step_is_over()
        self.recorder.step += 1
        preempted = self._preempt()
        rows: list[Row] = []
        scheduled: list[ScheduledRequest] = []
        for request in () if empty else tuple(self.running):
            new = self._go_on(request, choose, rows)
            if new is not None:
                scheduled.append(rows[-1].as_scheduled(tuple(new)))
        for request in [r for r in self.requests.values() if r.status is Status.LOADED and not empty]:
            if self.wanted is not None or choose(0, 3) < 3:
                self._promote(request, choose, rows)
        for request in () if empty else tuple(self.waiting):
            if request not in preempted or self.wanted is not None or choose(0, 1):
                self._admit(request, choose, rows)
        scheduled += [row.as_scheduled() for row in rows[len(scheduled) :]]
        stored = self._stored()
        metadata = self._build(ScheduledStep.of(scheduled, tuple(r.request_id for r in preempted)))
        step = Step(self.recorder.step, metadata, rows, self.shape.bare, set(range(self.shape.workers)))
        self.under_way.append(step)
        self._look_for_what_was_left(rows, stored)
        return metadata

    def step_for_another(self) -> ConnectorMetadata:
        """A step that the engine makes for the sake of something that the machine has no part in."""
        self.recorder.step_is_over()
        return self.machine.build_connector_meta(ScheduledStep())

    def _build(self, step: ScheduledStep) -> ConnectorMetadata:
        known = {*self.loads, *self._received}
        loading = {n: r for n, r in self.requests.items() if r.status is Status.LOADING and n not in known}
        metadata = self.machine.build_connector_meta(step)
        self.metadata.read(metadata)
        for job in metadata.load_jobs:
            self.loads.setdefault(job.request, {})[job.job] = self.requests[job.request].table.index(job.block)
        for name, request in loading.items():
            places = list(range(request.published, len(request.table)))
            if sorted(self.loads.get(name, {}).values()) != places:
                self.wrong.append(f"{name}: was promised loads at {places}, and gets {self.loads.get(name)}")
        return metadata

    def _preempt(self) -> list[Request]:
        """Those of whom it was asked, and the newest if nobody who runs could get a block otherwise."""
        victims = [r for r in self.running if r.request_id in self.to_preempt]
        self.to_preempt.clear()
        if not victims and not self.pool.num_free and not self.parking.num_blocks:
            stuck = [r for r in self.running if len(r.table) < self._room(r, r.num_computed_tokens + 1)]
            if len(self.running) > 1 and len(stuck) == len(self.running):
                victims = [self.running[-1]]
        for request in victims:
            self.recorder("preempt", request=request.request_id)
            self.running.remove(request)
            self.parking.free(request)
            request.table, request.status = [], Status.WAITING
            request.num_computed_tokens = request.published = 0
            self.waiting.insert(0, request)
        return victims

    def _go_on(self, request: Request, choose: Choose, rows: list[Row]) -> list[int] | None:
        """The new blocks of a request that goes on; ``None`` if it computes nothing in this step."""
        left = request.num_known_tokens - request.num_computed_tokens
        if not left or (self.wanted is None and choose(0, 5) == 5):
            return None
        plan = self._plan(request, request.num_computed_tokens, len(request.table), self.pool.num_free, choose)
        return None if plan is None else self._compute(request, *plan, choose, rows)

    def _promote(self, request: Request, choose: Choose, rows: list[Row]) -> None:
        """Loads are over: what they brought is addressable, what one of them failed to bring is computed."""
        broken = self.broken.get(request.request_id, ())
        computed = min([request.num_computed_tokens, *(p * BLOCK_SIZE for p in broken)])
        plan = self._plan(request, computed, len(request.table), self.pool.num_free, choose, BLOCK_SIZE)
        if plan is not None:
            self.broken.pop(request.request_id, None)
            request.num_computed_tokens = computed
            self._start(request, *plan, choose, rows)

    def _admit(self, request: Request, choose: Choose, rows: list[Row]) -> None:
        """A request that waits is asked about; perhaps it is let in, and then it loads, or computes."""
        hits = self._hits(request)
        if hits and (choose(0, 1) if self.wanted is None else not self.wanted.hits):
            del hits[choose(0, len(hits) - 1) :]
        external = self._match(request, len(hits))
        if external is None or (self.wanted is None and choose(0, 4) == 4):
            return  # asked, and not let in: for want of room, or of tokens
        if self.wanted is not None and not self.wanted.loads:
            external = 0
        elif external and choose(0, 5) == 5:
            external = choose(0, external - 1)  # an offer may be dropped
        free = self.pool.num_free - sum(not self.pool.references(b) for b in hits)
        start = len(hits) * BLOCK_SIZE
        plan = None if external else self._plan(request, start, len(hits), free, choose)
        if external > free or not (external or plan):
            return
        self.put_off.pop(request.request_id, None)
        self.pool.touch(hits)
        for place, block in enumerate(hits):
            owner = next((r for r in self.running if block in r.table), None)
            if block in self.untold and owner is not None:  # it computes nothing in this step
                self.untold.discard(block)
                self.recorder("publish", request=owner.request_id, block=block, hash_=request.block_hashes[place])
                self.recorder("hit", request=request.request_id, block=block)
            elif block in self.untold:  # who filled it has ended: so it is this one, for all that is known
                self.untold.discard(block)
                self.recorder("allocate", request=request.request_id, block=block)
                self.recorder("publish", request=request.request_id, block=block, hash_=request.block_hashes[place])
            else:
                self.recorder("hit", request=request.request_id, block=block)
        request.table, request.published, request.num_computed_tokens = hits, len(hits), start
        if plan is not None:
            self._start(request, *plan, choose, rows)
            return
        self.waiting.remove(request)
        self._take(request, external, choose)
        self.machine.update_state_after_alloc(request, tuple(request.table), external * BLOCK_SIZE)
        request.num_computed_tokens += external * BLOCK_SIZE
        request.status = Status.LOADING

    def _start(self, request: Request, tokens: int, blocks: int, choose: Choose, rows: list[Row]) -> None:
        self._compute(request, tokens, blocks, choose, rows)
        self.machine.update_state_after_alloc(request, tuple(request.table), 0)
        if request in self.waiting:
            self.waiting.remove(request)
        request.status = Status.RUNNING
        self.running.append(request)

    def _hits(self, request: Request) -> list[int]:
        found: list[int] = []
        for hash_ in request.block_hashes[: (request.num_tokens - 1) // BLOCK_SIZE] if self.shape.hits else ():
            block = self.pool.find(hash_)
            if block is None:
                break
            found.append(block)
        return found

    # -- blocks --------------------------------------------------------------------------------------

    def _room(self, request: Request, tokens: int) -> int:
        """Blocks that a request must have once it has so many tokens."""
        return max(1, tokens // BLOCK_SIZE) if self.shape.bare else -(-tokens // BLOCK_SIZE)

    def _plan(
        self, request: Request, start: int, held: int, free: int, choose: Choose, least: int = 1
    ) -> tuple[int, int] | None:
        """How many tokens a request computes, mostly all, and how many blocks it gets; ``None``: there is no room."""
        left = request.num_known_tokens - start
        if self.wanted is not None:
            tokens = min(max(1, self.wanted.tokens - start), left)
            return (tokens, self.wanted.blocks) if self.wanted.blocks <= free else None
        tokens = left if choose(0, 2) < 2 else choose(min(least, left), left)
        tokens = min(tokens, (held + free + self.shape.bare) * BLOCK_SIZE - start)
        if tokens <= 0:
            return None
        least = max(0, self._room(request, start + tokens) - held)
        # A partial block without room of its own, or one more than is needed.
        ahead = -(-(start + tokens) // BLOCK_SIZE) - held if self.shape.bare else least + (choose(0, 7) == 7)
        blocks = choose(least, ahead) if least < ahead <= free else least
        return (tokens, blocks) if blocks <= free else None

    def _compute(self, request: Request, tokens: int, blocks: int, choose: Choose, rows: list[Row]) -> list[int]:
        """A row of the step; the new blocks."""
        new = self._take(request, blocks, choose)
        start = request.num_computed_tokens
        end = request.num_computed_tokens = start + tokens
        self._publish(request, end)
        samples = end == request.num_known_tokens
        if samples and end < request.num_tokens_at_end:
            request.num_known_tokens += 1
        request.last_step = self.recorder.step
        rows.append(Row(request, request.table, start, end, samples))
        return new

    def _take(self, request: Request, count: int, choose: Choose) -> list[int]:
        """Any free blocks."""
        taken: list[int] = []
        for _ in range(count):
            self.pool.put_first(choose(0, self.pool.num_free - 1))
            taken += self.pool.allocate(1)
            self._fresh.add(taken[-1])
            self.untold.discard(taken[-1])
            self.recorder("allocate", request=request.request_id, block=taken[-1])
        request.table += taken
        return taken

    def _publish(self, request: Request, tokens: int) -> None:
        """Blocks that are full once the step has run; nobody knows the hash of tokens that are still to come."""
        full = min(tokens, request.num_tokens) // BLOCK_SIZE
        for place in range(request.published, full):
            block, hash_ = request.table[place], request.block_hashes[place]
            told = block in self.pool.hashes and block not in self.untold
            self.pool.publish(block, hash_)
            self.untold.discard(block)
            if not told:
                self.recorder("publish", request=request.request_id, block=block, hash_=hash_)
        request.published = max(request.published, full)

    def _name(self, request: Request) -> None:
        """With an output, full blocks get the hashes that they had none for, as in vLLM's ``AsyncScheduler``.

        The output may be of the life before: of this one no more is full than has been scheduled.
        """
        known = min(request.num_computed_tokens, request.num_tokens - 1)
        for place in range(request.published, known // BLOCK_SIZE):
            if request.table[place] not in self.pool.hashes:
                self.pool.publish(request.table[place], request.block_hashes[place])
                self.untold.add(request.table[place])

    # -- workers -------------------------------------------------------------------------------------

    def can_run(self, rank: int) -> Step | None:
        """The next step of a worker, if it has one and all tokens are there that it computes."""
        step = next((s for s in self.under_way if rank in s.waits_for), None)
        if step is None or any(row.end > row.request.num_tokens for row in step.rows):
            return None
        return step

    def run(self, rank: int) -> None:
        """A worker runs its next step: flushes, the forward, and then it has what the metadata carries."""
        step = self.can_run(rank)
        assert step is not None
        metadata = step.metadata
        arrivals = [
            PendingCopy(job, is_store, self.metadata.expected.get(job.job))
            for is_store, jobs in ((True, metadata.store_jobs), (False, metadata.load_jobs))
            for job in jobs
        ]
        step.waits_for.discard(rank)
        self.reports += [(rank, job, done) for job, done in self.workers[rank].run_step(metadata, arrivals, step)]
        self._note_hidden("run_step", rank)

    def run_all(self) -> None:
        """All workers run the oldest step that is not over."""
        for rank in sorted(self.under_way[0].waits_for):
            self.run(rank)

    def copies(self, *states: str) -> list[tuple[int, int]]:
        """Rank and job of what is with the workers in one of these states."""
        return [(w.rank, job) for w in self.workers for job in w.copies if w.state(job) in states]

    def copy(self, rank: int, job: int) -> None:
        """The bytes of a queued job move."""
        worker = self.workers[rank]
        kind = "copy_store" if worker.copies[job].is_store else "copy_load"
        if worker.copy(job):
            self._note_hidden(kind, rank, job)

    def fail(self, rank: int, job: int) -> None:
        """The copy of a queued job fails."""
        worker = self.workers[rank]
        kind = "copy_fails" if worker.copies[job].is_store else "load_fails"
        if worker.fail(job):
            self._note_hidden(kind, rank, job)

    def report(self, rank: int, job: int) -> None:
        """A worker reports on a job whose copy has ended; the machine hears of it with some output."""
        done = self.workers[rank].report(job)
        self._note_hidden("report" if done else "report_failure", rank, job)
        self.reports.append((rank, job, done))

    # -- outputs -------------------------------------------------------------------------------------

    def process(self, choose: Choose, *, reports: bool = True) -> None:
        """The oldest step is over on all workers: its tokens, the requests that end with it, and some reports.

        Args:
            reports: whether any may come with it.
        """
        self.run_all()
        step = self.under_way.popleft()
        if not self.under_way:
            self.recorder.step_is_over()
        self.parking.processed(step.number)
        for row in step.rows:
            request = row.request
            if row.samples and not self.shape.bare and request.status not in (Status.FINISHED, Status.HELD):
                request.append_output()
                if request.status is Status.RUNNING:
                    self._name(request)
                if request.is_done:
                    self.end(request)
        if reports:
            count = len(self.reports) if choose(0, 1) == 0 else choose(0, len(self.reports))
            self.hear([choose(0, at) for at in reversed(range(len(self.reports)))][:count], choose(0, 3) < 3)

    def hear(self, places: Sequence[int], loads_are_over: bool) -> None:
        """Reports reach the machine together, and, unless that takes longer, that all loads of a request are over.

        Args:
            places: of the reports, each in what is left when those before it are taken out.
        """
        completed: dict[int, int] = {}
        failed: dict[int, int] = {}
        for place in places:
            _, job, done = self.reports.pop(place)
            counts = completed if done else failed
            counts[job] = counts.get(job, 0) + 1
            self._settle(self.transfers.open[job], done)
        received, self._received = (self._received, []) if loads_are_over else ([], self._received)
        for kind, counts in (("acknowledge", completed), ("acknowledge_failure", failed)):
            for job, count in counts.items():
                for _ in range(count):
                    self.recorder(kind, job=job)
        for name in received:
            self.recorder("loaded", request=name)
        self.machine.update_connector_output(ConnectorOutput(completed, failed, tuple(received)))
        for name in received:
            request = self.requests[name]
            if request.status is Status.HELD:
                self._let_go(request)
            else:
                request.status = Status.LOADED

    @property
    def unheard(self) -> bool:
        """Whether there is something to tell the machine."""
        return bool(self.reports or self._received)

    def _settle(self, job: OpenJob, done: bool) -> None:
        number, name = job.job.job, job.job.request
        job.due -= 1
        if not done and not job.is_store:
            self.broken.setdefault(name, []).append(self.loads[name][number])
            if self.requests[name].status is Status.LOADING:
                self.refused.add(name)
        if not job.due:
            del self.transfers.open[number]
            if not job.is_store:
                del self.loads[name][number]
                if not self.loads[name]:
                    del self.loads[name]
                    self._received.append(name)

    # -- what the machine owes -----------------------------------------------------------------------

    def _match(self, request: Request, local: int) -> int | None:
        """What the machine offers, in blocks: what can be loaded; later, for so long, if a store of its own is open."""
        ledger, name = self.machine.ledger, request.request_id
        state, hashes = ledger.function("chunk_state"), ledger.function("chunk_hash")
        ready = {hashes[c] for c, s in state.items() if s == "ready"}
        limit = (request.num_tokens - 1) // BLOCK_SIZE
        wanted = 0
        while local + wanted < limit and request.block_hashes[local + wanted] in ready:
            wanted += 1
        busy = any(j.is_store and j.job.request == name and n not in self.stale for n, j in self.transfers.open.items())
        answers = [self.machine.get_num_new_matched_tokens(request, local * BLOCK_SIZE) for _ in range(2)]
        right: tuple[int | None, bool] = (wanted * BLOCK_SIZE, wanted > 0)
        now = self.recorder.step
        if name in self.refused or now >= self.put_off.get(name, now) + DEADLINE_STEPS:
            right = (0, False)  # it computes what it has waited for in vain
        elif wanted and busy:
            right = (None, False)
            self.put_off.setdefault(name, now)
        if answers != [right, right]:
            self.wrong.append(f"{name}: {right} can be loaded behind {local} blocks, it says {answers}")
        return None if answers[0][0] is None else answers[0][0] // BLOCK_SIZE

    def _scanned(self) -> Set[object] | None:
        """What store scans have passed, of which a machine that checks no guards keeps no books."""
        ledger = self.machine.ledger
        return ledger.relation("scanned") if "scanned" in ledger.program.layout.used else None

    def _keep(self, request: Request) -> None:
        """A request that runs ends: what it has published and no scan has come to is stored with the next metadata."""
        scanned, name = self._scanned(), request.request_id
        if scanned is not None and request.status is Status.RUNNING:
            for place, block in enumerate(request.table[: request.published]):
                if (name, block) not in scanned:
                    self._kept[block] = request.block_hashes[place]

    def _stored(self) -> set[object]:
        """The hashes that chunks have, or are to have."""
        hashes, states = (self.machine.ledger.function(name) for name in ("chunk_hash", "chunk_state"))
        return {hashes[c] for c, state in states.items() if state != "absent"}

    def _look_for_what_was_left(self, rows: list[Row], before: set[object]) -> None:
        """A published block that was neither stored nor passed over for a reason, although there is room.

        What was stored ``before`` may have made room since.
        """
        ledger = self.machine.ledger
        kept, self._kept, fresh, self._fresh = self._kept, {}, self._fresh, set()
        scanned = self._scanned()
        if scanned is None or not self._has_room():
            return
        for row in rows:
            name, full = row.request.request_id, row.request.published
            left = [b for b in row.table[:full] if (name, b) not in scanned]
            if left:
                self.wrong.append(f"{name}: blocks {left} are published, and nothing was decided about their stores")
        stored = before | self._stored()
        lost = fresh if self.changes.get("source_hold") == "pin" else set()
        left = [b for b, h in kept.items() if h not in stored and b not in lost | ledger.relation("in_flight")]
        if left:
            self.wrong.append(f"blocks {left} were left by requests that have ended, and are not stored")

    def _has_room(self) -> bool:
        """Whether the tier has a chunk that is not reserved, or one that no load reads."""
        state = self.machine.ledger.function("chunk_state")
        pinned = {j.job.chunk for j in self.transfers.open.values() if not j.is_store}
        return any(
            state.get(c, "absent") == "absent" or (state[c] == "ready" and c not in pinned)
            for c in range(self.shape.chunks)
        )

    def holds(self) -> set[tuple[str, int]]:
        """Who has which block."""
        return {(name, block) for name, request in self.requests.items() for block in request.table}
