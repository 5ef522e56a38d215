"""Serves a workload with an embedded engine, on virtual time."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from interlock.adapters.embedded import EmbeddedEngine
from interlock.adapters.embedded.request import Request
from interlock.adapters.simulate.arrivals import Arrival, features_of, text_of

STEPS_WITHOUT_PROGRESS_MAX = 10_000


class Stuck(Exception):
    """Requests wait, and neither a copy nor an arrival can change that."""


@dataclass(slots=True)
class Served:
    """What came of a workload.

    Args:
        first_token_s: from arrival to first output token, of each request that ended.
        refused: requests that are larger than the GPU's blocks; those that follow one of them are refused too.
    """

    first_token_s: list[float] = field(default_factory=list)
    prompt_tokens: int = 0
    output_tokens: int = 0
    refused: int = 0

    @property
    def requests(self) -> int:
        """How many have ended."""
        return len(self.first_token_s)


class Server:
    """Lets requests arrive, steps the engine, and skips the time in which nothing happens.

    Args:
        ended: called for each request at its end.
    """

    def __init__(self, arrivals: Iterable[Arrival], ended: Callable[[Request], object] = lambda request: None) -> None:
        self._arrivals = iter(arrivals)
        self._told = ended
        self._due: list[tuple[float, int, Arrival, Request | None]] = []
        self._order = 0
        self._follows: dict[str, list[Arrival]] = {}
        self._gone: set[str] = set()
        self._next: Arrival | None = None
        self.served = Served()

    def ended(self, request: Request) -> None:
        """The engine says that a request has ended."""
        served = self.served
        assert request.first_token_s is not None
        served.first_token_s.append(request.first_token_s - request.moments[0][1])
        served.prompt_tokens += request.num_prompt_tokens
        served.output_tokens += request.num_tokens - request.num_prompt_tokens
        self._told(request)
        ended_s = request.moments[-1][1]
        for arrival in self._follows.pop(request.request_id, ()):
            self._put(ended_s + arrival.at_s, arrival, request)

    def run(self, engine: EmbeddedEngine, progress: Callable[[Served], object] = lambda served: None) -> Served:
        """Serve everything.

        Raises:
            Stuck: the engine steps and steps, and nothing happens.
        """
        self._read_ahead()
        idle_steps = 0
        while True:
            self._let_arrive(engine)
            if not engine.has_work():
                if not self._due:
                    return self.served
                engine.wait_until(self._due[0][0])
                continue
            if engine.step() or engine.is_computing:
                idle_steps = 0
                progress(self.served)
                continue
            idle_steps += 1
            if idle_steps > STEPS_WITHOUT_PROGRESS_MAX:
                raise Stuck(f"{idle_steps:,} steps without a token: {len(engine.requests)} requests wait for ever")
            happens = [s for s in (engine.next_s, self._due[0][0] if self._due else None) if s is not None]
            if happens:
                engine.wait_until(min(happens))

    def _let_arrive(self, engine: EmbeddedEngine) -> None:
        while self._due and self._due[0][0] <= engine.now_s:
            at_s, _, arrival, before = heapq.heappop(self._due)
            if arrival is self._next:
                self._read_ahead()
            earlier = array("I") if before is None else before.tokens
            features = features_of(arrival.prompt, len(earlier))
            if before is not None:
                features = (*before.mm_features, *features)
            prompt = earlier + text_of(arrival.prompt)
            if not engine.add(arrival.request, prompt, arrival.output_tokens, mm_features=features, arrived_s=at_s):
                self._refuse(arrival)

    def _refuse(self, arrival: Arrival) -> None:
        self.served.refused += 1
        for follower in self._follows.pop(arrival.request, ()):
            self._refuse(follower)

    def _read_ahead(self) -> None:
        """The next arrival that follows nobody is always among those that are due."""
        self._next = None
        for arrival in self._arrivals:
            if arrival.follows is None:
                self._next = arrival
                self._put(arrival.at_s, arrival, None)
                return
            self._follows.setdefault(arrival.follows, []).append(arrival)

    def _put(self, at_s: float, arrival: Arrival, before: Request | None) -> None:
        heapq.heappush(self._due, (at_s, self._order, arrival, before))
        self._order += 1
