"""Loads: what the tier has of a request's prompt, and how it comes into blocks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat

from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.tracked import Tracked
from interlock.statemachine.port import Hash, TransferJob


class Loads:
    """Looks chunks up, and plans loads of them."""

    def __init__(self, moves: Moves, *, block_size: int) -> None:
        self._moves, self._block_size = moves, block_size
        ledger = moves.ledger
        self._chunk_state = ledger.function("chunk_state")
        self._by_hash = ledger.inverse("chunk_hash")
        self._loadable = frozenset(ledger.program.tables["chunk"].states_with("plan_load"))
        self._may_load = ledger.condition("plan_load", "no-store-is-open")

    def match(self, tracked: Tracked, num_computed_tokens: int) -> tuple[int | None, bool]:
        """The ready chunks that continue what the GPU has, up to the last token but one.

        ``None`` if a request that the tier has something for may not load yet.
        """
        request, moved = tracked.request, self._moves.chunks.moves
        local, limit = num_computed_tokens // self._block_size, (request.num_tokens - 1) // self._block_size
        if tracked.looked_up != (local, limit, moved):
            tracked.looked_up = (local, limit, moved)
            tracked.local_blocks = local
            tracked.matched = self._ready_prefix(request.block_hashes[local:limit])
        if tracked.matched and not self._may_load(request.request_id):
            return None, False
        return len(tracked.matched) * self._block_size, bool(tracked.matched)

    def plan(self, tracked: Tracked, num_blocks: int) -> None:
        """So many blocks of what was matched are to be loaded, into those that follow the cached ones."""
        moves, request, first = self._moves, tracked.request.request_id, tracked.local_blocks
        chunks = tracked.matched[:num_blocks]
        jobs = range(moves.next_job, moves.next_job + len(chunks))
        moves.next_job = jobs.stop
        rows = list(zip(repeat(request), tracked.table[first : first + len(chunks)], chunks, jobs, strict=False))
        moves.jobs.update((job, TransferJob(job, request, block, chunk)) for _, block, chunk, job in rows)
        moves.do_each("plan_load", rows)
        for chunk in reversed(chunks):
            moves.chunks.touch(chunk)  # the end of a prefix is of no use without its beginning

    def _ready_prefix(self, hashes: Iterable[Hash]) -> list[int]:
        """Chunks that a load could read now, for as many of the first hashes as have one."""
        found = []
        for hash_ in hashes:
            chunk = next((c for c in self._by_hash.get(hash_, ()) if self._chunk_state.get(c) in self._loadable), None)
            if chunk is None:
                break
            found.append(chunk)
        return found
