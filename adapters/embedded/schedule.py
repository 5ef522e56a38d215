"""``schedule()``: which requests compute what in a step, and where their blocks come from.

Running requests first, then waiting ones, first come first served, as in vLLM. A request is admitted
only if all the blocks that it will ever need are free beside those promised to others, so nobody has
to be preempted (preemption is not modelled yet).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from interlock.adapters.embedded.events import Recorder
from interlock.adapters.embedded.pool import BlockPool
from interlock.adapters.embedded.request import Request, Status
from interlock.adapters.embedded.sizes import Sizes
from interlock.statemachine.port import ConnectorPort, ScheduledRequest


class Scheduler:
    """Visits requests; the connector hears of each as in vLLM."""

    def __init__(self, sizes: Sizes, pool: BlockPool, connector: ConnectorPort, record: Recorder) -> None:
        self._sizes = sizes
        self._pool = pool
        self._connector = connector
        self._record = record
        self.waiting: list[Request] = []
        self.running: list[Request] = []
        self._budget = 0
        self._scheduled: list[ScheduledRequest] = []

    def schedule(self) -> tuple[ScheduledRequest, ...]:
        """One pass; blocks are allocated and published, computed tokens not yet advanced."""
        self._budget = self._sizes.max_tokens_per_step
        self._scheduled = []
        for request in self.running:
            self._continue(request)
        for request in tuple(self.waiting):
            if not self._visit(request):
                break
        return tuple(self._scheduled)

    def _continue(self, request: Request) -> None:
        tokens = min(request.num_tokens - request.num_computed_tokens, self._budget)
        missing = self._missing_blocks(request, tokens)
        if tokens > 0 and missing <= self._pool.num_free:
            self._compute(request, tokens, self._allocate(request, missing))

    def _visit(self, request: Request) -> bool:
        """Admit a waiting request if that is possible now; false where those behind it have to wait too."""
        match request.status:
            case Status.LOADING | Status.HELD:
                return True
            case Status.LOADED:
                return self._promote(request)
            case _:
                return self._admit(request)

    def _admit(self, request: Request) -> bool:
        hits = self._hits(request)
        local = len(hits) * request.block_size
        external, loads = self._connector.get_num_new_matched_tokens(request, local)
        if external is None:
            return True
        unused = sum(not self._pool.references(b) for b in hits)
        needed = request.num_blocks_at_end - len(hits) + unused
        if needed + self._promised() > self._pool.num_free or self._budget <= 0:
            return False
        self._pool.touch(hits)
        for block in hits:
            self._record("hit", request=request.request_id, block=block)
        request.table += hits
        request.published = len(hits)
        request.num_computed_tokens = local
        if not (loads and external):
            self._start(request)
            return True
        self._allocate(request, self._missing_blocks(request, external))
        self._connector.update_state_after_alloc(request, request.table, external)
        request.num_computed_tokens = local + external
        request.status = Status.LOADING
        return True

    def _promote(self, request: Request) -> bool:
        """The loads of a request have ended: its blocks are published and the rest is computed."""
        tokens = min(request.num_tokens - request.num_computed_tokens, self._budget)
        if tokens <= 0 or self._missing_blocks(request, tokens) > self._pool.num_free:
            return False
        self._publish(request, request.num_computed_tokens)
        self._start(request)
        return True

    def _start(self, request: Request) -> None:
        tokens = min(request.num_tokens - request.num_computed_tokens, self._budget)
        self._allocate(request, self._missing_blocks(request, tokens))
        self._compute(request, tokens, [])
        self._connector.update_state_after_alloc(request, request.table, 0)
        request.status = Status.RUNNING
        self.waiting.remove(request)
        self.running.append(request)

    def _compute(self, request: Request, tokens: int, blocks: list[int]) -> None:
        self._budget -= tokens
        self._publish(request, request.num_computed_tokens + tokens)
        self._scheduled.append(ScheduledRequest(request.request_id, request.num_computed_tokens, tokens, tuple(blocks)))

    def _hits(self, request: Request) -> list[int]:
        """Blocks of the prefix cache, up to the last token but one."""
        limit = (request.num_tokens - 1) // request.block_size
        return _leading(self._pool.find, request.block_hashes[:limit])

    def _promised(self) -> int:
        admitted = [*self.running, *(r for r in self.waiting if r.table)]
        return sum(r.num_blocks_at_end - len(r.table) for r in admitted)

    def _missing_blocks(self, request: Request, tokens: int) -> int:
        end = request.num_computed_tokens + tokens
        return max(0, -(-end // request.block_size) - len(request.table))

    def _allocate(self, request: Request, count: int) -> list[int]:
        blocks = self._pool.allocate(count)
        for block in blocks:
            self._record("allocate", request=request.request_id, block=block)
        request.table += blocks
        return blocks

    def _publish(self, request: Request, num_tokens: int) -> None:
        """Blocks are addressable as soon as a step is scheduled that makes them full."""
        full = num_tokens // request.block_size
        for place in range(request.published, full):
            block, hash_ = request.table[place], request.block_hashes[place]
            self._pool.publish(block, hash_)
            self._record("publish", request=request.request_id, block=block, hash_=hash_)
        request.published = max(request.published, full)


def _leading(find: Callable[[str], int | None], hashes: Sequence[str]) -> list[int]:
    found: list[int] = []
    for hash_ in hashes:
        block = find(hash_)
        if block is None:
            break
        found.append(block)
    return found
