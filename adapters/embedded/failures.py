"""Loads that fail: what recovery is told of requests, and what the engine makes of its answers.

What is loaded here is loaded between steps, into blocks of one request that nobody can find before all of it is there.
So a failure is always one of a request that still waits for its load: nothing of it is in a step, and nobody shares it.
It goes back to where its load has failed, keeps its blocks, and computes them. (vLLM frees them if nothing at all was
loaded, and looks the request up anew, as `look_up_anew` of module kv. Here it would find what it has lost: offers are
refused after a failure, and its local hits end before what it loads.)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from interlock.adapters.embedded.counts import Counts
from interlock.adapters.embedded.metadata import EngineError
from interlock.adapters.embedded.request import Request, Status
from interlock.statemachine.recovery import HeldRequest, LoadRecovery, LoadReport


class FailedLoads:
    """Between an engine and recovery.

    Args:
        requests: that have not ended, by id.
    """

    def __init__(self, recovery: LoadRecovery, requests: Mapping[str, Request], counts: Counts) -> None:
        self._recovery, self._requests, self._counts = recovery, requests, counts

    def take_report(self, invalid: Collection[int]) -> list[Request]:
        """Loads into these blocks have failed, which comes with a step's output, before anything else of it.

        Returns:
            Requests that are to end for it.

        Raises:
            EngineError: somebody other than its own request is to compute a block.
        """
        holders = [r for r in self._requests.values() if not set(invalid).isdisjoint(r.table)]
        recovered = self._recovery.take_report(LoadReport(invalid), map(_view, holders))
        if self._recovery.owes:
            raise EngineError(
                f"loads into {sorted(invalid)} failed within a step: only those between steps are modelled"
            )
        ended = []
        for name, done in recovered.rollbacks.items():
            request = self._requests[name]
            if done.ends:
                ended.append(request)
            else:
                self._counts.failed_loads += not request.load_failed
                request.load_failed = True
                request.furthest = max(request.furthest, request.num_computed_tokens)
                request.num_computed_tokens = done.num_computed_tokens
        return ended

    def request_finished(self, request: Request) -> None:
        """A request has ended."""
        self._recovery.request_finished(request.request_id)


def _view(request: Request) -> HeldRequest:
    """A request that waits for its load, or has ended while it did."""
    waits: Literal["loading_failed", "loading"] = "loading_failed" if request.load_failed else "loading"
    return HeldRequest(
        request.request_id,
        [request.table],
        request.num_computed_tokens,
        request.num_prompt_tokens,
        "held" if request.status is Status.HELD else waits,
    )
