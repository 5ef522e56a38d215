"""``schedule()``: which requests compute what in a step, and where their blocks come from.

As in vLLM: running requests first, then those whose loads have ended, then waiting ones, first come first
served. Where requests may be preempted, the newest running one is the victim.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from interlock.adapters.embedded.counts import Counts
from interlock.adapters.embedded.encoding import Encoding
from interlock.adapters.embedded.events import Recorder
from interlock.adapters.embedded.parking import Parking
from interlock.adapters.embedded.pool import BlockPool
from interlock.adapters.embedded.request import Request, Status
from interlock.adapters.embedded.sizes import Scheduling, Sizes
from interlock.statemachine.port import ConnectorPort, ScheduledStep


@dataclass(slots=True)
class Schedule:
    """What a step computes, in columns that belong together.

    Args:
        starts: tokens computed before this step; tokens: computed in it.
        samples: whether the request gets an output token.
        new_blocks: of requests that were running before.
    """

    requests: list[Request] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    samples: list[bool] = field(default_factory=list)
    new_blocks: list[list[int] | None] = field(default_factory=list)
    preempted: list[Request] = field(default_factory=list)
    prefill_tokens: int = 0
    decode_tokens: int = 0

    def as_step(self) -> ScheduledStep:
        """What the connector is told."""
        ids = [r.request_id for r in self.requests]
        return ScheduledStep(
            ids,
            self.starts,
            dict(zip(ids, self.tokens, strict=True)),
            [(blocks,) if blocks else None for blocks in self.new_blocks],
            tuple(r.request_id for r in self.preempted),
        )


class Scheduler:
    """Visits requests; the connector hears of each as in vLLM.

    Args:
        parking: blocks that steps still with the workers may write.
        now_s: virtual time, for the requests' moments.
        encoding: of the items in prompts, if they may have any.
        answered: told what the connector answers for a request: tokens that the prefix cache has, tokens beyond those,
            and whether they are loaded while it waits.
    """

    def __init__(
        self,
        sizes: Sizes,
        scheduling: Scheduling,
        pool: BlockPool,
        parking: Parking,
        connector: ConnectorPort,
        record: Recorder,
        counts: Counts,
        now_s: Callable[[], float],
        encoding: Encoding | None = None,
        answered: Callable[[Request, int, int | None, bool], object] | None = None,
    ) -> None:
        self._sizes, self._scheduling = sizes, scheduling
        self._answered = answered
        self._pool, self._parking = pool, parking
        self._connector, self._record = connector, record
        self._counts, self._now_s = counts, now_s
        self._encoding = encoding
        self.waiting: OrderedDict[str, Request] = OrderedDict()
        self.loading: dict[str, Request] = {}
        """Those that hold blocks and do not run: their loads are under way, or have ended."""
        self.running: dict[str, Request] = {}
        self._budget = 0
        self._promised = 0
        """Blocks that were found for admitted requests and not yet taken by them."""

    def schedule(self) -> Schedule:
        """One pass; blocks are allocated and published, computed tokens advanced."""
        self._budget = self._sizes.max_tokens_per_step
        made = Schedule()
        if self._is_tight():
            self._make_room(made)
        for request in self.running.values():
            self._continue(request, made)
        if self._scheduling.depth > 1:
            for request in self.running.values():
                self._name(request)
        if not made.preempted:
            self._let_in(made)
        return made

    def add(self, request: Request) -> None:
        """A request waits, behind all others."""
        self.waiting[request.request_id] = request

    def remove(self, request: Request) -> None:
        """A request ends, and what was promised to it is free for others."""
        for queue in (self.running, self.loading, self.waiting):
            queue.pop(request.request_id, None)
        self._promised -= request.promised
        request.promised = 0

    # -- running requests ----------------------------------------------------------------------------

    def _continue(self, request: Request, made: Schedule) -> None:
        tokens = request.num_known_tokens - request.num_computed_tokens
        tokens = min(tokens, self._budget)
        if tokens <= 0 or not self._goes_on(request, request.num_computed_tokens):
            return
        tokens, items = self._reach(request, request.num_computed_tokens, tokens)
        if tokens <= 0:
            return
        missing = request.missing_blocks(tokens)
        if missing > self._pool.num_free:
            return  # they are still parked, or the connector has taken references on free blocks since
        made.new_blocks.append(self._allocate(request, missing) if missing else None)
        self._compute(request, tokens, made, items)

    def _is_tight(self) -> bool:
        """Whether running requests could possibly run out of blocks in this schedule."""
        needed_max = len(self.running) + self._budget // self._sizes.block_size
        return self._scheduling.preempts and needed_max > self._pool.num_free

    def _make_room(self, made: Schedule) -> None:
        """Take blocks from the newest until those before them can go on, in this step or, with parked ones, the next.

        Preemptions come first, so that a schedule is seen as vLLM's connector sees it: a step's preempted
        requests, then what the others got.
        """
        queue, place = list(self.running.values()), 0
        budget, taken = self._budget, 0
        while place < len(queue):
            request = queue[place]
            tokens = min(request.num_known_tokens - request.num_computed_tokens, budget)
            missing = request.missing_blocks(tokens) if tokens > 0 else 0
            while missing > self._pool.num_free - taken:
                if missing <= self._pool.num_free + self._parking.num_blocks - taken:
                    tokens = missing = 0
                    break
                victim = queue.pop()
                self._preempt(victim, made)
                if victim is request:
                    tokens = missing = 0
                    break
            budget -= max(0, tokens)
            taken += missing
            place += 1

    def _preempt(self, request: Request, made: Schedule) -> None:
        self._record("preempt", request=request.request_id)
        self.remove(request)
        self._parking.free(request)
        request.table = []
        request.num_computed_tokens = request.published = 0
        request.num_preemptions += 1
        request.status = Status.WAITING
        request.moments.append(("preempted", self._now_s()))
        self.waiting[request.request_id] = request
        self.waiting.move_to_end(request.request_id, last=False)
        made.preempted.append(request)
        self._counts.preemptions += 1
        if self._encoding is not None:
            self._encoding.preempt(request)

    # -- requests that wait --------------------------------------------------------------------------

    def _let_in(self, made: Schedule) -> None:
        """Those whose loads have ended, then others; whoever cannot be let in keeps those behind waiting."""
        for request in [r for r in self.loading.values() if r.status is Status.LOADED]:
            if self._is_full():
                return
            if self._goes_on(request, request.num_computed_tokens) and not self._promote(request, made):
                return
        passed_over: list[Request] = []
        while self.waiting and not self._is_full():
            request = next(iter(self.waiting.values()))
            admitted = self._admit(request, made)
            if admitted is None:
                passed_over.append(request)
                del self.waiting[request.request_id]
            elif not admitted:
                break
        for request in reversed(passed_over):
            self.waiting[request.request_id] = request
            self.waiting.move_to_end(request.request_id, last=False)

    def _is_full(self) -> bool:
        return self._budget <= 0 or len(self.running) >= self._sizes.max_running

    def _admit(self, request: Request, made: Schedule) -> bool | None:
        """Whether it was let in; ``None`` if its connector wants to be asked again later."""
        hits = self._hits(request)
        local = len(hits) * request.block_size
        external, loads = self._connector.get_num_new_matched_tokens(request, local)
        if self._answered is not None:
            self._answered(request, local, external, loads)
        if external is None or not self._goes_on(request, local + external):
            return None
        waits = bool(loads and external)
        plan = None if waits else self._plan(request, local)
        if plan is not None and not plan[0]:
            return False
        unused = sum(not self._pool.references(b) for b in hits)
        claim = self._claim(request) - len(hits)
        if claim + unused + self._promised > self._pool.num_free:
            if self._encoding is not None:
                self._encoding.no_room(request)
            return False
        self._pool.touch(hits)
        for block in hits:
            self._record("hit", request=request.request_id, block=block)
        request.table += hits
        request.published = len(hits)
        request.num_computed_tokens = local
        request.promised = claim
        self._promised += claim
        self._counts.found(request, local, external if loads else 0)
        if plan is not None:
            self._start(request, made, plan)
            return True
        if self._encoding is not None:
            self._encoding.load_started(request)
        del self.waiting[request.request_id]
        self.loading[request.request_id] = request
        self._allocate(request, request.missing_blocks(external))
        self._connector.update_state_after_alloc(request, request.table, external)
        request.num_computed_tokens = local + external
        request.status = Status.LOADING
        request.load_failed = False
        request.moments.append(("loading", self._now_s()))
        return True

    def _claim(self, request: Request) -> int:
        """Blocks that have to be there for a request to be let in."""
        if self._scheduling.preempts:
            return -(-request.num_known_tokens // request.block_size)
        return request.num_blocks_at_end

    def _promote(self, request: Request, made: Schedule) -> bool:
        """The loads of a request have ended: its blocks are published and the rest is computed."""
        plan = self._plan(request, request.num_computed_tokens)
        if not plan[0] or request.missing_blocks(plan[0]) > self._pool.num_free:
            return False
        before = self._record.count
        self._publish(request, request.num_computed_tokens)
        self._start(request, made, plan)
        if self._record.count == before:
            self._record("admit_loaded", request=request.request_id)
        return True

    def _start(self, request: Request, made: Schedule, plan: _Plan) -> None:
        tokens, items = plan
        self._allocate(request, request.missing_blocks(tokens))
        self._compute(request, tokens, made, items)
        self._connector.update_state_after_alloc(request, request.table, 0)
        request.status = Status.RUNNING
        request.moments.append(("running", self._now_s()))
        self.waiting.pop(request.request_id, None)
        self.loading.pop(request.request_id, None)
        self.running[request.request_id] = request

    # -- both ----------------------------------------------------------------------------------------

    def _goes_on(self, request: Request, num_computed_tokens: int) -> bool:
        return self._encoding is None or self._encoding.goes_on(request, num_computed_tokens)

    def _plan(self, request: Request, start: int) -> _Plan:
        """What a request that is let in computes first, from ``start``; nothing if no item is to be had for it now."""
        return self._reach(request, start, min(request.num_known_tokens - start, self._budget))

    def _reach(self, request: Request, start: int, tokens: int) -> _Plan:
        return (tokens, ()) if self._encoding is None else self._encoding.reach(request, start, tokens)

    def _compute(self, request: Request, tokens: int, made: Schedule, items: Sequence[int]) -> None:
        start = request.num_computed_tokens
        if self._encoding is not None:
            self._encoding.scheduled(request, start, tokens, items)
        end = request.num_computed_tokens = start + tokens
        self._budget -= tokens
        if end // request.block_size > request.published:
            self._publish(request, end)
        samples = end == request.num_known_tokens
        if samples and end < request.num_tokens_at_end:
            request.num_known_tokens += 1
        if self._counts.compute(request, start, end):
            made.decode_tokens += tokens
        else:
            made.prefill_tokens += tokens
        request.last_step = self._record.step
        made.requests.append(request)
        made.starts.append(start)
        made.tokens.append(tokens)
        made.samples.append(samples)

    def _hits(self, request: Request) -> list[int]:
        """Blocks of the prefix cache, up to the last token but one."""
        limit = (request.num_tokens - 1) // request.block_size
        return _leading(self._pool.find, request.block_hashes[:limit])

    def _allocate(self, request: Request, count: int) -> list[int]:
        if not count:
            return []
        blocks = self._pool.allocate(count)
        for block in blocks:
            self._record("allocate", request=request.request_id, block=block)
        request.table += blocks
        kept = min(count, request.promised)
        request.promised -= kept
        self._promised -= kept
        return blocks

    def _publish(self, request: Request, num_tokens: int) -> None:
        """Blocks are addressable as soon as a step is scheduled that makes them full.

        Of tokens that a step under way has yet to bring, nobody knows the hash.
        """
        full = min(num_tokens, request.num_tokens) // request.block_size
        for place in range(request.published, full):
            block, hash_ = request.table[place], request.block_hashes[place]
            self._pool.publish(block, hash_)
            self._record("publish", request=request.request_id, block=block, hash_=hash_)
        request.published = max(request.published, full)

    def _name(self, request: Request) -> None:
        """An output has told the hash of a block that was full without one, also of who gets no tokens now."""
        known = min(request.num_computed_tokens, request.num_tokens - 1)
        if known // request.block_size > request.published:
            self._publish(request, known)


_Plan = tuple[int, Sequence[int]]
"""Tokens to compute, and the features whose items are to be encoded or loaded for it."""


def _leading(find: Callable[[str], int | None], hashes: Sequence[str]) -> list[int]:
    found: list[int] = []
    for hash_ in hashes:
        block = find(hash_)
        if block is None:
            break
        found.append(block)
    return found
