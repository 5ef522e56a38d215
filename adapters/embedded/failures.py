"""Loads that fail: what recovery is told of requests, and what the engine makes of its answers.

What is loaded here is loaded between steps, into blocks of one request that nobody can find before all of it is there.
So a failure is always one of a request that still waits for its load, and it goes back to where the load has failed.
It keeps its blocks and computes them itself. (vLLM frees them if nothing was loaded, and visits the request anew.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from interlock.adapters.embedded.counts import Counts
from interlock.adapters.embedded.metadata import EngineError
from interlock.adapters.embedded.pool import BlockPool
from interlock.adapters.embedded.request import Request, Status
from interlock.adapters.embedded.schedule import Schedule
from interlock.statemachine.recovery import HeldRequest, LoadRecovery, LoadReport, Recovered
from interlock.statemachine.recovery.report import Status as Held

_HELD: Mapping[Status, tuple[Held, Held]] = {
    Status.LOADING: ("loading", "loading_failed"),
    Status.LOADED: ("received", "received_failed"),
    Status.RUNNING: ("running", "running"),
    Status.HELD: ("held", "held"),
}
"""In recovery's words: if all is well, and if the load has failed."""


class FailedLoads:
    """Between an engine and recovery.

    Args:
        requests: that have not ended, by id.
        under_way: gives the schedules of unprocessed steps, the oldest first.
    """

    def __init__(
        self,
        recovery: LoadRecovery,
        requests: Mapping[str, Request],
        under_way: Callable[[], Sequence[Schedule]],
        pool: BlockPool,
        counts: Counts,
    ) -> None:
        self._recovery, self._requests, self._under_way = recovery, requests, under_way
        self._pool, self._counts = pool, counts

    def take_report(self, invalid: Collection[int]) -> list[Request]:
        """Loads into these blocks have failed, which comes with the output of the oldest step.

        Returns:
            Requests that are to end for it.
        """
        return self._apply(self._recovery.take_report(LoadReport(invalid), self._views(invalid)))

    def begin_schedule(self) -> list[Request]:
        """Before a schedule; requests that are to end."""
        if not self._recovery.owes:
            return []
        return self._apply(self._recovery.take_over(self._views(self._recovery.wrong_from)))

    def waits(self, request: Request) -> bool:
        """Whether a request is not to be scheduled now."""
        return self._recovery.owes and self._recovery.waits(self._view(request))

    def dispatched(self, made: Schedule) -> None:
        """A schedule is made."""
        if self._recovery.owes:
            rows = zip(made.requests, made.starts, made.tokens, strict=True)
            self._recovery.dispatched([(self._view(r, start), tokens) for r, start, tokens in rows], made.allocated)

    def request_finished(self, request: Request) -> None:
        """A request has ended."""
        self._recovery.request_finished(request.request_id)

    def _apply(self, recovered: Recovered) -> list[Request]:
        for block in recovered.unhashed:
            self._pool.forget(block)
        ended = []
        for name, done in recovered.rollbacks.items():
            request = self._requests[name]
            if done.ends:
                ended.append(request)
            elif request.status is not Status.LOADING:
                raise EngineError(f"request {name} is {request.status}: only loads between steps are modelled")
            else:
                self._counts.failed_loads += not request.load_failed
                request.load_failed = True
                request.furthest = max(request.furthest, request.num_computed_tokens)
                request.num_computed_tokens = done.num_computed_tokens
        return ended

    def _views(self, blocks: Collection[int]) -> list[HeldRequest]:
        """Of the requests that hold one of these blocks."""
        return [self._view(r) for r in self._requests.values() if not set(blocks).isdisjoint(r.table)]

    def _view(self, request: Request, computed: int | None = None) -> HeldRequest:
        """A request as it is, or as it was with so many computed tokens."""
        runs = request.status is Status.RUNNING
        return HeldRequest(
            request.request_id,
            [request.table],
            request.num_computed_tokens if computed is None else computed,
            request.num_prompt_tokens,
            _HELD[request.status][request.load_failed],
            scheduled=[_tokens_in(made, request) for made in self._under_way()] if runs else (),
            placeholders=request.num_known_tokens - request.num_tokens if runs else 0,
        )


def _tokens_in(made: Schedule, request: Request) -> int:
    columns: Iterable[tuple[Request, int]] = zip(made.requests, made.tokens, strict=True)
    return next((tokens for r, tokens in columns if r is request), 0)
