"""Flushes: the orders that workers finish jobs before a step's forward."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.tracked import Tracked


class Flushes:
    """Orders what the specification demands, or allows once nobody goes on.

    Args:
        tracked: all requests that have not ended, by id.
    """

    def __init__(self, moves: Moves, tracked: Mapping[str, Tracked]) -> None:
        self._moves, self._tracked = moves, tracked
        self._must_flush = moves.ledger.relation("must_flush")
        self._job_loads = moves.ledger.relation("job_loads")
        self._request_state = moves.ledger.function("request_state")

    def order(self) -> None:
        """Those that have to go with this metadata."""
        for job in sorted(self._must_flush):
            self._moves.do(self._flush_of(job), job)

    def order_last(self) -> None:
        """Once nobody is left who goes on, what the specification flushes then."""
        if any(self._request_state.get(t) == "scheduled" for t in self._tracked):
            return
        for job in tuple(self._moves.jobs):
            order = self._flush_of(job)
            if self._moves.may(order, job):
                self._moves.do(order, job)

    def _flush_of(self, job: int) -> str:
        return "order_flush_of_load" if job in self._job_loads else "order_flush"
