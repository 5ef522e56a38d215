"""A run on its virtual time, as events that https://ui.perfetto.dev opens: steps, copies and requests."""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from interlock.adapters.embedded.engine import Dispatched
from interlock.adapters.embedded.request import Request
from interlock.adapters.embedded.transfers import Transfers

MICROSECONDS = 1e6
STEPS, TO_GPU, FROM_GPU = 0, 1, 2
"""Rows of the engine's process."""


@dataclass(slots=True)
class Timeline:
    """Notes what an engine does while it does it.

    Args:
        title: of the run, as ``with offload``.
    """

    title: str
    steps: list[tuple[float, float, dict[str, int]]] = field(default_factory=list)
    requests: list[tuple[str, dict[str, int], list[tuple[str, float]], float]] = field(default_factory=list)
    to_gpu: list[tuple[float, float, int]] = field(default_factory=list)
    from_gpu: list[tuple[float, float, int]] = field(default_factory=list)

    def watch(self, transfers: Transfers) -> None:
        """Copies of an engine are noted from now on."""
        transfers.load_link.spans, transfers.store_link.spans = self.to_gpu, self.from_gpu

    def dispatched(self, step: Dispatched) -> None:
        """A step has its place in time."""
        made = step.made
        if made.requests:
            told = {"requests": len(made.requests), "prefill": made.prefill_tokens, "decode": made.decode_tokens}
            if made.preempted:
                told["preempted"] = len(made.preempted)
            if step.items is not None and step.items.encoded:
                told["images encoded"] = len(step.items.encoded)
            self.steps.append((step.begin_s, step.end_s, told))

    def ended(self, request: Request) -> None:
        """A request has gone through all its moments."""
        told = {"prompt tokens": request.num_prompt_tokens, "output tokens": request.max_tokens}
        assert request.first_token_s is not None
        self.requests.append((request.request_id, told, request.moments, request.first_token_s))


def to_perfetto(timelines: Iterable[Timeline]) -> str:
    """JSON in the trace event format: for each run a process for the engine and one for its requests.

    Requests share rows, each row one request at a time, so that there are as many rows as there were
    requests in the engine at once.
    """
    events: list[dict[str, Any]] = []
    for number, timeline in enumerate(timelines):
        engine, requests = 2 * number + 1, 2 * number + 2
        events += [
            _name("process_name", engine, 0, f"{timeline.title}: engine"),
            _name("thread_name", engine, STEPS, "steps"),
            _name("thread_name", engine, TO_GPU, "copies to the GPU"),
            _name("thread_name", engine, FROM_GPU, "copies from the GPU"),
            _name("process_name", requests, 0, f"{timeline.title}: requests"),
        ]
        for begin_s, end_s, told in timeline.steps:
            events.append(_bar("prefill" if told["prefill"] else "decode", engine, STEPS, begin_s, end_s, told))
        for thread, spans, title in ((TO_GPU, timeline.to_gpu, "load"), (FROM_GPU, timeline.from_gpu, "store")):
            for begin_s, end_s, blocks in spans:
                events.append(_bar(title, engine, thread, begin_s, end_s, {"blocks": blocks}))
        events += _requests(timeline, requests)
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}) + "\n"


def _requests(timeline: Timeline, process: int) -> Iterator[dict[str, Any]]:
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    rows = 0
    for name, told, moments, first_token_s in sorted(timeline.requests, key=lambda r: r[2][0][1]):
        arrived_s, ended_s = moments[0][1], moments[-1][1]
        while busy and busy[0][0] <= arrived_s:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            row = heapq.heappop(free)
        else:
            row, rows = rows, rows + 1
            yield _name("thread_name", process, row, f"row {row + 1}")
        heapq.heappush(busy, (ended_s, row))
        yield _bar(name, process, row, arrived_s, ended_s, told)
        for (state, begin_s), (_, end_s) in itertools.pairwise(moments):
            for part, from_s, to_s in _parts(state, begin_s, end_s, first_token_s):
                if to_s > from_s:
                    yield _bar(part, process, row, from_s, to_s, {})


def _parts(state: str, begin_s: float, end_s: float, first_token_s: float) -> list[tuple[str, float, float]]:
    """A request that runs computes its prompt until its first token, and continues its answer after it."""
    if state != "running":
        return [(state, begin_s, end_s)]
    turn_s = min(max(begin_s, first_token_s), end_s)
    return [("prefill", begin_s, turn_s), ("decode", turn_s, end_s)]


def _bar(name: str, process: int, thread: int, begin_s: float, end_s: float, told: dict[str, int]) -> dict[str, Any]:
    begin, end = round(begin_s * MICROSECONDS, 3), round(end_s * MICROSECONDS, 3)
    args = {"args": told} if told else {}
    return {"ph": "X", "name": name, "pid": process, "tid": thread, "ts": begin, "dur": round(end - begin, 3), **args}


def _name(kind: str, process: int, thread: int, text: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": text}}
