"""Flushes: the orders that workers finish jobs before a step's forward."""

from __future__ import annotations

from collections.abc import Callable

from interlock.statemachine.offload.moves import Moves


class Flushes:
    """Orders what the specification demands, or allows once nobody goes on.

    Args:
        is_fenced: whether a store is flushed when its source is given away; ``None``: all are.
    """

    def __init__(self, moves: Moves, is_fenced: Callable[[int], bool] | None = None) -> None:
        self._moves, self._is_fenced = moves, is_fenced
        self._must_flush = moves.ledger.relation("must_flush")
        self._is_load = moves.ledger.term("is_load")
        self._stepping = moves.ledger.condition("order_flush", "something-to-do")
        self._none_is_due = moves.ledger.condition("build_connector_meta", "last-jobs-are-flushed")

    def order(self) -> None:
        """Those that have to go with this metadata; where the engine steps, but not for us, with the next."""
        if self._must_flush and self._stepping():
            for job in sorted(self._must_flush):
                self._moves.do(self._flush_of(job), job)
                if self._is_fenced is not None and not self._is_fenced(job):
                    self._moves.withhold_flush(job)

    def order_last(self) -> None:
        """Once nobody is left who goes on, what the specification flushes then."""
        if self._none_is_due():
            return
        for job in tuple(self._moves.jobs):
            order = self._flush_of(job)
            if self._moves.may(order, job):
                self._moves.do(order, job)

    def _flush_of(self, job: int) -> str:
        return "order_flush_of_load" if self._is_load(job) else "order_flush"
