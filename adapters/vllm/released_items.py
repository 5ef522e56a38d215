"""Plays worker and the other side for a release's own scheduler and encoder cache; judges what it does by itself.

What vLLM's encoder cache does is not recorded step by step: the harness knows what is in transit, what a forward reads
and what workers hold, and judges by that. Operations, besides "abort" of `scenario`:

- {"op": "add", "request": "A", "images": [["x", 4]], "max_tokens": 1}: image x stands at token 4
- {"op": "step"}
- {"op": "send", "item": "x"}: the other side begins to send an item that is not there; {"op": "arrive", "nth": 0}: the
  oldest that is on its way is there
- {"op": "keep", "on": true}: the connector delays the end of requests from now on, and says with the next step that it
  is done with them
- {"op": "reset"}: the prefix cache is reset, and running requests are preempted for that
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interlock.adapters.vllm.aborts import abort
from interlock.adapters.vllm.construct import Constructor, Feature
from interlock.adapters.vllm.ghost import Fault
from interlock.adapters.vllm.harness import sampled
from interlock.adapters.vllm.left_waiting import left_waiting
from interlock.adapters.vllm.reports import model_output
from interlock.adapters.vllm.stage import Shapes, Stage
from interlock.adapters.vllm.tiny_images import IMAGE, PROMPT
from interlock.statemachine.encoder import read_mm_features

IDLE = 2
"""Steps in which nothing is scheduled, and between which nothing happens: all that come after them are like them."""

SHAPES: Shapes = {
    "add": {"request": (str,), "images": (list,), "max_tokens": (int,)},
    "step": {},
    "send": {"item": (str,)},
    "arrive": {"nth": (int,)},
    "keep": {"on": (bool,)},
    "abort": {"request": (str,)},
    "reset": {},
}
DEFAULTS: dict[str, Any] = {"images": [], "max_tokens": 1, "nth": 0, "on": True}


class ReleasedItems:
    """One scheduler of the release and the probe connector, from empty."""

    def __init__(self, constructor: Constructor, record: Callable[..., None], observer: str | None = None) -> None:
        self.scheduler = constructor.scheduler()
        self.steps = 0
        self.faults: list[Fault] = []
        self._constructor, self._probe = constructor, self.scheduler.ec_connector
        self._idle = 0
        self._cache: set[str] = set()
        """Items that the worker holds."""

    @property
    def unfinished(self) -> list[str]:
        """Requests that the scheduler still knows."""
        return sorted(self.scheduler.requests)

    @property
    def under_test(self) -> tuple[type, ...]:
        """No connector is: what raises is the scheduler's."""
        return ()

    def owed(self) -> dict[str, list[str]] | None:
        """Requests that nobody comes to any more, although nothing is in transit."""
        if self._idle < IDLE or self._probe.in_transit:
            return None
        return left_waiting(self.scheduler.requests)

    def open_jobs(self) -> list[str]:
        """Items in transit."""
        return list(self._probe.in_transit)

    def apply(self, operation: dict[str, Any]) -> bool:
        """One operation; False where there is nothing to act on."""
        if operation["op"] != "step":
            self._idle = 0
        match operation["op"]:
            case "add":
                images = [Feature(item, offset, IMAGE) for item, offset in operation["images"]]
                name, number = operation["request"], len(self.scheduler.requests) + self.steps
                prompt = [3 + (ord(name[0]) * 97 + number + i) % 30_000 for i in range(PROMPT)]
                self.scheduler.add_request(self._constructor.request(name, prompt, operation["max_tokens"], images))
            case "step":
                self._step()
            case "send":
                if operation["item"] in self._probe.there or operation["item"] in self._probe.in_transit:
                    return False
                self._probe.in_transit.append(operation["item"])
            case "arrive":
                if not 0 <= operation["nth"] < len(self._probe.in_transit):
                    return False
                self._probe.there.add(self._probe.in_transit.pop(operation["nth"]))
            case "keep":
                self._probe.keeps = operation["on"]
            case "reset":
                return self._reset()
            case _:
                return abort(self.scheduler, operation["request"])
        return True

    def _reset(self) -> bool:
        """vLLM refuses while a request that has ended keeps its KV."""
        if any(r.is_finished() for r in self.scheduler.requests.values()):
            return False
        self.scheduler.reset_prefix_cache(reset_running_requests=True)
        return True

    def _step(self) -> None:
        """schedule, the worker's step, update_from_output."""
        from vllm.v1.outputs import ECConnectorOutput

        self.steps += 1
        self._probe.loads = []
        output = self.scheduler.schedule()
        self._idle = 0 if output.num_scheduled_tokens else self._idle + 1
        self._check_admissions(output)
        self._cache -= set(output.free_encoder_mm_hashes)
        for name, places in output.scheduled_encoder_inputs.items():
            self._cache.update(self.scheduler.requests[name].mm_features[place].identifier for place in places)
        self._cache.update(self._probe.loads)
        self._forward(output)
        kept, self._probe.kept = self._probe.kept, []
        told = {"ec_connector_output": ECConnectorOutput(finished_sending=set(kept) or None)}
        made = model_output(sampled(self.scheduler, output.num_scheduled_tokens, 7), **told)
        self.scheduler.update_from_output(output, made)

    def _check_admissions(self, output: Any) -> None:
        """Who is in the step still needs no item that is in transit."""
        for name, count in output.num_scheduled_tokens.items():
            request = self.scheduler.requests[name]
            before = request.num_computed_tokens - count
            if awaited := self._probe.awaited(request, before):
                kind = "admitted" if before == 0 else "went-on"
                self._fault(kind, "an item that is there", f"{awaited[0]}, which is in transit", name)

    def _forward(self, output: Any) -> None:
        for name, count in output.num_scheduled_tokens.items():
            request = self.scheduler.requests[name]
            end = request.num_computed_tokens
            for _, f in read_mm_features(request, end - count, end):
                if f.identifier not in self._cache:
                    self._fault("item", f.identifier, None, name)

    def _fault(self, kind: str, expected: str, found: str | None, request: str) -> None:
        self.faults.append(Fault(kind, 0, self.steps, expected=expected, found=found, request=request))


STAGE = Stage(SHAPES, DEFAULTS, ReleasedItems)
