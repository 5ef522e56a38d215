"""Blocks that a request has given back while a step that may write them is still with the workers."""

from __future__ import annotations

from collections import deque

from interlock.adapters.embedded.pool import BlockPool
from interlock.adapters.embedded.request import Request


class Parking:
    """They go to the free queue once that step has been processed, as in vLLM's ``deferred_frees``.

    At depth 1 there is no such step when a request gives its blocks back.
    """

    def __init__(self, pool: BlockPool) -> None:
        self._pool = pool
        self._parked: deque[tuple[int, list[int]]] = deque()
        self._processed = 0
        self.num_blocks = 0

    def free(self, request: Request) -> None:
        """The blocks of a request go back, the end of its prefix first: now, or after its last step."""
        blocks = request.table[::-1]
        if request.last_step <= self._processed:
            self._pool.free_blocks(blocks)
        else:
            self._parked.append((request.last_step, blocks))
            self.num_blocks += len(blocks)

    def processed(self, step: int) -> None:
        """The outputs of a step are there."""
        self._processed = step
        while self._parked and self._parked[0][0] <= step:
            _, blocks = self._parked.popleft()
            self.num_blocks -= len(blocks)
            self._pool.free_blocks(blocks)
